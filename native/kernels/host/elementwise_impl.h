// The small kernels of a layer, once for every instruction set (see simd.h).
#include <math.h>

#include "../../abi/musart_host.h"
#include "elementwise_plan.h"
#include "simd.h"

namespace musabench {
namespace MUSABENCH_ISA_NAMESPACE {
namespace {

MUSABENCH_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// body(i, count) for 0, 8, 16, ...: count is 8, and the rest at the end. Inlined, the first is a constant.
template <class Body>
MUSABENCH_INLINE void by_eight(int64_t n, Body body) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) body(i, int64_t{8});
  if (i < n) body(i, n - i);
}
template <class T>
MUSABENCH_INLINE F8 load_up_to8(const T* p, int64_t count) {
  return count == 8 ? load8(p) : load_first(p, count);
}
template <class T>
MUSABENCH_INLINE void store_up_to8(T* p, int64_t count, F8 v) {
  if (count == 8) {
    store8(p, v);
  } else {
    store_first(p, count, v);
  }
}

template <class T>
MUSABENCH_INLINE float sum_of_squares(const T* row, int64_t n) {
  F8 sums[4] = {zero8(), zero8(), zero8(), zero8()};
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const F8 x = load8(row + i + 8 * j);
      sums[j] = fma8(x, x, sums[j]);
    }
  }
  by_eight(n - i, [&](int64_t at, int64_t count) {
    const F8 x = load_up_to8(row + i + at, count);
    sums[0] = fma8(x, x, sums[0]);
  });
  return sum_of((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

MUSABENCH_INLINE float inverse_rms(float squares, int64_t n, float eps) {
  return 1.0f / sqrtf(squares / static_cast<float>(n) + eps);
}

template <class T>
MUSABENCH_INLINE void normalise(const T* x, const T* weight, float factor, T* out, int64_t n) {
  by_eight(n, [&](int64_t i, int64_t count) {
    store_up_to8(out + i, count, load_up_to8(x + i, count) * factor * load_up_to8(weight + i, count));
  });
}

template <class T>
void rms_norm_rows(const RmsNormParams& p, int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t) {
    const T* x = static_cast<const T*>(p.x) + t * p.x_stride;
    const float factor = inverse_rms(sum_of_squares(x, p.hidden), p.hidden, p.eps);
    normalise(x, static_cast<const T*>(p.weight), factor, static_cast<T*>(p.out) + t * p.out_stride, p.hidden);
  }
}

template <class T>
void fused_add_rms_norm_rows(const FusedAddRmsNormParams& p, int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t) {
    const T* x = static_cast<const T*>(p.x) + t * p.x_stride;
    const T* residual = static_cast<const T*>(p.residual) + t * p.residual_stride;
    T* sum = static_cast<T*>(p.residual_out) + t * p.residual_out_stride;
    F8 squares[2] = {zero8(), zero8()};
    by_eight(p.hidden, [&](int64_t i, int64_t count) {
      const F8 y = rounded_to(load_up_to8(x + i, count) + load_up_to8(residual + i, count), sum);
      store_up_to8(sum + i, count, y);
      F8& square = squares[i / 8 % 2];
      square = fma8(y, y, square);
    });
    const float factor = inverse_rms(sum_of(squares[0] + squares[1]), p.hidden, p.eps);
    normalise(sum, static_cast<const T*>(p.weight), factor, static_cast<T*>(p.out) + t * p.out_stride, p.hidden);
  }
}

