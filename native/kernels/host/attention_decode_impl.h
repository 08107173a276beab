// Paged attention. Sequences with few query tokens are decoded: bound by reading the cache, so a block walks its keys
// in memory order, all heads of a token together, a block of tokens at a time, while the next block (of the next
// sequence even) is fetched at the pace of the arithmetic.
#pragma once

#include "attention_prefill_impl.h"

namespace musabench {
namespace MUSABENCH_ISA_NAMESPACE {
namespace {

// Tokens of a block: a multiple of 8, and few enough that two blocks of keys and values fit in the second-level cache.
constexpr int64_t kMaxTokens = 32;
constexpr int64_t kTokenBlockBytes = 64 << 10;  // of keys
// Values are added for so many tokens of all heads at a time, for memory's sake, while there are few rows; many rows
// rather save the loads and stores of what was accumulated.
constexpr int64_t kFewRows = 4;
constexpr int64_t kValueTokens = 16;

// Of each run of rows that lie one behind the other, so many bytes are asked for before all else. A run that begins
// elsewhere (in random order with small pages) costs a walk through the page tables, and the hardware has yet to notice
// that it goes on: asked for together, the runs wait for this at the same time. Measured at page size 1 (rows of 2
// KiB): without it 0.49 of the read roof, with 64 bytes 0.60, with 512 bytes 0.67, with 1 KiB 0.54; pages of 16 and
// more do not mind.
constexpr int64_t kLeadBytes = 512;

// Walks the cache lines of the next block of tokens: its key rows or its value rows.
struct FetchCursor {
  const char* const* rows;
  int64_t count;
  int64_t span;  // bytes of a row
  int64_t row;
  const char* next;
  const char* end;

  MUSABENCH_INLINE void start(FetchCursor* c, const void* rows, int64_t count, int64_t span) {
    c->rows = static_cast<const char* const*>(rows);
    c->count = count;
    c->span = span;
    c->row = 0;
    c->next = count > 0 ? c->rows[0] : nullptr;
    c->end = count > 0 ? c->next + span : nullptr;
    for (int64_t i = 0; i < count;) {
      const char* run = c->rows[i];
      const char* end = run;
      do {
        end += span;
      } while (++i < count && c->rows[i] == end);
      if (end > run + kLeadBytes) end = run + kLeadBytes;
      for (; run < end; run += 64) fetch_to_l2(run);
    }
  }
  MUSABENCH_INLINE void step(FetchCursor* c) {
    if (c->next >= c->end) {
      if (++c->row >= c->count) {
        c->row = c->count;
        return;
      }
      c->next = c->rows[c->row];
      c->end = c->next + c->span;
    }
    fetch_to_l2(c->next);
    c->next += 64;
  }
  MUSABENCH_INLINE void steps(FetchCursor* c, int64_t n) {
    while (n > 0) {
      if (n == 1 || c->end - c->next < 64 * n) {
        step(c);
        --n;
        continue;
      }
      for (; n > 0; --n, c->next += 64) fetch_to_l2(c->next);
    }
  }
  MUSABENCH_INLINE void finish(FetchCursor* c) {
    while (c->row < c->count) step(c);
  }
};

// Eight elements of each of two rows: a and b each have four of the first in their low and of the second in their high
// half. So a vector of dot products has four lanes to add up for each of two tokens, half the work of eight for one.
// The order within the eight suits the type (bf16: even and odd elements).
MUSABENCH_INLINE void load_pair(const Bf16* p, const Bf16* q, F8* a, F8* b) {
#if MUSABENCH_SIMD_AVX2
  const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(q));
  const U8 pairs = (U8)_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
#else
  U8 pairs;
  memcpy(&pairs, p, 16);
  memcpy(reinterpret_cast<char*>(&pairs) + 16, q, 16);
#endif
  *a = (F8)(pairs << 16);
  *b = (F8)(pairs & 0xffff0000u);
}
MUSABENCH_INLINE void load_pair(const Fp16* p, const Fp16* q, F8* a, F8* b) {
#if MUSABENCH_SIMD_AVX2
  const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(q));
  *a = (F8)_mm256_cvtph_ps(_mm_unpacklo_epi64(low, high));
  *b = (F8)_mm256_cvtph_ps(_mm_unpackhi_epi64(low, high));
#else
  for (int i = 0; i < 4; ++i) {
    (*a)[i] = to_float(p[i]);
    (*a)[i + 4] = to_float(q[i]);
    (*b)[i] = to_float(p[i + 4]);
    (*b)[i + 4] = to_float(q[i + 4]);
  }
#endif
}

// Four floats twice.
MUSABENCH_INLINE F8 load4_twice(const float* p) {
#if MUSABENCH_SIMD_AVX2
  return (F8)_mm256_broadcast_ps(reinterpret_cast<const __m128*>(p));
#else
  F8 v;
  memcpy(&v, p, 16);
  memcpy(reinterpret_cast<char*>(&v) + 16, p, 16);
  return v;
#endif
}

// A query row for dot_tile: scaled, eight elements in the order of load_pair.
template <class T>
MUSABENCH_INLINE void unpack_query(const T* from, int64_t dim, float scale, float* to) {
  for (int64_t d = 0; d < dim; d += 8) {
    F8 a;
    F8 b;
    load_pair(from + d, from + d, &a, &b);
    for (int i = 0; i < 4; ++i) {
      to[d + i] = a[i] * scale;
      to[d + 4 + i] = b[i] * scale;
    }
  }
}

// From four vectors, each with four lanes to add up for two tokens i and i + 4: the eight sums.
MUSABENCH_INLINE F8 sums_of(const F8* v) {
#if MUSABENCH_SIMD_AVX2
  const __m256 x =
      _mm256_add_ps(_mm256_unpacklo_ps((__m256)v[0], (__m256)v[1]), _mm256_unpackhi_ps((__m256)v[0], (__m256)v[1]));
  const __m256 y =
      _mm256_add_ps(_mm256_unpacklo_ps((__m256)v[2], (__m256)v[3]), _mm256_unpackhi_ps((__m256)v[2], (__m256)v[3]));
  return (F8)_mm256_add_ps(_mm256_shuffle_ps(x, y, 0x44), _mm256_shuffle_ps(x, y, 0xee));
#else
  F8 sums;
  for (int i = 0; i < 4; ++i) {
    sums[i] = (v[i][0] + v[i][2]) + (v[i][1] + v[i][3]);
    sums[i + 4] = (v[i][4] + v[i][6]) + (v[i][5] + v[i][7]);
  }
  return sums;
#endif
}

// partial[r * 4 + i] = q[r] . keys of tokens i and i + 4, in sums_of's form, for kRows rows of q (stride dim) and i
// below kPairs. kSplit: twice the accumulators, where there are so few that the latency of a multiply-add would show.
template <class T, int kRows, int kPairs, bool kSplit, bool kFetch>
MUSABENCH_INLINE void dot_tile(const float* q, int64_t dim, const T* const* rows, int64_t head_offset, float* partial,
                               FetchCursor* fetch) {
  constexpr int kSums = kSplit ? 2 : 1;
  F8 acc[kSums][kRows][kPairs];
#pragma GCC unroll 2
  for (int s = 0; s < kSums; ++s) {
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int i = 0; i < kPairs; ++i) acc[s][r][i] = zero8();
    }
  }
  const T* k[2 * kPairs];
