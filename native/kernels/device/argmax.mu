#include <algorithm>

#include "../elementwise.h"
#include "gpu.h"

namespace musabench {
namespace {

using namespace gpu;

// A row is one block's, and a decode step has few rows: as many threads as a block may have.
constexpr int kThreads = 1024;
constexpr int64_t kBlocksPerProcessor = 32;

// The greatest so far and where it was first. Keys order as their numbers do, NaN below all.
struct Best {
  uint32_t key;
  int32_t index;
};

MUSABENCH_DEVICE uint32_t key_of(float value) {
  if (value != value) return 0;
  // -0 is equal to 0, whose index may be the greater one.
  const uint32_t bits = float_to_bits(value == 0 ? 0.0f : value);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

MUSABENCH_DEVICE void take(Best* best, Best other) {
  if (other.key > best->key || (other.key == best->key && other.index < best->index)) *best = other;
}

template <class T, int N>
__global__ void __launch_bounds__(kThreads) argmax_kernel(ArgmaxParams p) {
  __shared__ Best parts[kThreads / kWarp];
  for (int64_t row = blockIdx.x; row < p.tokens; row += gridDim.x) {
    const T* logits = static_cast<const T*>(p.logits) + row * p.logits_stride;
    const int64_t vectors = p.vocabulary / N;
    // NaNs only: index 0.
    Best best = {0, 0};
    bool any = false;
#pragma unroll 4
    for (int64_t i = threadIdx.x; i < vectors; i += kThreads) {
      const Vec<T, N> values = load<N>(logits + i * N);
#pragma unroll
      for (int e = 0; e < N; ++e) {
        const uint32_t key = key_of(to_float(values.at[e]));
        if (key > best.key) {
          best = {key, static_cast<int32_t>(i * N + e)};
          any = true;
        }
      }
    }
    if (!any) best.index = INT32_MAX;
#pragma unroll
    for (int mask = kWarp / 2; mask > 0; mask /= 2) {
      take(&best, {shuffle_xor(best.key, mask), shuffle_xor(best.index, mask)});
    }
    if (lane() == 0) parts[warp()] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int i = 1; i < kThreads / kWarp; ++i) take(&best, parts[i]);
      p.out[row] = best.index == INT32_MAX ? 0 : best.index;
    }
    __syncthreads();
  }
}

}  // namespace

int launch_argmax(const ArgmaxParams& p, void* stream) {
  if (p.tokens == 0) return kSuccess;
  const Grid grid = {static_cast<uint32_t>(std::min(p.tokens, multiprocessors() * kBlocksPerProcessor))};
  const Output output = {p.out, p.tokens * 4};
  return with_float_type(p.dtype, [&](auto type) {
    using T = decltype(type);
    constexpr int kVector = 16 / sizeof(T);
    const bool vectors = p.vocabulary % kVector == 0 && vectorizable(p.logits, p.logits_stride, sizeof(T), kVector);
    return vectors ? launch<argmax_kernel<T, kVector>>("argmax", grid, kThreads, p, output, stream)
                   : launch<argmax_kernel<T, 1>>("argmax", grid, kThreads, p, output, stream);
  });
}

}  // namespace musabench