// One head: x normalised if there is a weight, then rotated.
template <class T>
MUSABENCH_INLINE void norm_rope_head(const T* x, const T* weight, const float* cos_sin, float eps, int64_t dim,
                                     T* out) {
  const int64_t half = dim / 2;
  const float factor = weight != nullptr ? inverse_rms(sum_of_squares(x, dim), dim, eps) : 1.0f;
  by_eight(half, [&](int64_t i, int64_t count) {
    F8 first = load_up_to8(x + i, count);
    F8 second = load_up_to8(x + half + i, count);
    if (weight != nullptr) {
      first = first * factor * load_up_to8(weight + i, count);
      second = second * factor * load_up_to8(weight + half + i, count);
    }
    const F8 cosine = load_up_to8(cos_sin + i, count);
    const F8 sine = load_up_to8(cos_sin + half + i, count);
    store_up_to8(out + i, count, first * cosine - second * sine);
    store_up_to8(out + half + i, count, second * cosine + first * sine);
  });
}

template <class T>
void qk_norm_rope_rows(const QkNormRopeParams& p, int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t) {
    const int64_t position = p.positions[t];
    if (position < 0 || position >= p.max_position) return musaHostKernelFail(musaErrorIllegalAddress);
    const float* cos_sin = p.cos_sin + position * p.cos_sin_stride;
    const T* row = static_cast<const T*>(p.qkv) + t * p.qkv_stride;
    for (int64_t h = 0; h < p.q_heads; ++h) {
      norm_rope_head(row + h * p.head_dim, static_cast<const T*>(p.q_weight), cos_sin, p.eps, p.head_dim,
                     static_cast<T*>(p.q_out) + t * p.q_token_stride + h * p.q_head_stride);
    }
    for (int64_t h = 0; h < p.kv_heads; ++h) {
      norm_rope_head(row + (p.q_heads + h) * p.head_dim, static_cast<const T*>(p.k_weight), cos_sin, p.eps, p.head_dim,
                     static_cast<T*>(p.k_out) + t * p.k_token_stride + h * p.k_head_stride);
    }
  }
}

template <class T>
void silu_and_mul_rows(const SiluAndMulParams& p, int64_t begin, int64_t end, int64_t from, int64_t to) {
  for (int64_t t = begin; t < end; ++t) {
    const T* gate = static_cast<const T*>(p.x) + t * p.x_stride + from;
    const T* up = gate + p.features;
    T* out = static_cast<T*>(p.out) + t * p.out_stride + from;
    by_eight(to - from, [&](int64_t i, int64_t count) {
      const F8 g = load_up_to8(gate + i, count);
      store_up_to8(out + i, count, g / (exp8(-g) + 1.0f) * load_up_to8(up + i, count));
    });
  }
}

template <class T>
int32_t argmax_row(const T* row, int64_t n) {
  // Lane j of best holds the greatest of elements j, j + 8, ... and its index; > keeps the lowest index.
  F8 best = splat(-INFINITY);
  I8 where = {0, 1, 2, 3, 4, 5, 6, 7};
  I8 index = where;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const F8 x = load8(row + i);
    const I8 greater = x > best;
    best = greater ? x : best;
    where = greater ? index : where;
    index += 8;
  }
  float value = -INFINITY;
  int32_t at = 0;
  for (int j = 0; j < 8; ++j) {
    if (best[j] > value || (best[j] == value && where[j] < at)) {
      value = best[j];
      at = where[j];
    }
  }
  for (; i < n; ++i) {
    const float x = to_float(row[i]);
    if (x > value) {
      value = x;
      at = static_cast<int32_t>(i);
    }
  }
  return at;
}

template <class T>
void argmax_rows(const ArgmaxParams& p, int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t) {
    p.out[t] = argmax_row(static_cast<const T*>(p.logits) + t * p.logits_stride, p.vocabulary);
  }
}

