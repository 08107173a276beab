// What the files of the attention kernels call of each other; host code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "attention_device.h"

namespace musabench {
namespace attention {

// Rows of a decode tile: those of a tensor-core tile.
constexpr int32_t kDecodeRows = 16;

template <int Qk, int V>
struct HeadDims {
  static constexpr int kQk = Qk;
  static constexpr int kV = V;
};

// Calls f with the HeadDims of a call; the exports let no others pass.
template <class F>
int with_head_dims(int32_t dim_qk, int32_t dim_v, F f) {
  if (dim_qk == 192 && dim_v == 128) return f(HeadDims<192, 128>{});
  if (dim_qk == 64) return f(HeadDims<64, 64>{});
  if (dim_qk == 80) return f(HeadDims<80, 80>{});
  if (dim_qk == 96) return f(HeadDims<96, 96>{});
  if (dim_qk == 128) return f(HeadDims<128, 128>{});
  return f(HeadDims<256, 256>{});
}

// Whether all rows of a tensor of 16-bit elements begin at multiples of 16 bytes.
inline bool rows_vectorizable(const void* data, const AttentionStrides& strides) {
  return gpu::vectorizable(data, strides.outer | strides.token | strides.head, 2, 8);
}

// What is the same in FmhaParams and PagedParams.
template <class T, class Params>
AttentionArgs<T> common_args(const Params& p, const void* k, const void* v) {
  constexpr float kLog2E = 1.44269504088896340736f;
  AttentionArgs<T> a = {};
  a.q = static_cast<const T*>(p.q);
  a.k = static_cast<const T*>(k);
  a.v = static_cast<const T*>(v);
  a.out = static_cast<T*>(p.out);
  a.lse = p.lse;
  a.cu_seqlens_q = p.cu_seqlens_q;
  a.q_strides = p.q_strides;
  a.k_strides = p.k_strides;
  a.v_strides = p.v_strides;
  a.out_strides = p.out_strides;
  a.lse_strides = p.lse_strides;
  a.page_size = FastDivisor::of(1);
  a.row_tiles = 1;
  a.splits = 1;
  a.scale = p.softcap > 0 ? p.softmax_scale : p.softmax_scale * kLog2E;
  a.factor = p.softcap == 0 && a.scale > 0 ? a.scale : 1;
  a.softcap = p.softcap;
  // Finite for the least cap too, so that a score of 0 stays one.
  a.inverse_softcap = p.softcap > 0 ? std::min(1 / p.softcap, std::numeric_limits<float>::max()) : 0;
  a.mask = p.mask;
  a.vector_q = rows_vectorizable(p.q, p.q_strides);
  a.vector_kv = rows_vectorizable(k, p.k_strides) && rows_vectorizable(v, p.v_strides);
  a.vector_out = rows_vectorizable(p.out, p.out_strides);
  return a;
}

// Launches the tiles of all sequences with more than decode_queries queries. `rows`: query tokens times the query heads
// of a key head, of all sequences.
template <class T>
int launch_prefill_tiles(const char* name, const AttentionArgs<T>& args, int32_t dim_qk, int32_t dim_v, int64_t rows,
                         gpu::Output output, void* stream);

// Adds up the splits of all sequences with at most decode_queries queries.
template <class T>
int launch_combine(const char* name, const AttentionArgs<T>& args, int32_t dim, gpu::Output output, void* stream);

}  // namespace attention
}  // namespace musabench
