// Paged attention. Sequences with few query tokens are decoded: bound by reading the cache, so a block walks its keys
// in memory order, all heads of a token together, a block of tokens at a time, while the next block (of the next
// sequence even) is fetched at the pace of the arithmetic.
#pragma once

#include "attention_prefill_impl.h"

namespace musabench {
namespace MUSABENCH_ISA_NAMESPACE {
namespace {

// Tokens of a block: a multiple of 8. Fewer if heads * dim is large, so that two blocks fit in the second-level cache.
constexpr int64_t kMaxTokens = 64;
constexpr int64_t kTokenBlockBytes = 64 << 10;  // of keys

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
  MUSABENCH_INLINE void finish(FetchCursor* c) {
    while (c->row < c->count) step(c);
  }
};

// The sums of eight vectors.
MUSABENCH_INLINE F8 sums_of(const F8* v) {
#if MUSABENCH_SIMD_AVX2
  const __m256 x =
      _mm256_hadd_ps(_mm256_hadd_ps((__m256)v[0], (__m256)v[1]), _mm256_hadd_ps((__m256)v[2], (__m256)v[3]));
  const __m256 y =
      _mm256_hadd_ps(_mm256_hadd_ps((__m256)v[4], (__m256)v[5]), _mm256_hadd_ps((__m256)v[6], (__m256)v[7]));
  return (F8)_mm256_add_ps(_mm256_permute2f128_ps(x, y, 0x20), _mm256_permute2f128_ps(x, y, 0x31));
#else
  F8 sums;
  for (int i = 0; i < 8; ++i) sums[i] = sum_of(v[i]);
  return sums;
#endif
}

// scores[r * kMaxTokens + t] = q[r] . keys[t] for kRows rows (1..4) of q (stride dim) and kTokens tokens.
template <class T, int kRows, int kTokens, bool kFetch>
MUSABENCH_INLINE void score_tokens(const float* q, int64_t dim, const T* const* rows, int64_t head_offset,
                                   float* scores, FetchCursor* fetch) {
  static_assert(kRows * kTokens <= 8, "one vector of sums");
  F8 acc[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) acc[i] = zero8();
  const T* k[kTokens];
#pragma GCC unroll 8
  for (int t = 0; t < kTokens; ++t) k[t] = rows[t] + head_offset;
  for (int64_t d = 0; d < dim; d += 16) {
    F8 a[kTokens];
    F8 b[kTokens];
#pragma GCC unroll 8
    for (int t = 0; t < kTokens; ++t) load16(k[t] + d, &a[t], &b[t]);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const F8 x = load8(q + r * dim + d);
#pragma GCC unroll 8
      for (int t = 0; t < kTokens; ++t) acc[r * kTokens + t] = fma8(x, a[t], acc[r * kTokens + t]);
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const F8 x = load8(q + r * dim + d + 8);
#pragma GCC unroll 8
      for (int t = 0; t < kTokens; ++t) acc[r * kTokens + t] = fma8(x, b[t], acc[r * kTokens + t]);
    }
    if (kFetch) {
#pragma GCC unroll 4
      for (int i = 0; i < (kTokens + 1) / 2; ++i) FetchCursor::step(fetch);
    }
  }
  float sums[8];
  store8(sums, sums_of(acc));
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) memcpy(scores + r * kMaxTokens, sums + r * kTokens, kTokens * sizeof(float));
}

// acc[r][0 .. 8 * kVectors) = acc * factor[r] + sum over t of weights[r][t] * values[t].
template <class T, int kRows, int kVectors, bool kFetch>
MUSABENCH_INLINE void add_values(float* acc, int64_t dim, const float* factor, const float* weights, int64_t n,
                                 const T* const* rows, int64_t offset, FetchCursor* fetch) {
  F8 sum[kRows][kVectors];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) sum[r][i] = load8(acc + r * dim + i * 8) * splat(factor[r]);
  }
  for (int64_t t = 0; t < n; ++t) {
    F8 v[kVectors];
#pragma GCC unroll 2
    for (int i = 0; i < kVectors; i += 2) load16(rows[t] + offset + i * 8, &v[i], &v[i + 1]);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const F8 w = splat(weights[r * kMaxTokens + t]);
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) sum[r][i] = fma8(w, v[i], sum[r][i]);
    }
    // kVectors = 4 is a cache line of values, 2 is half of one.
    if (kFetch && (kVectors == 4 || t % 2 == 0)) FetchCursor::step(fetch);
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) store8(acc + r * dim + i * 8, sum[r][i]);
  }
}