#pragma GCC unroll 4
  for (int i = 0; i < kPairs; ++i) {
    k[2 * i] = rows[i] + head_offset;
    k[2 * i + 1] = rows[i + 4] + head_offset;
  }
  for (int64_t d = 0; d < dim; d += 8) {
    F8 a[kPairs];
    F8 b[kPairs];
#pragma GCC unroll 4
    for (int i = 0; i < kPairs; ++i) load_pair(k[2 * i] + d, k[2 * i + 1] + d, &a[i], &b[i]);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const F8 x = load4_twice(q + r * dim + d);
#pragma GCC unroll 4
      for (int i = 0; i < kPairs; ++i) acc[0][r][i] = fma8(x, a[i], acc[0][r][i]);
    }
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const F8 x = load4_twice(q + r * dim + d + 4);
#pragma GCC unroll 4
      for (int i = 0; i < kPairs; ++i) acc[kSums - 1][r][i] = fma8(x, b[i], acc[kSums - 1][r][i]);
    }
    if (kFetch) FetchCursor::steps(fetch, kPairs / 2);
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < kPairs; ++i) {
      store8(partial + (r * 4 + i) * 8, kSplit ? acc[0][r][i] + acc[kSums - 1][r][i] : acc[0][r][i]);
    }
  }
}

// Scores of eight tokens.
template <class T, int kRows, int kPairs, bool kSplit, bool kFetch>
MUSABENCH_INLINE void score_rows(const float* q, int64_t dim, const T* const* rows, int64_t head_offset, float* scores,
                                 float* partial, int64_t lines_a_token, FetchCursor* fetch) {
#pragma GCC unroll 1
  for (int i = 0; i < 4; i += kPairs) {
    dot_tile<T, kRows, kPairs, kSplit, kFetch>(q, dim, rows + i, head_offset, partial + i * 8, fetch);
    if (!kFetch) FetchCursor::steps(fetch, lines_a_token * 2 * kPairs);
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    F8 v[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) v[i] = load8(partial + (r * 4 + i) * 8);
    store8(scores + r * kMaxTokens, sums_of(v));
  }
}

