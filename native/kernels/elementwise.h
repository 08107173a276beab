// The small kernels of a transformer layer: parameters as every implementation takes them.
//
// Strides are in elements, rows contiguous. `dtype` is bf16 or fp16 and the type of all data not said to be
// otherwise; arithmetic is fp32 and results are rounded once, to nearest even. Each launch_ function queues its
// kernel on `stream` and returns 0 or the runtime's error code. No rows: nothing is queued.
#pragma once

#include <cstdint>

#include "dtype.h"

namespace musabench {

// out[t, h] = x[t, h] / sqrt(mean over h of x^2 + eps) * weight[h]. out may be x.
struct RmsNormParams {
  const void* x;
  const void* weight;
  void* out;
  int64_t tokens;
  int64_t hidden;
  int64_t x_stride;
  int64_t out_stride;
  float eps;
  Dtype dtype;
};
int launch_rms_norm(const RmsNormParams& params, void* stream);

// residual_out = x + residual, rounded to dtype; out = rms_norm(residual_out) * weight. out may be x, residual_out may
// be residual.
struct FusedAddRmsNormParams {
  const void* x;
  const void* residual;
  const void* weight;
  void* out;
  void* residual_out;
  int64_t tokens;
  int64_t hidden;
  int64_t x_stride;
  int64_t residual_stride;
  int64_t out_stride;
  int64_t residual_out_stride;
  float eps;
  Dtype dtype;
};
int launch_fused_add_rms_norm(const FusedAddRmsNormParams& params, void* stream);

// Greatest head_dim of qk_norm_rope.
constexpr int64_t kMaxRopeHeadDim = 1024;

// A row of qkv holds q_heads, then kv_heads of keys, then kv_heads of values (not used here), head_dim each. Every
// head of q and k is normalised (rms_norm over head_dim) if its weight is not NULL, then rotated, first half against
// second half, by the angle of the token's position: cos_sin[position] = cosines, then sines, of head_dim / 2 each.
// A position outside [0, max_position) stops the kernel with an illegal address.
struct QkNormRopeParams {
  const void* qkv;
  const void* q_weight;
  const void* k_weight;
  const float* cos_sin;
  const int32_t* positions;
  void* q_out;
  void* k_out;
  int64_t tokens;
  int64_t q_heads;
  int64_t kv_heads;
  int64_t head_dim;
  int64_t max_position;
  int64_t qkv_stride;
  int64_t cos_sin_stride;
  int64_t q_token_stride;
  int64_t q_head_stride;
  int64_t k_token_stride;
  int64_t k_head_stride;
  float eps;
  Dtype dtype;
};
int launch_qk_norm_rope(const QkNormRopeParams& params, void* stream);

// Copies each token's key and value into the page and place of its slot: slot = page * page_size + place. A negative
// slot is skipped; one past the last page stops the kernel with an illegal address.
struct KvCacheWriteParams {
  struct Side {
    const void* from;
    void* cache;
    int64_t head_dim;
    int64_t token_stride;
    int64_t head_stride;
    int64_t cache_page_stride;
    int64_t cache_place_stride;
    int64_t cache_head_stride;
  };
  Side k;
  Side v;
  const int64_t* slots;
  int64_t tokens;
  int64_t kv_heads;
  int64_t pages;
  int64_t page_size;
  Dtype dtype;
};
int launch_kv_cache_write(const KvCacheWriteParams& params, void* stream);

// out[t, f] = silu(x[t, f]) * x[t, features + f], silu(g) = g / (1 + e^-g).
struct SiluAndMulParams {
  const void* x;
  void* out;
  int64_t tokens;
  int64_t features;
  int64_t x_stride;
  int64_t out_stride;
  Dtype dtype;
};
int launch_silu_and_mul(const SiluAndMulParams& params, void* stream);

// out[t] = table[ids[t]]. An id outside [0, rows) stops the kernel with an illegal address.
struct EmbeddingParams {
  const int32_t* ids;
  const void* table;
  void* out;
  int64_t tokens;
  int64_t rows;
  int64_t hidden;
  int64_t table_stride;
  int64_t out_stride;
  Dtype dtype;
};
int launch_embedding(const EmbeddingParams& params, void* stream);

// out[t] = the lowest index of the greatest value of logits[t]; NaN counts as less than everything. dtype may be fp32.
struct ArgmaxParams {
  const void* logits;
  int32_t* out;
  int64_t tokens;
  int64_t vocabulary;  // >= 1
  int64_t logits_stride;
  Dtype dtype;
};
int launch_argmax(const ArgmaxParams& params, void* stream);

// out[i] = scale * z(i), z near the standard normal distribution and the same on every device:
//   h = (low half of i) * 0x9E3779B9 + (seed ^ high half of i) * 0x85EBCA6B in 32 bits, murmur3's finaliser of that;
//   z = (sum of the four bytes of h - 510) / 147.8, then * scale: fp32, each operation rounded.
// dtype may be fp32.
struct RandomFillParams {
  void* out;
  int64_t count;
  uint32_t seed;
  float scale;
  Dtype dtype;
};
int launch_random_fill(const RandomFillParams& params, void* stream);

}  // namespace musabench