// The elements [begin, end), whose indices share their high half.
template <class T>
void random_fill_range(const RandomFillParams& p, int64_t begin, int64_t end) {
  const uint32_t high = static_cast<uint32_t>(static_cast<uint64_t>(begin) >> 32);
  const uint32_t offset = (p.seed ^ high) * 0x85EBCA6Bu;
  T* out = static_cast<T*>(p.out) + begin;
  const U8 lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  by_eight(end - begin, [&](int64_t i, int64_t count) {
    U8 h = (lanes + static_cast<uint32_t>(begin + i)) * 0x9E3779B9u + offset;
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    h ^= h >> 16;
    const U8 sum = (h & 0xffu) + (h >> 8 & 0xffu) + (h >> 16 & 0xffu) + (h >> 24);
    const F8 z = __builtin_convertvector((I8)sum - 510, F8) / 147.8f;
    store_up_to8(out + i, count, z * p.scale);
  });
}

}  // namespace

#define MUSABENCH_ROWS_BLOCK(kernel, Params)                                                            \
  void kernel##_block(const void* blocked, uint32_t block, uint32_t) {                                  \
    const Blocked<Params>& plan = *static_cast<const Blocked<Params>*>(blocked);                        \
    const int64_t begin = block * plan.per_block;                                                       \
    const int64_t end = smaller(begin + plan.per_block, plan.params.tokens);                            \
    const bool bf16 = plan.params.dtype == Dtype::kBFloat16;                                            \
    bf16 ? kernel##_rows<Bf16>(plan.params, begin, end) : kernel##_rows<Fp16>(plan.params, begin, end); \
  }
MUSABENCH_ROWS_BLOCK(rms_norm, RmsNormParams)
MUSABENCH_ROWS_BLOCK(fused_add_rms_norm, FusedAddRmsNormParams)
MUSABENCH_ROWS_BLOCK(qk_norm_rope, QkNormRopeParams)
#undef MUSABENCH_ROWS_BLOCK

void silu_and_mul_block(const void* blocked, uint32_t block, uint32_t) {
  const Blocked<SiluAndMulParams>& plan = *static_cast<const Blocked<SiluAndMulParams>*>(blocked);
  const SiluAndMulParams& p = plan.params;
  const int64_t columns = (p.features + kSiluBlockColumns - 1) / kSiluBlockColumns;
  const int64_t begin = block / columns * plan.per_block;
  const int64_t end = smaller(begin + plan.per_block, p.tokens);
  const int64_t from = block % columns * kSiluBlockColumns;
  const int64_t to = smaller(from + kSiluBlockColumns, p.features);
  p.dtype == Dtype::kBFloat16 ? silu_and_mul_rows<Bf16>(p, begin, end, from, to)
                              : silu_and_mul_rows<Fp16>(p, begin, end, from, to);
}

void argmax_block(const void* blocked, uint32_t block, uint32_t) {
  const Blocked<ArgmaxParams>& plan = *static_cast<const Blocked<ArgmaxParams>*>(blocked);
  const ArgmaxParams& p = plan.params;
  const int64_t begin = block * plan.per_block;
  const int64_t end = smaller(begin + plan.per_block, p.tokens);
  if (p.dtype == Dtype::kFloat32) return argmax_rows<float>(p, begin, end);
  p.dtype == Dtype::kBFloat16 ? argmax_rows<Bf16>(p, begin, end) : argmax_rows<Fp16>(p, begin, end);
}

void random_fill_block(const void* blocked, uint32_t block, uint32_t) {
  const Blocked<RandomFillParams>& plan = *static_cast<const Blocked<RandomFillParams>*>(blocked);
  const RandomFillParams& p = plan.params;
  const int64_t last = smaller((block + int64_t{1}) * plan.per_block, p.count);
  for (int64_t begin = block * plan.per_block; begin < last;) {
    const int64_t end = smaller(last, ((begin >> 32) + 1) << 32);
    if (p.dtype == Dtype::kFloat32) {
      random_fill_range<float>(p, begin, end);
    } else if (p.dtype == Dtype::kBFloat16) {
      random_fill_range<Bf16>(p, begin, end);
    } else {
      random_fill_range<Fp16>(p, begin, end);
    }
    begin = end;
  }
}

}  // namespace MUSABENCH_ISA_NAMESPACE
}  // namespace musabench
