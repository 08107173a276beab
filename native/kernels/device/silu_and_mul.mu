#include <algorithm>

#include "../elementwise.h"
#include "gpu.h"

namespace musabench {
namespace {

using namespace gpu;

constexpr int kThreads = 256;
constexpr int64_t kMaxGridY = 65535;

// Blocks side by side share a row, N elements a thread.
template <class T, int N>
__global__ void __launch_bounds__(kThreads) silu_and_mul_kernel(SiluAndMulParams p) {
  const int64_t i = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * N;
  if (i >= p.features) return;
  for (int64_t row = blockIdx.y; row < p.tokens; row += gridDim.y) {
    const T* x = static_cast<const T*>(p.x) + row * p.x_stride;
    const Vec<T, N> gates = load<N>(x + i);
    const Vec<T, N> factors = load<N>(x + p.features + i);
    Vec<T, N> result;
#pragma unroll
    for (int e = 0; e < N; ++e) {
      const float gate = to_float(gates.at[e]);
      // expf, not the fast one: this kernel waits for memory anyway.
      result.at[e] = from_float<T>(gate / (1.0f + expf(-gate)) * to_float(factors.at[e]));
    }
    store(static_cast<T*>(p.out) + row * p.out_stride + i, result);
  }
}

}  // namespace

int launch_silu_and_mul(const SiluAndMulParams& p, void* stream) {
  if (p.tokens == 0 || p.features == 0) return kSuccess;
  const bool by_eight =
      p.features % 8 == 0 && vectorizable(p.x, p.x_stride, 2, 8) && vectorizable(p.out, p.out_stride, 2, 8);
  const int64_t columns = ceil_div(p.features, int64_t{kThreads} * (by_eight ? 8 : 1));
  if (columns > kMaxGridX) return kInvalidConfiguration;
  const Grid grid = {static_cast<uint32_t>(columns), static_cast<uint32_t>(std::min(p.tokens, kMaxGridY))};
  const Output output = {p.out, ((p.tokens - 1) * p.out_stride + p.features) * dtype_bytes(p.dtype)};
  return with_half_type(p.dtype, [&](auto type) {
    using T = decltype(type);
    return by_eight ? launch<silu_and_mul_kernel<T, 8>>("silu_and_mul", grid, kThreads, p, output, stream)
                    : launch<silu_and_mul_kernel<T, 1>>("silu_and_mul", grid, kThreads, p, output, stream);
  });
}

}  // namespace musabench
