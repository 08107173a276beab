// Attention of many query rows. A tile of query rows that share a key head walks the keys kKeyTile at a time: keys
// (transposed) and values are unpacked to fp32 panels once, and two products of 6 x 16 register tiles, with the online
// softmax between them, stay in the core's second-level cache.
#pragma once

#include "attention_common_impl.h"

namespace musabench {
namespace MUSABENCH_ISA_NAMESPACE {
namespace {

constexpr int64_t kKeyPanel = 16;
constexpr int64_t kKeyTile = 128;

// c[6][16] (row stride c_stride) = a b, or c * factor + a b: a(r, i) = a[r * kRow + i * kStep], b(i, j) = b[i * 16 +
// j].
template <int kRow, int kStep, bool kAccumulate>
MUSABENCH_INLINE void multiply_6x16(const float* __restrict a, const float* __restrict b, int64_t depth,
                                    float* __restrict c, int64_t c_stride, const float* factor) {
  F8 acc[kRowPanel][2];
#pragma GCC unroll 6
  for (int r = 0; r < kRowPanel; ++r) {
    if (kAccumulate) {
      acc[r][0] = load8(c + r * c_stride) * splat(factor[r]);
      acc[r][1] = load8(c + r * c_stride + 8) * splat(factor[r]);
    } else {
      acc[r][0] = acc[r][1] = zero8();
    }
  }
#pragma GCC unroll 4
  for (int64_t i = 0; i < depth; ++i) {
    const F8 b0 = load8(b + i * 16);
    const F8 b1 = load8(b + i * 16 + 8);
#pragma GCC unroll 6
    for (int r = 0; r < kRowPanel; ++r) {
      const F8 x = splat(a[r * kRow + i * kStep]);
      acc[r][0] = fma8(x, b0, acc[r][0]);
      acc[r][1] = fma8(x, b1, acc[r][1]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRowPanel; ++r) {
    store8(c + r * c_stride, acc[r][0]);
    store8(c + r * c_stride + 8, acc[r][1]);
  }
}

// Keys of 16 tokens as [dim][16].
template <class T>
MUSABENCH_INLINE void pack_keys(const T* const* rows, int64_t dim, float* panel) {
  for (int half = 0; half < 2; ++half) {
    const T* const* row = rows + half * 8;
    for (int64_t d = 0; d < dim; d += 16) {
      F8 a[8];
      F8 b[8];
      for (int j = 0; j < 8; ++j) load16(row[j] + d, &a[j], &b[j]);
      store_transposed(a, panel + d * 16 + half * 8, kKeyPanel);
      store_transposed(b, panel + (d + 8) * 16 + half * 8, kKeyPanel);
    }
  }
}

// Values of n tokens as [dim / 16][kKeyTile][16].
template <class T>
MUSABENCH_INLINE void pack_values(const T* const* rows, int64_t n, int64_t dim, float* panels) {
  for (int64_t j = 0; j < n; ++j) {
    const T* row = rows[j];
    for (int64_t d = 0; d < dim; d += 16) {
      F8 a;
      F8 b;
      load16(row + d, &a, &b);
      float* to = panels + d * kKeyTile + j * 16;
      store8(to, a);
      store8(to + 8, b);
    }
  }
}

template <class T>
struct PrefillTile {
  // Of the sequence's first token and the tile's first head.
  const T* q;
  T* out;
  float* lse;  // or NULL
  AttentionStrides q_strides;
  AttentionStrides out_strides;
  AttentionStrides lse_strides;
  KvSource<T> kv;
  int64_t q_len;
  int64_t k_len;
  int64_t group;      // query heads of a key head
  int64_t first_row;  // row = query * group + query head
  int64_t rows;
  int64_t dim_qk;
  int64_t dim_v;
  float softmax_scale;
  float softcap;
  AttentionMask mask;
};

template <class T>
size_t prefill_scratch_bytes(int64_t tile_rows, int64_t dim_qk, int64_t dim_v) {
  const int64_t floats = (tile_rows + kKeyTile) * (dim_qk + dim_v) + tile_rows * (kKeyTile + 3) + 3 * 8;
  const int64_t words = 2 * tile_rows + 4 * (tile_rows / kRowPanel) + 4 * kKeyTile;
  return arena_bytes(floats * 4 + words * 8 + dim_qk * 2, 18);
}

// False if a page number is out of range.
template <class T>
bool prefill_tile(const PrefillTile<T>& t, Arena arena) {
  const int64_t panels = ceil_div(t.rows, kRowPanel);
  const int64_t padded = panels * kRowPanel;
  float* q = arena.take<float>(padded * t.dim_qk);   // [panel][dim_qk][6]
  float* acc = arena.take<float>(padded * t.dim_v);  // [row][dim_v]
  float* keys = arena.take<float>(kKeyTile * t.dim_qk);
  float* values = arena.take<float>(kKeyTile * t.dim_v);
  float* scores = arena.take<float>(padded * kKeyTile);  // [row][kKeyTile]
  float* row_max = arena.take<float>(padded + 8);
  float* row_sum = arena.take<float>(padded + 8);
  float* factor = arena.take<float>(padded + 8);
  int64_t* low = arena.take<int64_t>(padded);
  int64_t* high = arena.take<int64_t>(padded);
  int64_t* panel_low = arena.take<int64_t>(panels);
  int64_t* panel_high = arena.take<int64_t>(panels);
  int64_t* panel_begin = arena.take<int64_t>(panels);  // columns of the key tile that the panel sees some of
  int64_t* panel_end = arena.take<int64_t>(panels);
  const T** k_rows = arena.take<const T*>(kKeyTile);
  const T** v_rows = arena.take<const T*>(kKeyTile);
  const T** next_k_rows = arena.take<const T*>(kKeyTile);
  const T** next_v_rows = arena.take<const T*>(kKeyTile);
  T* no_key = arena.take<T>(t.dim_qk);  // stands for keys behind the last

  const float cap = t.softcap;
  const float scale = cap > 0 ? t.softmax_scale : t.softmax_scale * kLog2E;
  memset(static_cast<void*>(no_key), 0, t.dim_qk * sizeof(T));
  memset(acc, 0, padded * t.dim_v * sizeof(float));
  int64_t key_begin = INT64_MAX;
  int64_t key_end = 0;
  for (int64_t p = 0; p < panels; ++p) {
    panel_low[p] = INT64_MAX;
    panel_high[p] = 0;
    for (int64_t r = 0; r < kRowPanel; ++r) {
      const int64_t row = p * kRowPanel + r;
      row_max[row] = -INFINITY;
      row_sum[row] = 0;
      low[row] = high[row] = 0;
      float* to = q + p * kRowPanel * t.dim_qk + r;
      if (row >= t.rows) {
        for (int64_t d = 0; d < t.dim_qk; ++d) to[d * kRowPanel] = 0;
        continue;
      }
      const int64_t i = (t.first_row + row) / t.group;
      const T* from = t.q + i * t.q_strides.token + (t.first_row + row) % t.group * t.q_strides.head;
      for (int64_t d = 0; d < t.dim_qk; d += 16) {
        F8 a;
        F8 b;
        load16(from + d, &a, &b);
        for (int j = 0; j < 8; ++j) {
          to[(d + j) * kRowPanel] = a[j] * scale;
          to[(d + 8 + j) * kRowPanel] = b[j] * scale;
        }
      }
      visible_keys(t.mask, i, t.q_len, t.k_len, &low[row], &high[row]);
      if (low[row] < high[row]) {
        panel_low[p] = min64(panel_low[p], low[row]);
        panel_high[p] = max64(panel_high[p], high[row]);
      }
    }
    key_begin = min64(key_begin, panel_low[p]);
    key_end = max64(key_end, panel_high[p]);
  }

  if (key_begin < key_end && !t.kv.rows(key_begin, min64(kKeyTile, key_end - key_begin), next_k_rows, next_v_rows)) {
    return false;
  }
  for (int64_t first = key_begin; first < key_end; first += kKeyTile) {
    const int64_t n = min64(kKeyTile, key_end - first);
    const T** swap = k_rows;
    k_rows = next_k_rows;
    next_k_rows = swap;
    swap = v_rows;
    v_rows = next_v_rows;
    next_v_rows = swap;
    const int64_t next_n = max64(0, min64(kKeyTile, key_end - first - kKeyTile));
    if (next_n > 0 && !t.kv.rows(first + kKeyTile, next_n, next_k_rows, next_v_rows)) return false;

    for (int64_t p = 0; p < panels; ++p) {
      panel_begin[p] = panel_high[p] > 0 ? max64(0, panel_low[p] - first) / kKeyPanel * kKeyPanel : 0;
      panel_end[p] = max64(0, round_up(min64(n, panel_high[p] - first), kKeyPanel));
    }
    for (int64_t j = n; j < round_up(n, kKeyPanel); ++j) k_rows[j] = no_key;
    for (int64_t j = 0; j < n; j += kKeyPanel) {
      float* panel = keys + j * t.dim_qk;
      pack_keys(k_rows + j, t.dim_qk, panel);
      for (int64_t p = 0; p < panels; ++p) {
        if (j < panel_begin[p] || j >= panel_end[p]) continue;
        multiply_6x16<1, kRowPanel, false>(q + p * kRowPanel * t.dim_qk, panel, t.dim_qk,
                                           scores + p * kRowPanel * kKeyTile + j, kKeyTile, nullptr);
      }
      // The next tile's rows lie strided in memory, which no hardware prefetcher sees through.
      for (int64_t i = j; i < min64(j + kKeyPanel, next_n); ++i) {
        for (int64_t d = 0; d < t.dim_qk; d += 32) fetch_to_l2(next_k_rows[i] + d);
        for (int64_t d = 0; d < t.dim_v; d += 32) fetch_to_l2(next_v_rows[i] + d);
      }
    }
    for (int64_t p = 0; p < panels; ++p) {
      const int64_t begin = panel_begin[p];
      const int64_t width = panel_end[p] - begin;
      if (width <= 0) continue;
      float* panel_scores = scores + p * kRowPanel * kKeyTile + begin;
      for (int64_t r = 0; r < kRowPanel; ++r) {
        const int64_t row = p * kRowPanel + r;
        if (cap > 0 || low[row] > first + begin || high[row] < first + begin + width) {
          cap_and_mask(panel_scores + r * kKeyTile, width, cap, first + begin, low[row], high[row]);
        }
      }
      softmax_step(panel_scores, kKeyTile, kRowPanel, width, row_max + p * kRowPanel, row_sum + p * kRowPanel,
                   factor + p * kRowPanel);
    }
    pack_values(v_rows, n, t.dim_v, values);
    for (int64_t d = 0; d < t.dim_v; d += 16) {
      for (int64_t p = 0; p < panels; ++p) {
        const int64_t begin = panel_begin[p];
        const int64_t end = min64(panel_end[p], n);
        if (begin >= end) continue;
        multiply_6x16<kKeyTile, 1, true>(scores + p * kRowPanel * kKeyTile + begin, values + d * kKeyTile + begin * 16,
                                         end - begin, acc + p * kRowPanel * t.dim_v + d, t.dim_v,
                                         factor + p * kRowPanel);
      }
    }
  }

  for (int64_t row = 0; row < t.rows; ++row) {
    const int64_t i = (t.first_row + row) / t.group;
    const int64_t head = (t.first_row + row) % t.group;
    store_row(t.out + i * t.out_strides.token + head * t.out_strides.head, acc + row * t.dim_v, t.dim_v, row_sum[row]);
    if (t.lse != nullptr) {
      t.lse[i * t.lse_strides.token + head * t.lse_strides.head] = log_sum_exp(row_max[row], row_sum[row]);
    }
  }
  return true;
}

// Finds the tile of a block among those of all sequences, each sequence's last (with a causal mask: longest) first.
// `rows_of(b)` gives a sequence's rows, 0 for none.
template <class RowsOf>
MUSABENCH_INLINE bool find_tile(uint32_t tile, int64_t batch, int64_t tile_rows, RowsOf rows_of, int64_t* sequence,
                                int64_t* first_row, int64_t* rows) {
  int64_t left = tile;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t all = rows_of(b);
    const int64_t tiles = ceil_div(all, tile_rows);
    if (left < tiles) {
      *sequence = b;
      *first_row = (tiles - 1 - left) * tile_rows;
      *rows = min64(tile_rows, all - *first_row);
      return true;
    }
    left -= tiles;
  }
  return false;
}

// Whether cu[b], cu[b + 1] are a range within [0, total].
MUSABENCH_INLINE bool is_range(const int32_t* cu, int64_t b, int64_t total) {
  return cu[b] >= 0 && cu[b] <= cu[b + 1] && cu[b + 1] <= total;
}

template <class T>
void fmha_prefill(const FmhaLaunch& launch, uint32_t block) {
  const FmhaParams& p = launch.params;
  const int64_t group = p.q_heads / p.kv_heads;
  const int64_t kv_head = block % p.kv_heads;
  bool broken = false;
  int64_t b;
  int64_t first_row;
  int64_t rows;
  const bool found = find_tile(
      block / p.kv_heads, p.batch, launch.tile_rows,
      [&](int64_t i) -> int64_t {
        if (p.cu_seqlens_q == nullptr) return p.seqlen_q * group;
        if (!is_range(p.cu_seqlens_q, i, p.total_q) || !is_range(p.cu_seqlens_k, i, p.total_k)) {
          broken = true;
          return 0;
        }
        return (p.cu_seqlens_q[i + 1] - p.cu_seqlens_q[i]) * group;
      },
      &b, &first_row, &rows);
  if (broken) return musaHostKernelFail(musaErrorIllegalAddress);
  if (!found) return;
  const bool varlen = p.cu_seqlens_q != nullptr;
  const int64_t q_begin = varlen ? p.cu_seqlens_q[b] : 0;
  const int64_t k_begin = varlen ? p.cu_seqlens_k[b] : 0;
  PrefillTile<T> t;
  t.q = static_cast<const T*>(p.q) + b * p.q_strides.outer + q_begin * p.q_strides.token +
        kv_head * group * p.q_strides.head;
  t.out = static_cast<T*>(p.out) + b * p.out_strides.outer + q_begin * p.out_strides.token +
          kv_head * group * p.out_strides.head;
  t.lse = p.lse == nullptr
              ? nullptr
              : p.lse + b * p.lse_strides.outer + q_begin * p.lse_strides.token + kv_head * group * p.lse_strides.head;
  t.q_strides = p.q_strides;
  t.out_strides = p.out_strides;
  t.lse_strides = p.lse_strides;
  t.kv.k =
      static_cast<const T*>(p.k) + b * p.k_strides.outer + k_begin * p.k_strides.token + kv_head * p.k_strides.head;
  t.kv.v =
      static_cast<const T*>(p.v) + b * p.v_strides.outer + k_begin * p.v_strides.token + kv_head * p.v_strides.head;
  t.kv.k_strides = p.k_strides;
  t.kv.v_strides = p.v_strides;
  t.kv.table = nullptr;
  t.kv.page_size = 0;
  t.kv.pages = 0;
  t.q_len = varlen ? p.cu_seqlens_q[b + 1] - q_begin : p.seqlen_q;
  t.k_len = varlen ? p.cu_seqlens_k[b + 1] - k_begin : p.seqlen_k;
  t.group = group;
  t.first_row = first_row;
  t.rows = rows;
  t.dim_qk = p.head_dim_qk;
  t.dim_v = p.head_dim_v;
  t.softmax_scale = p.softmax_scale;
  t.softcap = p.softcap;
  t.mask = p.mask;
  void* scratch = musaHostLaneScratch(prefill_scratch_bytes<T>(launch.tile_rows, t.dim_qk, t.dim_v));
  if (scratch == nullptr) return musaHostKernelFail(musaErrorMemoryAllocation);
  prefill_tile(t, Arena{static_cast<char*>(scratch)});
}

}  // namespace

void fmha_prefill_block(const void* launch, uint32_t block, uint32_t) {
  const FmhaLaunch& l = *static_cast<const FmhaLaunch*>(launch);
  if (l.params.dtype == Dtype::kBFloat16) {
    fmha_prefill<Bf16>(l, block);
  } else {
    fmha_prefill<Fp16>(l, block);
  }
}

}  // namespace MUSABENCH_ISA_NAMESPACE
}  // namespace musabench