// acc[r][0 .. 8 * kVectors) = acc * factor[r] + sum over t of weights[r][t] * values[t]. kSplit as above.
template <class T, int kRows, int kVectors, bool kSplit, bool kFetch>
MUSABENCH_INLINE void add_values(float* acc, int64_t dim, const float* factor, const float* weights, int64_t n,
                                 const T* const* rows, int64_t offset, FetchCursor* fetch) {
  constexpr int kSums = kSplit ? 2 : 1;
  F8 sum[kSums][kRows][kVectors];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) {
      sum[0][r][i] = load8(acc + r * dim + i * 8) * splat(factor[r]);
      if (kSplit) sum[kSums - 1][r][i] = zero8();
    }
  }
  const auto add = [&](int64_t t, F8(&to)[kRows][kVectors]) __attribute__((always_inline)) {
    const T* row = rows[t] + offset;
#pragma GCC unroll 2
    for (int i = 0; i < kVectors; i += 2) {
      F8 a;
      F8 b;
      load16(row + i * 8, &a, &b);
#pragma GCC unroll 6
      for (int r = 0; r < kRows; ++r) {
        const F8 w = splat(weights[r * kMaxTokens + t]);
        to[r][i] = fma8(w, a, to[r][i]);
        to[r][i + 1] = fma8(w, b, to[r][i + 1]);
      }
    }
  };
  int64_t t = 0;
  if (kSplit || kFetch) {
    for (; t + 2 <= n; t += 2) {
      add(t, sum[0]);
      add(t + 1, sum[kSums - 1]);
      // kVectors = 4 is a cache line of values, 2 is half of one.
      if (kFetch) FetchCursor::steps(fetch, kVectors / 2);
    }
  }
  for (; t < n; ++t) add(t, sum[0]);
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) {
      store8(acc + r * dim + i * 8, kSplit ? sum[0][r][i] + sum[kSums - 1][r][i] : sum[0][r][i]);
    }
  }
}

// All dims of kRows rows, kVectors at a time and the rest by twos.
template <class T, int kRows, int kVectors, bool kSplit, bool kFetch>
MUSABENCH_INLINE void add_values_to_rows(float* acc, int64_t dim, const float* factor, const float* weights, int64_t n,
                                         const T* const* rows, int64_t head_offset, int64_t tiles, FetchCursor* fetch) {
  int64_t d = 0;
  for (; d + kVectors * 8 <= dim; d += kVectors * 8) {
    add_values<T, kRows, kVectors, kSplit, kFetch>(acc + d, dim, factor, weights, n, rows, head_offset + d, fetch);
    if (!kFetch) FetchCursor::steps(fetch, ceil_div(n * kVectors, 4 * tiles));
  }
  if (kVectors > 2 && d < dim) {
    add_values<T, kRows, 2, kSplit, kFetch>(acc + d, dim, factor, weights, n, rows, head_offset + d, fetch);
  }
}

// Rows of the register tiles: what measures best within sixteen registers.
constexpr int64_t kScoreRows = 4;
constexpr int64_t kValueRows = 6;

// Scores of eight tokens with all rows of a head. One or two rows wait for memory: they fetch as they go, step by step.
// More rows are bound by arithmetic: they fetch between register tiles.
template <class T>
MUSABENCH_INLINE void score_head(const float* q, int64_t rows_of_q, int64_t dim, const T* const* rows,
                                 int64_t head_offset, float* scores, float* partial, FetchCursor* fetch) {
  if (rows_of_q == 1) return score_rows<T, 1, 4, true, true>(q, dim, rows, head_offset, scores, partial, 0, fetch);
  if (rows_of_q == 2) return score_rows<T, 2, 4, false, true>(q, dim, rows, head_offset, scores, partial, 0, fetch);
  const int64_t lines = ceil_div(dim, 32 * ceil_div(rows_of_q, kScoreRows));
  for (int64_t r = 0; r < rows_of_q;) {
    const float* x = q + r * dim;
    float* to = scores + r * kMaxTokens;
    const int64_t tile = min64(rows_of_q - r, kScoreRows);
    switch (tile) {
      case 4:
        score_rows<T, 4, 2, false, false>(x, dim, rows, head_offset, to, partial, lines, fetch);
        break;
      case 3:
        score_rows<T, 3, 2, false, false>(x, dim, rows, head_offset, to, partial, lines, fetch);
        break;
      case 2:
        score_rows<T, 2, 4, false, false>(x, dim, rows, head_offset, to, partial, lines, fetch);
        break;
      default:
        score_rows<T, 1, 4, true, false>(x, dim, rows, head_offset, to, partial, lines, fetch);
        break;
    }
    r += tile;
  }
}