// Eight tokens, all rows; the first tile of rows paces the fetching.
template <class T>
MUSABENCH_INLINE void score_eight_tokens(const float* q, int64_t rows_of_q, int64_t dim, const T* const* rows,
                                         int64_t head_offset, float* scores, FetchCursor* fetch) {
  int64_t r = 0;
  if (rows_of_q >= 4) {
    for (int t = 0; t < 8; t += 2) score_tokens<T, 4, 2, true>(q, dim, rows + t, head_offset, scores + t, fetch);
    for (r = 4; r + 4 <= rows_of_q; r += 4) {
      for (int t = 0; t < 8; t += 2) {
        score_tokens<T, 4, 2, false>(q + r * dim, dim, rows + t, head_offset, scores + r * kMaxTokens + t, fetch);
      }
    }
    q += r * dim;
    scores += r * kMaxTokens;
    switch (rows_of_q - r) {
      case 3:
        for (int t = 0; t < 8; t += 2) score_tokens<T, 3, 2, false>(q, dim, rows + t, head_offset, scores + t, fetch);
        break;
      case 2:
        for (int t = 0; t < 8; t += 4) score_tokens<T, 2, 4, false>(q, dim, rows + t, head_offset, scores + t, fetch);
        break;
      case 1:
        score_tokens<T, 1, 8, false>(q, dim, rows, head_offset, scores, fetch);
        break;
    }
    return;
  }
  switch (rows_of_q) {
    case 3:
      for (int t = 0; t < 8; t += 2) score_tokens<T, 3, 2, true>(q, dim, rows + t, head_offset, scores + t, fetch);
      break;
    case 2:
      for (int t = 0; t < 8; t += 4) score_tokens<T, 2, 4, true>(q, dim, rows + t, head_offset, scores + t, fetch);
      break;
    case 1:
      score_tokens<T, 1, 8, true>(q, dim, rows, head_offset, scores, fetch);
      break;
  }
}

template <class T, bool kFetch>
MUSABENCH_INLINE void add_values_of_rows(int64_t count, float* acc, int64_t dim, const float* factor,
                                         const float* weights, int64_t n, const T* const* rows, int64_t offset,
                                         FetchCursor* fetch) {
  switch (count) {
    case 4:
      add_values<T, 4, 2, kFetch>(acc, dim, factor, weights, n, rows, offset, fetch);
      break;
    case 3:
      add_values<T, 3, 2, kFetch>(acc, dim, factor, weights, n, rows, offset, fetch);
      break;
    case 2:
      add_values<T, 2, 2, kFetch>(acc, dim, factor, weights, n, rows, offset, fetch);
      break;
    case 1:
      add_values<T, 1, 2, kFetch>(acc, dim, factor, weights, n, rows, offset, fetch);
      break;
  }
}

