#include <algorithm>

#include "../elementwise.h"
#include "gpu.h"

namespace musabench {
namespace {

using namespace gpu;

constexpr int kThreads = 256;
constexpr int64_t kBlocksPerProcessor = 16;

// sum / 147.8 rounded to fp32, for the integers from -510 to 510, wherever a fused multiply-add is one: a division
// instruction may be off by one in the last place, or become a multiplication under a compiler's flag. The remainder
// of a quotient that is nearly right corrects it (Markstein's division).
MUSABENCH_DEVICE float divided(float sum) {
  constexpr float kDivisor = 147.8f;
  constexpr float kInverse = 1.0f / kDivisor;
  const float near = sum * kInverse;
  return fmaf(fmaf(-near, kDivisor, sum), kInverse, near);
}

template <class T>
__global__ void __launch_bounds__(kThreads) random_fill_kernel(RandomFillParams p) {
  T* out = static_cast<T*>(p.out);
  const int64_t step = int64_t{kThreads} * gridDim.x;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < p.count; i += step) {
    const auto low = static_cast<uint32_t>(i);
    const auto high = static_cast<uint32_t>(i >> 32);
    uint32_t h = low * 0x9E3779B9u + (p.seed ^ high) * 0x85EBCA6Bu;
    h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
    h = (h ^ (h >> 13)) * 0xC2B2AE35u;
    h ^= h >> 16;
    const auto sum = static_cast<int>((h & 255) + (h >> 8 & 255) + (h >> 16 & 255) + (h >> 24)) - 510;
    out[i] = from_float<T>(divided(static_cast<float>(sum)) * p.scale);
  }
}

}  // namespace

int launch_random_fill(const RandomFillParams& p, void* stream) {
  if (p.count == 0) return kSuccess;
  const int64_t blocks = std::min(ceil_div(p.count, kThreads), multiprocessors() * kBlocksPerProcessor);
  return with_float_type(p.dtype, [&](auto type) {
    return launch<random_fill_kernel<decltype(type)>>("random_fill", {static_cast<uint32_t>(blocks)}, kThreads, p,
                                                      {p.out, p.count * dtype_bytes(p.dtype)}, stream);
  });
}

}  // namespace musabench