template <class T>
MUSABENCH_INLINE void add_values_to_head(int64_t rows_of_q, float* acc, int64_t dim, const float* factor,
                                         const float* weights, int64_t n, const T* const* rows, int64_t head_offset,
                                         FetchCursor* fetch) {
  if (rows_of_q == 1) {
    return add_values_to_rows<T, 1, 4, true, true>(acc, dim, factor, weights, n, rows, head_offset, 1, fetch);
  }
  if (rows_of_q == 2) {
    return add_values_to_rows<T, 2, 4, false, true>(acc, dim, factor, weights, n, rows, head_offset, 1, fetch);
  }
  const int64_t tiles = ceil_div(rows_of_q, kValueRows);
  for (int64_t r = 0; r < rows_of_q;) {
    float* to = acc + r * dim;
    const float* w = weights + r * kMaxTokens;
    const float* f = factor + r;
    const int64_t tile = min64(rows_of_q - r, kValueRows);
    switch (tile) {
      case 6:
        add_values_to_rows<T, 6, 2, false, false>(to, dim, f, w, n, rows, head_offset, tiles, fetch);
        break;
      case 5:
        add_values_to_rows<T, 5, 2, false, false>(to, dim, f, w, n, rows, head_offset, tiles, fetch);
        break;
      case 4:
        add_values_to_rows<T, 4, 2, false, false>(to, dim, f, w, n, rows, head_offset, tiles, fetch);
        break;
      case 3:
        add_values_to_rows<T, 3, 2, true, false>(to, dim, f, w, n, rows, head_offset, tiles, fetch);
        break;
      case 2:
        add_values_to_rows<T, 2, 4, false, false>(to, dim, f, w, n, rows, head_offset, tiles, fetch);
        break;
      default:
        add_values_to_rows<T, 1, 4, true, false>(to, dim, f, w, n, rows, head_offset, tiles, fetch);
        break;
    }
    r += tile;
  }
}

// A sequence as the kernel finds it in device memory.
struct Sequence {
  int64_t q_begin;
  int64_t q_len;
  int64_t k_len;
  int64_t low;  // keys that any of its queries sees: [low, high)
  int64_t high;
  int64_t grains;  // of work for decode: 0 if there is none
  bool valid;
  bool decode;
};

MUSABENCH_INLINE Sequence sequence_of(const PagedLaunch& l, int64_t b) {
  const PagedParams& p = l.params;
  Sequence s;
  s.q_begin = b;
  s.q_len = 1;
  s.valid = true;
  if (p.cu_seqlens_q != nullptr) {
    s.valid = is_range(p.cu_seqlens_q, b, p.shape.total_q);
    s.q_begin = p.cu_seqlens_q[b];
    s.q_len = static_cast<int64_t>(p.cu_seqlens_q[b + 1]) - s.q_begin;
  }
  s.k_len = p.seqused_k[b];
  s.valid = s.valid && s.q_len <= p.shape.max_seqlen_q && s.k_len >= 0 && s.k_len <= p.max_pages * p.page_size;
  s.decode = s.q_len <= l.decode_queries;
  s.low = s.high = s.grains = 0;
  if (!s.valid || s.q_len <= 0) return s;
  const int64_t last = s.k_len - 1;  // the last query's diagonal
  s.low = p.mask.window_left < 0 ? 0 : max64(0, s.k_len - s.q_len - p.mask.window_left);
  s.high = p.mask.window_right < 0 ? s.k_len : min64(s.k_len, last + p.mask.window_right + 1);
  if (s.decode) s.grains = s.high > s.low ? ceil_div(s.high - s.low, kDecodeGrain) : 0;
  return s;
}

// How the work of a launch is cut, from what lies in device memory.
struct Cut {
  int64_t grains_a_block;  // of all sequences one after another; not used with num_splits
};

MUSABENCH_INLINE bool cut_of(const PagedLaunch& l, Cut* cut) {
  int64_t grains = 0;
  for (int64_t b = 0; b < l.params.shape.batch; ++b) {
    const Sequence s = sequence_of(l, b);
    if (!s.valid) return false;
    grains += s.grains;
  }
  cut->grains_a_block = max64(l.min_block_grains, ceil_div(grains, l.decode_blocks));
  return true;
}

// A part of a sequence that one block decodes.
struct Segment {
  int64_t b;
  Sequence sequence;
  int64_t begin;  // keys
  int64_t end;
  int64_t slot;  // of the workspace; -1: it is the whole sequence
};

MUSABENCH_INLINE Segment segment_of(int64_t b, const Sequence& s, int64_t begin_grain, int64_t end_grain,
                                    int64_t slot) {
  Segment g;
  g.b = b;
  g.sequence = s;
  g.begin = s.low + begin_grain * kDecodeGrain;
  g.end = min64(s.high, s.low + end_grain * kDecodeGrain);
  g.slot = begin_grain == 0 && end_grain >= s.grains ? -1 : slot;
  return g;
}

