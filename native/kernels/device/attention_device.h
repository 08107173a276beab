// What the attention kernels share: their parameters, sequences and masks as they find them in device memory, where a
// row of queries comes from and where its result goes.
//
// Query heads that read one key head are packed: row r of a sequence and a key head is its query r / group under the
// key head's query head r % group. So keys and values are read once for the whole group, and a tile of rows is as well
// one query under many heads (decode) as many queries under one (prefill). Scores are kept in units of log 2, so that a
// softmax weight is one exp2.
#pragma once

#include "../attention.h"
#include "gpu.h"

namespace musabench {
namespace attention {

// Threads of every attention block: one warp of the widest kind, four of the narrowest.
constexpr int kThreads = 128;

// Division by a number that only the host knows: exact for 0 <= n < 2^31.
struct FastDivisor {
  uint32_t divisor;
  uint32_t multiplier;
  uint32_t shift;

  // Granlund and Montgomery, "Division by invariant integers using multiplication", section 4, N = 32.
  static FastDivisor of(int64_t divisor) {
    uint32_t shift = 0;
    while ((int64_t{1} << shift) < divisor) ++shift;
    const uint64_t d = static_cast<uint64_t>(divisor);
    const uint64_t multiplier = ((uint64_t{1} << 32) * ((uint64_t{1} << shift) - d)) / d + 1;
    return {static_cast<uint32_t>(d), static_cast<uint32_t>(multiplier), shift};
  }
  MUSABENCH_DEVICE int32_t quotient(int32_t n) const {
    const uint32_t u = static_cast<uint32_t>(n);
    const uint32_t high = static_cast<uint32_t>(static_cast<uint64_t>(u) * multiplier >> 32);
    return static_cast<int32_t>((high + u) >> shift);
  }
  MUSABENCH_DEVICE int32_t remainder(int32_t n, int32_t quotient) const {
    return n - quotient * static_cast<int32_t>(divisor);
  }
};

// Parameters of all attention kernels, by value. Strides as in ../attention.h.
template <class T>
struct AttentionArgs {
  const T* q;
  const T* k;
  const T* v;
  T* out;
  float* lse;                   // or NULL
  const int32_t* cu_seqlens_q;  // NULL: seqlen_q queries each
  const int32_t* cu_seqlens_k;  // NULL: seqlen_k keys each, or paged
  const int32_t* seqused_k;     // paged only
  const int32_t* page_table;    // NULL: keys are contiguous
  float* partial;               // [split][sequence][decode query][query head][dim], each normalised
  float* partial_lse;           // the same without dim, in units of log 2
  AttentionStrides q_strides;
  AttentionStrides k_strides;
  AttentionStrides v_strides;
  AttentionStrides out_strides;
  AttentionStrides lse_strides;
  int64_t page_table_stride;
  FastDivisor page_size;
  FastDivisor group;
  int32_t pages;
  int32_t max_keys;  // paged: what a row of the table can hold
  int32_t batch;
  int32_t q_heads;
  int32_t kv_heads;
  int32_t seqlen_q;
  int32_t seqlen_k;
  int32_t total_q;
  int32_t total_k;
  int32_t max_seqlen_q;
  int32_t decode_queries;  // the decode kernel's share: sequences with at most so many queries; -1: there is none
  int32_t row_tiles;       // decode: tiles of rows that a sequence of decode_queries has
  int32_t splits;
  float scale;    // to units of log 2, or with a softcap to natural units
  float factor;   // what is left to scale of a score in softmax_step's form
  float softcap;  // 0: none
  float inverse_softcap;
  AttentionMask mask;
  bool vector_q;  // rows are aligned to 16 bytes
  bool vector_kv;
  bool vector_out;
};

struct Sequence {
  int32_t q_begin;
  int32_t q_len;
  int32_t k_begin;
  int32_t k_len;
};

// False if what lies in device memory makes no sense.
template <class T>
MUSABENCH_DEVICE bool read_sequence(const AttentionArgs<T>& a, int32_t b, Sequence* s) {
  s->q_begin = 0;
  s->q_len = a.seqlen_q;
  s->k_begin = 0;
  s->k_len = a.seqlen_k;
  if (a.cu_seqlens_q != nullptr) {
    const int32_t begin = a.cu_seqlens_q[b];
    const int32_t end = a.cu_seqlens_q[b + 1];
    if (begin < 0 || end < begin || end > a.total_q) return false;
    s->q_begin = begin;
    s->q_len = end - begin;
  } else if (a.page_table != nullptr) {
    s->q_begin = b;
    s->q_len = 1;
  }
  if (a.cu_seqlens_k != nullptr) {
    const int32_t begin = a.cu_seqlens_k[b];
    const int32_t end = a.cu_seqlens_k[b + 1];
    if (begin < 0 || end < begin || end > a.total_k) return false;
    s->k_begin = begin;
    s->k_len = end - begin;
  } else if (a.page_table != nullptr) {
    s->k_len = a.seqused_k[b];
    if (s->k_len < 0 || s->k_len > a.max_keys || s->q_len > a.max_seqlen_q) return false;
  }
  return true;
}

// Keys that a query sees: [low, high), none if low >= high. Both ends grow with the query.
struct KeyRange {
  int32_t low;
  int32_t high;
};

template <class T>
MUSABENCH_DEVICE KeyRange visible_keys(const AttentionArgs<T>& a, const Sequence& s, int32_t query) {
  const int64_t diagonal = static_cast<int64_t>(query) + s.k_len - s.q_len;
  KeyRange range = {0, s.k_len};
  if (a.mask.window_left >= 0 && diagonal > a.mask.window_left) {
    range.low = static_cast<int32_t>(diagonal - a.mask.window_left);
  }
  if (a.mask.window_right >= 0 && diagonal + a.mask.window_right < s.k_len) {
    range.high = static_cast<int32_t>(diagonal + a.mask.window_right + 1);
  }
  return range;
}

// Rows [first_row, first_row + rows) of a sequence and key head, and the keys to attend to.
struct Tile {
  Sequence sequence;
  int32_t b;
  int32_t kv_head;
  int32_t first_row;
  int32_t rows;
  int32_t key_begin;
  int32_t key_end;   // <= key_begin: none
  KeyRange all_see;  // keys that every row sees: no mask is needed there
  int32_t split;     // -1: the result is final
};

// Sets the keys of a tile whose rows are known: all that any of its rows sees.
template <class T>
MUSABENCH_DEVICE void set_keys(const AttentionArgs<T>& a, Tile* t) {
  const KeyRange first = visible_keys(a, t->sequence, a.group.quotient(t->first_row));
  const KeyRange last = visible_keys(a, t->sequence, a.group.quotient(t->first_row + t->rows - 1));
  t->key_begin = first.low;
  t->key_end = last.high;
  t->all_see.low = last.low;
  t->all_see.high = first.high;
}

// A row's query and query head.
struct RowId {
  int32_t query;
  int32_t head;
};

template <class T>
MUSABENCH_DEVICE RowId row_id(const AttentionArgs<T>& a, const Tile& t, int32_t row) {
  const int32_t at = t.first_row + row;
  const int32_t query = a.group.quotient(at);
  return {query, t.kv_head * static_cast<int32_t>(a.group.divisor) + a.group.remainder(at, query)};
}

template <class T>
MUSABENCH_DEVICE const T* query_row(const AttentionArgs<T>& a, const Tile& t, int32_t row) {
  const RowId id = row_id(a, t, row);
  return a.q + (a.page_table == nullptr ? t.b * a.q_strides.outer : 0) +
         (t.sequence.q_begin + id.query) * a.q_strides.token + id.head * a.q_strides.head;
}

template <class T>
MUSABENCH_DEVICE int64_t partial_row(const AttentionArgs<T>& a, const Tile& t, const RowId& id) {
  return ((static_cast<int64_t>(t.split) * a.batch + t.b) * a.decode_queries + id.query) * a.q_heads + id.head;
}

// `lse` in units of log 2.
template <class T>
MUSABENCH_DEVICE void store_lse(const AttentionArgs<T>& a, const Tile& t, int32_t row, float lse) {
  const RowId id = row_id(a, t, row);
  if (t.split >= 0) {
    a.partial_lse[partial_row(a, t, id)] = lse;
  } else if (a.lse != nullptr) {
    a.lse[(a.page_table == nullptr ? t.b * a.lse_strides.outer : 0) +
          (t.sequence.q_begin + id.query) * a.lse_strides.token + id.head * a.lse_strides.head] =
        lse * 0.69314718055994530942f;
  }
}

// Eight neighbours as two halves a word.
template <class T>
MUSABENCH_DEVICE void store_packed8(T* to, const gpu::Vec<uint32_t, 4>& packed, bool vector) {
  if (vector) return gpu::store<4>(reinterpret_cast<uint32_t*>(to), packed);
#pragma unroll
  for (int i = 0; i < 8; ++i) to[i].bits = static_cast<uint16_t>(packed.at[i / 2] >> (16 * (i % 2)));
}

template <class T>
MUSABENCH_DEVICE T* output_row(const AttentionArgs<T>& a, const Tile& t, int32_t row) {
  const RowId id = row_id(a, t, row);
  return a.out + (a.page_table == nullptr ? t.b * a.out_strides.outer : 0) +
         (t.sequence.q_begin + id.query) * a.out_strides.token + id.head * a.out_strides.head;
}

// Elements [at, at + 8) of a row's normalised result.
template <class T, int kDim>
MUSABENCH_DEVICE void store_out8(const AttentionArgs<T>& a, const Tile& t, int32_t row, int32_t at,
                                 const float (&values)[8]) {
  if (t.split >= 0) {
    float* to = a.partial + partial_row(a, t, row_id(a, t, row)) * kDim + at;
    gpu::store<4>(to, gpu::Vec<float, 4>{{values[0], values[1], values[2], values[3]}});
    gpu::store<4>(to + 4, gpu::Vec<float, 4>{{values[4], values[5], values[6], values[7]}});
    return;
  }
  gpu::Vec<uint32_t, 4> packed;
#pragma unroll
  for (int i = 0; i < 4; ++i) packed.at[i] = gpu::pack<T>(values[2 * i], values[2 * i + 1]);
  store_packed8(output_row(a, t, row) + at, packed, a.vector_out);
}

template <class T>
MUSABENCH_DEVICE gpu::Vec<uint32_t, 4> load8(const T* from, bool vector) {
  if (vector) return gpu::load<4>(reinterpret_cast<const uint32_t*>(from));
  gpu::Vec<uint32_t, 4> packed;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    packed.at[i] = from[2 * i].bits | static_cast<uint32_t>(from[2 * i + 1].bits) << 16;
  }
  return packed;
}

template <class T>
MUSABENCH_DEVICE float low_half(uint32_t pair) {
  return gpu::to_float(T{static_cast<uint16_t>(pair)});
}
template <class T>
MUSABENCH_DEVICE float high_half(uint32_t pair) {
  return gpu::to_float(T{static_cast<uint16_t>(pair >> 16)});
}

// Where key `key` of a tile's sequence begins, in elements from a.k and a.v. Behind the tile's keys, or in a page that
// does not exist, which fails the kernel: k is 0, some key whose score will be masked, and v is -1, as a value has to
// be zero there: even a weight of 0 would keep its NaN.
struct KeyOffsets {
  int64_t k;
  int64_t v;
};

// The page of a key, or the key itself where keys are contiguous. Apart from key_offsets, so that it can be asked for
// long before it is used.
template <class T>
MUSABENCH_DEVICE int32_t page_of(const AttentionArgs<T>& a, const Tile& t, int32_t key) {
  if (a.page_table == nullptr || key >= t.key_end) return 0;
  return a.page_table[t.b * a.page_table_stride + a.page_size.quotient(key)];
}

template <class T>
MUSABENCH_DEVICE KeyOffsets key_offsets(const AttentionArgs<T>& a, const Tile& t, int32_t key, int32_t page) {
  if (key >= t.key_end) return {0, -1};
  int64_t outer;
  int32_t token;
  if (a.page_table == nullptr) {
    outer = t.b;
    token = t.sequence.k_begin + key;
  } else {
    if (page < 0 || page >= a.pages) {
      gpu::fail_illegal_address();
      return {0, -1};
    }
    outer = page;
    token = a.page_size.remainder(key, a.page_size.quotient(key));
  }
  return {outer * a.k_strides.outer + token * a.k_strides.token + t.kv_head * a.k_strides.head,
          outer * a.v_strides.outer + token * a.v_strides.token + t.kv_head * a.v_strides.head};
}

// cap * tanh(s / cap) in units of log 2, s in natural units; NaN for NaN. Where tanh is nearly the identity, its series
// times s loses nothing, which 1 - 2 / (e^2x + 1) would.
MUSABENCH_DEVICE float capped(float s, float cap, float inverse_cap) {
  constexpr float kLog2E = 1.44269504088896340736f;
  const float x = s * inverse_cap;
  const float x2 = x * x;
  // tanh(x) / x; up to |x| = 1/4 what is cut off is below 1e-8.
  float series = 62.0f / 2835;
  series = series * x2 - 17.0f / 315;
  series = series * x2 + 2.0f / 15;
  series = series * x2 - 1.0f / 3;
  series = series * x2 + 1.0f;
  const float e = gpu::fast_exp2((x > 12 ? 12 : x < -12 ? -12 : x) * (2 * kLog2E));  // beyond it tanh is 1 in fp32
  const float whole = cap * (1 - gpu::fast_divide(2, e + 1));
  return (x2 < 1.0f / 16 ? s * series : whole) * kLog2E;
}

// A raw dot product as a score in units of log 2.
template <class T>
MUSABENCH_DEVICE float score_of(const AttentionArgs<T>& a, float dot) {
  const float s = dot * a.scale;
  return a.softcap > 0 ? capped(s, a.softcap, a.inverse_softcap) : s;
}

MUSABENCH_DEVICE float negative_infinity() { return gpu::bits_to_float(0xff800000u); }

// What to subtract before exp2: where no key was seen yet, all weights are 2^-infinity.
MUSABENCH_DEVICE float softmax_base(float row_max) { return row_max == negative_infinity() ? 0 : row_max; }

// In units of log 2.
MUSABENCH_DEVICE float log_sum_exp(float row_max, float sum) {
  return sum == 0 ? negative_infinity() : row_max + log2f(sum);
}
MUSABENCH_DEVICE float inverse_of(float sum) { return sum == 0 ? 0 : 1 / sum; }

// Finds the tile of a block among the tiles of `tile_rows` rows that all sequences have, each sequence's last (with a
// causal mask: longest) first, and its sequence; false if there are fewer. All threads of the block take part.
// decode_queries: sequences with so few queries have none. `tiles_of_part` is shared memory.
template <class T>
MUSABENCH_DEVICE bool find_tile(const AttentionArgs<T>& a, int32_t tile, int32_t tile_rows,
                                int32_t (&tiles_of_part)[kThreads], Tile* t) {
  const int32_t thread = static_cast<int32_t>(threadIdx.x);
  const int32_t part = (a.batch + kThreads - 1) / kThreads;
  const auto tiles_of = [&](int32_t b, Sequence* s) -> int32_t {
    if (!read_sequence(a, b, s)) {
      gpu::fail_illegal_address();
      return 0;
    }
    if (s->q_len <= a.decode_queries) return 0;
    return static_cast<int32_t>((static_cast<int64_t>(s->q_len) * a.group.divisor + tile_rows - 1) / tile_rows);
  };
  int32_t tiles = 0;
  for (int32_t b = thread * part; b < a.batch && b < (thread + 1) * part; ++b) tiles += tiles_of(b, &t->sequence);
  tiles_of_part[thread] = tiles;
  __syncthreads();
  int32_t at = 0;
  while (at < kThreads && tile >= tiles_of_part[at]) tile -= tiles_of_part[at++];
  if (at == kThreads) return false;
  for (int32_t b = at * part; b < a.batch && b < (at + 1) * part; ++b) {
    tiles = tiles_of(b, &t->sequence);
    if (tile < tiles) {
      t->b = b;
      t->first_row = (tiles - 1 - tile) * tile_rows;
      const int64_t left = static_cast<int64_t>(t->sequence.q_len) * a.group.divisor - t->first_row;
      t->rows = left < tile_rows ? static_cast<int32_t>(left) : tile_rows;
      t->split = -1;
      return true;
    }
    tile -= tiles;
  }
  return false;
}

// The tile of a decode block; false if it has none.
template <class T>
MUSABENCH_DEVICE bool decode_tile(const AttentionArgs<T>& a, int32_t tile_rows, Tile* t) {
  // Blocks that read the same keys follow each other, and those of neighbouring heads, whose keys are neighbours.
  int32_t at = static_cast<int32_t>(blockIdx.x);
  const int32_t row_tile = at % a.row_tiles;
  at /= a.row_tiles;
  t->kv_head = at % a.kv_heads;
  at /= a.kv_heads;
  const int32_t split = at % a.splits;
  t->b = at / a.splits;
  if (!read_sequence(a, t->b, &t->sequence)) {
    gpu::fail_illegal_address();
    return false;
  }
  if (t->sequence.q_len > a.decode_queries) return false;
  const int32_t rows = t->sequence.q_len * static_cast<int32_t>(a.group.divisor);
  t->first_row = row_tile * tile_rows;
  if (t->first_row >= rows) return false;
  t->rows = rows - t->first_row < tile_rows ? rows - t->first_row : tile_rows;
  set_keys(a, t);
  t->split = a.splits > 1 ? split : -1;
  if (a.splits > 1 && t->key_end > t->key_begin) {
    constexpr int64_t kGrain = 16;
    const int64_t grains = (static_cast<int64_t>(t->key_end) - t->key_begin + kGrain - 1) / kGrain;
    const int64_t part = (grains + a.splits - 1) / a.splits * kGrain;
    const int64_t begin = t->key_begin + part * split;
    t->key_end = static_cast<int32_t>(begin + part < t->key_end ? begin + part : t->key_end);
    t->key_begin = static_cast<int32_t>(begin < t->key_end ? begin : t->key_end);
  }
  return true;
}

}  // namespace attention
}  // namespace musabench