template <class T>
MUSABENCH_INLINE void add_all_values(int64_t rows_of_q, float* acc, int64_t dim, const float* factor,
                                     const float* weights, int64_t n, const T* const* rows, int64_t head_offset,
                                     FetchCursor* fetch) {
  int64_t d = 0;
  if (rows_of_q <= 2) {
    for (; d + 32 <= dim; d += 32) {
      if (rows_of_q == 2) {
        add_values<T, 2, 4, true>(acc + d, dim, factor, weights, n, rows, head_offset + d, fetch);
      } else {
        add_values<T, 1, 4, true>(acc + d, dim, factor, weights, n, rows, head_offset + d, fetch);
      }
    }
  }
  for (; d < dim; d += 16) {
    const int64_t first = min64(rows_of_q, 4);
    add_values_of_rows<T, true>(first, acc + d, dim, factor, weights, n, rows, head_offset + d, fetch);
    for (int64_t r = first; r < rows_of_q; r += 4) {
      add_values_of_rows<T, false>(min64(rows_of_q - r, 4), acc + r * dim + d, dim, factor + r,
                                   weights + r * kMaxTokens, n, rows, head_offset + d, fetch);
    }
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
  const int64_t head_rows = l.decode_queries * group;  // of a kv head, at most
  const int64_t max_rows = head_rows * p.shape.kv_heads;
  Cut cut;
  if (!cut_of(l, &cut)) return musaHostKernelFail(musaErrorIllegalAddress);

  const int64_t bytes = max_rows * (2 * dim + 2) * 4 + head_rows * (kMaxTokens + 1) * 4 + 4 * kMaxTokens * 8;
  void* scratch = musaHostLaneScratch(arena_bytes(bytes, 10));
  if (scratch == nullptr) return musaHostKernelFail(musaErrorMemoryAllocation);
  Arena arena{static_cast<char*>(scratch)};
  float* q = arena.take<float>(max_rows * dim);
  float* acc = arena.take<float>(max_rows * dim);
  float* row_max = arena.take<float>(max_rows);
  float* row_sum = arena.take<float>(max_rows);
  float* scores = arena.take<float>(head_rows * kMaxTokens);
  float* factor = arena.take<float>(head_rows);

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

  const float scale = p.softcap > 0 ? p.softmax_scale / p.softcap : p.softmax_scale * kLog2E;
  const float cap = p.softcap * kLog2E;
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
    if (now.first == segment.begin) {
      for (int64_t row = 0; row < rows * p.shape.kv_heads; ++row) {
        const int64_t head = row / rows * group + row % group;
        const T* from =
            static_cast<const T*>(p.q) + (s.q_begin + row % rows / group) * p.q_strides.token + head * p.q_strides.head;
        for (int64_t d = 0; d < dim; d += 16) {
          F8 a;
          F8 b;
          load16(from + d, &a, &b);
          store8(q + row * dim + d, a * splat(scale));
          store8(q + row * dim + d + 8, b * splat(scale));
        }
        row_max[row] = -INFINITY;
        row_sum[row] = 0;
      }
      memset(acc, 0, rows * p.shape.kv_heads * dim * sizeof(float));
    }
    const int64_t padded = round_up(now.n, 8);
    for (int64_t h = 0; h < p.shape.kv_heads; ++h) {
      const int64_t base = h * rows;
      for (int64_t t = 0; t < padded; t += 8) {
        score_eight_tokens<T>(q + base * dim, rows, dim, now.k_rows + t, h * p.k_strides.head, scores + t, &k_fetch);
      }
      for (int64_t r = 0; r < rows; ++r) {
        int64_t low;
        int64_t high;
        visible_keys(p.mask, r / group, s.q_len, s.k_len, &low, &high);
        cap_and_mask(scores + r * kMaxTokens, padded, cap, now.first, low, min64(high, now.first + now.n));
        factor[r] = softmax_step(scores + r * kMaxTokens, padded, &row_max[base + r], &row_sum[base + r]);
      }
      add_all_values<T>(rows, acc + base * dim, dim, factor, scores, now.n, now.v_rows, h * p.v_strides.head, &v_fetch);
    }
    FetchCursor::finish(&k_fetch);
    FetchCursor::finish(&v_fetch);
    if (now.first + now.n < segment.end) continue;
    const int64_t all = rows * p.shape.kv_heads;
    if (segment.slot < 0) {
      for (int64_t row = 0; row < all; ++row) {
        store_decoded<T>(p, s, row, acc + row * dim, row_max[row], row_sum[row]);
      }
    } else {
      float* slot = static_cast<float*>(p.workspace) + segment.slot * l.slot_floats;
      memcpy(slot, acc, all * dim * sizeof(float));
      memcpy(slot + max_rows * dim, row_max, all * sizeof(float));
      memcpy(slot + max_rows * (dim + 1), row_sum, all * sizeof(float));
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
        const float old_factor = exp2_1(row_max - now);
        const float slot_factor = exp2_1(slot_max - now);
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