// Part `split` of num_splits.
MUSABENCH_INLINE Segment split_segment(const PagedLaunch& l, int64_t b, const Sequence& s, int64_t split) {
  const int64_t splits = l.params.shape.num_splits;
  const int64_t part = ceil_div(s.grains, splits);
  return segment_of(b, s, min64(split * part, s.grains), min64((split + 1) * part, s.grains), b * splits + split);
}

// The overlap of a block with a sequence whose grains start at `start` of all grains. A block may have a part of the
// sequence it begins in and of the one it ends in: two slots.
MUSABENCH_INLINE Segment block_segment(const Cut& cut, int64_t b, const Sequence& s, int64_t start, int64_t block) {
  const int64_t begin = max64(0, block * cut.grains_a_block - start);
  const int64_t end = min64(s.grains, (block + 1) * cut.grains_a_block - start);
  return segment_of(b, s, begin, end, 2 * block + (begin == 0 ? 1 : 0));
}

// The segments of a block in order.
struct SegmentWalk {
  const PagedLaunch* launch;
  Cut cut;
  int64_t block;
  int64_t b;
  int64_t start;

  static SegmentWalk of(const PagedLaunch& l, const Cut& cut, int64_t block) {
    const int64_t splits = l.params.shape.num_splits;
    return SegmentWalk{&l, cut, block, splits > 0 ? block / splits : 0, 0};
  }
  bool next(Segment* segment) {
    const PagedLaunch& l = *launch;
    if (l.params.shape.num_splits > 0) {
      if (b < 0) return false;
      const Sequence s = sequence_of(l, b);
      *segment = split_segment(l, b, s, block % l.params.shape.num_splits);
      b = -1;
      return segment->begin < segment->end;
    }
    const int64_t block_end = (block + 1) * cut.grains_a_block;
    while (b < l.params.shape.batch && start < block_end) {
      const Sequence s = sequence_of(l, b);
      const int64_t here = b++;
      const int64_t here_start = start;
      start += s.grains;
      if (start <= block * cut.grains_a_block || s.grains == 0) continue;
      *segment = block_segment(cut, here, s, here_start, block);
      return true;
    }
    return false;
  }
};

template <class T>
struct TokenBlock {
  Segment segment;
  int64_t first;
  int64_t n;
  const T** k_rows;  // n, then the last one again up to a multiple of 8
  const T** v_rows;
};

// Four of the first half and four of the second half of the rows in turn: two streams of memory, which the hardware
// follows better than one. n is a multiple of 8.
template <class T>
MUSABENCH_INLINE void interleave_halves(const T** rows, int64_t n) {
  const T* mixed[kMaxTokens];
  for (int64_t i = 0; i < n; i += 8) {
    memcpy(mixed + i, rows + i / 2, 4 * sizeof(T*));
    memcpy(mixed + i + 4, rows + n / 2 + i / 2, 4 * sizeof(T*));
  }
  memcpy(rows, mixed, n * sizeof(T*));
}

// The token blocks of a block's segments in order.
template <class T>
struct TokenWalk {
  SegmentWalk segments;
  Segment segment;
  KvSource<T> kv;
  int64_t tokens;
  int64_t position;
  bool ended;
  bool broken;

  void next(TokenBlock<T>* block) {
    block->n = 0;
    if (ended) return;
    if (position >= segment.end) {
      if (!segments.next(&segment)) {
        ended = true;
        return;
      }
      position = segment.begin;
      const PagedParams& p = segments.launch->params;
      kv.table = p.page_table + segment.b * p.page_table_stride;
    }
    block->segment = segment;
    block->first = position;
    const int64_t n = min64(tokens, segment.end - position);
    if (!kv.rows(position, n, block->k_rows, block->v_rows)) {
      ended = broken = true;
      return;
    }
    for (int64_t i = n; i < round_up(n, 8); ++i) {
      block->k_rows[i] = block->k_rows[n - 1];
      block->v_rows[i] = block->v_rows[n - 1];
    }
    block->n = n;
    position += n;
  }
};

template <class T>
KvSource<T> kv_source(const PagedParams& p, int64_t b, int64_t kv_head) {
  KvSource<T> kv;
  kv.k = static_cast<const T*>(p.k_cache) + kv_head * p.k_strides.head;
  kv.v = static_cast<const T*>(p.v_cache) + kv_head * p.v_strides.head;
  kv.k_strides = p.k_strides;
  kv.v_strides = p.v_strides;
  kv.table = p.page_table + b * p.page_table_stride;
  kv.page_size = p.page_size;
  kv.pages = p.pages;
  return kv;
}

