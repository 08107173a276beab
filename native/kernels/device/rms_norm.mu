#include <algorithm>

#include "../elementwise.h"
#include "gpu.h"

namespace musabench {
namespace {

using namespace gpu;

constexpr int kThreads = 256;
constexpr int64_t kBlocksPerProcessor = 32;
// Vectors of a row that a thread keeps in registers, enough for rows of 8192; what is beyond it reads twice.
constexpr int kKept = 4;

// A block a row. N elements at once. Add: of x + residual, which is stored rounded and then normalised as it was
// stored.
template <class T, int N, bool Add>
__global__ void __launch_bounds__(kThreads) rms_norm_kernel(FusedAddRmsNormParams p) {
  const int64_t vectors = p.hidden / N;
  for (int64_t row = blockIdx.x; row < p.tokens; row += gridDim.x) {
    const T* x = static_cast<const T*>(p.x) + row * p.x_stride;
    const T* residual = static_cast<const T*>(p.residual) + row * p.residual_stride;
    T* residual_out = static_cast<T*>(p.residual_out) + row * p.residual_out_stride;
    T* out = static_cast<T*>(p.out) + row * p.out_stride;
    const T* weight = static_cast<const T*>(p.weight);

    float squares = 0;
    const auto read = [&](int64_t i) {
      Vec<T, N> values = load<N>(x + i * N);
      if constexpr (Add) {
        const Vec<T, N> more = load<N>(residual + i * N);
#pragma unroll
        for (int e = 0; e < N; ++e) values.at[e] = from_float<T>(to_float(values.at[e]) + to_float(more.at[e]));
        store(residual_out + i * N, values);
      }
#pragma unroll
      for (int e = 0; e < N; ++e) squares += to_float(values.at[e]) * to_float(values.at[e]);
      return values;
    };
    Vec<T, N> kept[kKept];
#pragma unroll
    for (int j = 0; j < kKept; ++j) {
      const int64_t i = threadIdx.x + j * kThreads;
      if (i < vectors) kept[j] = read(i);
    }
    for (int64_t i = threadIdx.x + kKept * kThreads; i < vectors; i += kThreads) read(i);

    const float factor = 1.0f / sqrtf(block_sum<kThreads>(squares) / static_cast<float>(p.hidden) + p.eps);
    const auto write = [&](int64_t i, const Vec<T, N>& values) {
      const Vec<T, N> scale = load<N>(weight + i * N);
      Vec<T, N> result;
#pragma unroll
      for (int e = 0; e < N; ++e) {
        result.at[e] = from_float<T>(to_float(values.at[e]) * factor * to_float(scale.at[e]));
      }
      store(out + i * N, result);
    };
#pragma unroll
    for (int j = 0; j < kKept; ++j) {
      const int64_t i = threadIdx.x + j * kThreads;
      if (i < vectors) write(i, kept[j]);
    }
    for (int64_t i = threadIdx.x + kKept * kThreads; i < vectors; i += kThreads) {
      write(i, load<N>((Add ? residual_out : x) + i * N));
    }
  }
}

template <bool Add>
int launch_norm(const char* name, const FusedAddRmsNormParams& p, void* stream) {
  if (p.tokens == 0 || p.hidden == 0) return kSuccess;
  const Grid grid = {static_cast<uint32_t>(std::min(p.tokens, multiprocessors() * kBlocksPerProcessor))};
  const Output output = {p.out, ((p.tokens - 1) * p.out_stride + p.hidden) * dtype_bytes(p.dtype)};
  const bool by_eight = p.hidden % 8 == 0 && vectorizable(p.x, p.x_stride, 2, 8) &&
                        vectorizable(p.out, p.out_stride, 2, 8) && vectorizable(p.weight, 0, 2, 8) &&
                        (!Add || (vectorizable(p.residual, p.residual_stride, 2, 8) &&
                                  vectorizable(p.residual_out, p.residual_out_stride, 2, 8)));
  return with_half_type(p.dtype, [&](auto type) {
    using T = decltype(type);
    return by_eight ? launch<rms_norm_kernel<T, 8, Add>>(name, grid, kThreads, p, output, stream)
                    : launch<rms_norm_kernel<T, 1, Add>>(name, grid, kThreads, p, output, stream);
  });
}

}  // namespace

int launch_rms_norm(const RmsNormParams& p, void* stream) {
  FusedAddRmsNormParams all = {};
  all.x = p.x;
  all.weight = p.weight;
  all.out = p.out;
  all.tokens = p.tokens;
  all.hidden = p.hidden;
  all.x_stride = p.x_stride;
  all.out_stride = p.out_stride;
  all.eps = p.eps;
  all.dtype = p.dtype;
  return launch_norm<false>("rms_norm", all, stream);
}

int launch_fused_add_rms_norm(const FusedAddRmsNormParams& p, void* stream) {
  return launch_norm<true>("fused_add_rms_norm", p, stream);
}

}  // namespace musabench