// Rows of a sequence are [kv head][query][head of the group]. A slot holds [row][dim] accumulated values in load16's
// order, then each row's maximum, then its sum.
template <class T>
void store_decoded(const PagedParams& p, const Sequence& s, int64_t row, const float* acc, float row_max, float sum) {
  const int64_t group = p.shape.q_heads / p.shape.kv_heads;
  const int64_t head = row / (s.q_len * group) * group + row % group;
  const int64_t token = s.q_begin + row % (s.q_len * group) / group;
  store_row(static_cast<T*>(p.out) + token * p.out_strides.token + head * p.out_strides.head, acc, p.shape.head_dim,
            sum);
  if (p.lse != nullptr) {
    p.lse[token * p.lse_strides.token + head * p.lse_strides.head] = log_sum_exp(row_max, sum);
  }
}

template <class T>
void decode(const PagedLaunch& l, int64_t block) {
  const PagedParams& p = l.params;
  const int64_t dim = p.shape.head_dim;
  const int64_t group = p.shape.q_heads / p.shape.kv_heads;
  const int64_t max_rows = l.decode_queries * p.shape.q_heads;
  Cut cut;
  if (!cut_of(l, &cut)) return musaHostKernelFail(musaErrorIllegalAddress);

  const int64_t floats = max_rows * (2 * dim + 3 + kMaxTokens) + 3 * 8 + kScoreRows * 4 * 8;
  void* scratch = musaHostLaneScratch(arena_bytes(floats * 4 + 4 * kMaxTokens * 8, 12));
  if (scratch == nullptr) return musaHostKernelFail(musaErrorMemoryAllocation);
  Arena arena{static_cast<char*>(scratch)};
  float* q = arena.take<float>(max_rows * dim);
  float* acc = arena.take<float>(max_rows * dim);
  float* row_max = arena.take<float>(max_rows + 8);
  float* row_sum = arena.take<float>(max_rows + 8);
  float* scores = arena.take<float>(max_rows * kMaxTokens);
  float* factor = arena.take<float>(max_rows + 8);
  float* partial = arena.take<float>(kScoreRows * 4 * 8);

  // A sequence without a key has no segment.
  const int64_t splits = p.shape.num_splits;
  if (splits > 0 ? block % splits == 0 : block == 0) {
    memset(acc, 0, dim * sizeof(float));
    for (int64_t b = splits > 0 ? block / splits : 0; b < (splits > 0 ? block / splits + 1 : p.shape.batch); ++b) {
      const Sequence s = sequence_of(l, b);
      if (!s.decode || s.grains > 0) continue;
      for (int64_t row = 0; row < s.q_len * p.shape.q_heads; ++row) store_decoded<T>(p, s, row, acc, -INFINITY, 0);
    }
  }

  const int64_t k_span = ((p.shape.kv_heads - 1) * p.k_strides.head + dim) * 2;
  const int64_t v_span = ((p.shape.kv_heads - 1) * p.v_strides.head + dim) * 2;
  // Heads with gaps between them (other layouts seen through strides) are left to the hardware.
  const bool fetches = p.shape.kv_heads == 1 || (p.k_strides.head == dim && p.v_strides.head == dim);
  TokenBlock<T> blocks[2];
  for (TokenBlock<T>& t : blocks) {
    t.k_rows = arena.take<const T*>(kMaxTokens);
    t.v_rows = arena.take<const T*>(kMaxTokens);
    t.n = 0;
  }
  TokenWalk<T> walk;
  walk.segments = SegmentWalk::of(l, cut, block);
  walk.kv = kv_source<T>(p, 0, 0);
  walk.tokens = max64(8, min64(kMaxTokens, kTokenBlockBytes / (p.shape.kv_heads * dim * 2)) / 8 * 8);
  walk.segment.end = walk.position = 0;
  walk.ended = walk.broken = false;
  walk.next(&blocks[0]);

  const float cap = p.softcap;
  const float scale = cap > 0 ? p.softmax_scale : p.softmax_scale * kLog2E;
  FetchCursor k_fetch;
  FetchCursor v_fetch;
  if (fetches) {
    FetchCursor::start(&k_fetch, blocks[0].k_rows, blocks[0].n, k_span);
    FetchCursor::start(&v_fetch, blocks[0].v_rows, blocks[0].n, v_span);
    FetchCursor::finish(&k_fetch);
    FetchCursor::finish(&v_fetch);
  }
  for (int current = 0; blocks[current].n > 0; current ^= 1) {
    const TokenBlock<T>& now = blocks[current];
    TokenBlock<T>& following = blocks[current ^ 1];
    walk.next(&following);
    FetchCursor::start(&k_fetch, following.k_rows, fetches ? following.n : 0, k_span);
    FetchCursor::start(&v_fetch, following.v_rows, fetches ? following.n : 0, v_span);
    const Segment& segment = now.segment;
    const Sequence& s = segment.sequence;
    const int64_t rows = s.q_len * group;
    const int64_t all_rows = rows * p.shape.kv_heads;
    if (now.first == segment.begin) {
      for (int64_t row = 0; row < all_rows; ++row) {
        const int64_t head = row / rows * group + row % group;
        const T* from =
            static_cast<const T*>(p.q) + (s.q_begin + row % rows / group) * p.q_strides.token + head * p.q_strides.head;
        unpack_query(from, dim, scale, q + row * dim);
        row_max[row] = -INFINITY;
        row_sum[row] = 0;
      }
      memset(acc, 0, all_rows * dim * sizeof(float));
    }
    const int64_t padded = round_up(now.n, 8);
    // Nothing to mask: the first query's window does not end here, nor does the last one's begin.
    int64_t first_low;
    int64_t first_high;
    int64_t last_low;
    int64_t last_high;
    visible_keys(p.mask, 0, s.q_len, s.k_len, &first_low, &first_high);
    visible_keys(p.mask, s.q_len - 1, s.q_len, s.k_len, &last_low, &last_high);
    const bool plain = cap == 0 && last_low <= now.first && now.first + padded <= min64(first_high, last_high);
    if (plain && now.n % 8 == 0) {
      interleave_halves(now.k_rows, now.n);
      interleave_halves(now.v_rows, now.n);
    }
    // Heads inside, tokens outside: so keys and values are read in memory order.
    for (int64_t t = 0; t < padded; t += 8) {
      for (int64_t h = 0; h < p.shape.kv_heads; ++h) {
        score_head(q + h * rows * dim, rows, dim, now.k_rows + t, h * p.k_strides.head,
                   scores + h * rows * kMaxTokens + t, partial, &k_fetch);
      }
    }
    for (int64_t row = 0; row < all_rows && !plain; ++row) {
      int64_t low;
      int64_t high;
      visible_keys(p.mask, row % rows / group, s.q_len, s.k_len, &low, &high);
      cap_and_mask(scores + row * kMaxTokens, padded, cap, now.first, low, min64(high, now.first + now.n));
    }
    for (int64_t row = 0; row < all_rows; row += 8) {
      softmax_step(scores + row * kMaxTokens, kMaxTokens, min64(all_rows - row, 8), padded, row_max + row,
                   row_sum + row, factor + row);
    }
    const int64_t step = rows <= kFewRows ? kValueTokens : kMaxTokens;
    for (int64_t t = 0; t < now.n; t += step) {
      for (int64_t h = 0; h < p.shape.kv_heads; ++h) {
        const int64_t base = h * rows;
        add_values_to_head(rows, acc + base * dim, dim, factor + base, scores + base * kMaxTokens + t,
                           min64(step, now.n - t), now.v_rows + t, h * p.v_strides.head, &v_fetch);
      }
      for (int64_t row = 0; row < all_rows; ++row) factor[row] = 1;
    }
    FetchCursor::finish(&k_fetch);
    FetchCursor::finish(&v_fetch);
    if (now.first + now.n < segment.end) continue;
    if (segment.slot < 0) {
      for (int64_t row = 0; row < all_rows; ++row) {
        store_decoded<T>(p, s, row, acc + row * dim, row_max[row], row_sum[row]);
      }
    } else {
      float* slot = static_cast<float*>(p.workspace) + segment.slot * l.slot_floats;
      memcpy(slot, acc, all_rows * dim * sizeof(float));
      memcpy(slot + max_rows * dim, row_max, all_rows * sizeof(float));
      memcpy(slot + max_rows * (dim + 1), row_sum, all_rows * sizeof(float));
    }
  }
  if (walk.broken) musaHostKernelFail(musaErrorIllegalAddress);
}

template <class T>
void paged_prefill(const PagedLaunch& l, uint32_t block) {
  const PagedParams& p = l.params;
  const int64_t group = p.shape.q_heads / p.shape.kv_heads;
  const int64_t kv_head = block % p.shape.kv_heads;
  bool broken = false;
  int64_t b;
  int64_t first_row;
  int64_t rows;
  const bool found = find_tile(
      block / p.shape.kv_heads, p.shape.batch, l.tile_rows,
      [&](int64_t i) -> int64_t {
        const Sequence s = sequence_of(l, i);
        if (!s.valid) broken = true;
        return s.valid && !s.decode ? s.q_len * group : 0;
      },
      &b, &first_row, &rows);
  if (broken) return musaHostKernelFail(musaErrorIllegalAddress);
  if (!found) return;
  const Sequence s = sequence_of(l, b);
  PrefillTile<T> t;
  t.q = static_cast<const T*>(p.q) + s.q_begin * p.q_strides.token + kv_head * group * p.q_strides.head;
  t.out = static_cast<T*>(p.out) + s.q_begin * p.out_strides.token + kv_head * group * p.out_strides.head;
  t.lse = p.lse == nullptr ? nullptr : p.lse + s.q_begin * p.lse_strides.token + kv_head * group * p.lse_strides.head;
  t.q_strides = p.q_strides;
  t.out_strides = p.out_strides;
  t.lse_strides = p.lse_strides;
  t.kv = kv_source<T>(p, b, kv_head);
  t.q_len = s.q_len;
  t.k_len = s.k_len;
  t.group = group;
  t.first_row = first_row;
  t.rows = rows;
  t.dim_qk = t.dim_v = p.shape.head_dim;
  t.softmax_scale = p.softmax_scale;
  t.softcap = p.softcap;
  t.mask = p.mask;
  void* scratch = musaHostLaneScratch(prefill_scratch_bytes<T>(l.tile_rows, t.dim_qk, t.dim_v));
  if (scratch == nullptr) return musaHostKernelFail(musaErrorMemoryAllocation);
  if (!prefill_tile(t, Arena{static_cast<char*>(scratch)})) musaHostKernelFail(musaErrorIllegalAddress);
}

// Adds up the slots of one row: out = sum of acc_i 2^(max_i - max) / sum of sum_i 2^(max_i - max).
template <class T>
void combine(const PagedLaunch& l, uint32_t block) {
  const PagedParams& p = l.params;
  const int64_t dim = p.shape.head_dim;
  const int64_t max_rows = l.decode_queries * p.shape.q_heads;
  Cut cut;
  if (!cut_of(l, &cut)) return musaHostKernelFail(musaErrorIllegalAddress);
  float acc[kMaxHeadDim];
  int64_t start = 0;
  int64_t turn = 0;
  for (int64_t b = 0; b < p.shape.batch; ++b) {
    const Sequence s = sequence_of(l, b);
    const int64_t here = start;
    start += s.grains;
    if (s.grains == 0) continue;
    const int64_t splits = p.shape.num_splits;
    const int64_t begin = splits > 0 ? 0 : here / cut.grains_a_block;
    const int64_t end = splits > 0 ? splits : (start - 1) / cut.grains_a_block + 1;
    for (int64_t row = 0; row < s.q_len * p.shape.q_heads; ++row) {
      if (turn++ % l.combine_blocks != block) continue;
      float row_max = -INFINITY;
      float row_sum = 0;
      memset(acc, 0, dim * sizeof(float));
      bool whole = false;
      for (int64_t i = begin; i < end && !whole; ++i) {
        const Segment g = splits > 0 ? split_segment(l, b, s, i) : block_segment(cut, b, s, here, i);
        if (g.begin >= g.end) break;
        whole = g.slot < 0;
        if (whole) break;
        const float* slot = static_cast<const float*>(p.workspace) + g.slot * l.slot_floats;
        const float slot_max = slot[max_rows * dim + row];
        const float slot_sum = slot[max_rows * (dim + 1) + row];
        if (slot_sum == 0) continue;
        const float now = slot_max > row_max ? slot_max : row_max;
        const float old_factor = exp2_8(splat(row_max - now))[0];
        const float slot_factor = exp2_8(splat(slot_max - now))[0];
        for (int64_t d = 0; d < dim; d += 8) {
          store8(acc + d, fma8(load8(slot + row * dim + d), splat(slot_factor), load8(acc + d) * splat(old_factor)));
        }
        row_sum = row_sum * old_factor + slot_sum * slot_factor;
        row_max = now;
      }
      if (!whole) store_decoded<T>(p, s, row, acc, row_max, row_sum);
    }
  }
}

}  // namespace

void paged_attention_block(const void* launch, uint32_t block, uint32_t) {
  const PagedLaunch& l = *static_cast<const PagedLaunch*>(launch);
  const bool bf16 = l.params.dtype == Dtype::kBFloat16;
  if (block < l.prefill_blocks) {
    bf16 ? paged_prefill<Bf16>(l, block) : paged_prefill<Fp16>(l, block);
  } else {
    bf16 ? decode<Bf16>(l, block - l.prefill_blocks) : decode<Fp16>(l, block - l.prefill_blocks);
  }
}

void paged_attention_combine_block(const void* launch, uint32_t block, uint32_t) {
  const PagedLaunch& l = *static_cast<const PagedLaunch*>(launch);
  if (l.params.dtype == Dtype::kBFloat16) {
    combine<Bf16>(l, block);
  } else {
    combine<Fp16>(l, block);
  }
}

}  // namespace MUSABENCH_ISA_NAMESPACE
}  // namespace musabench
