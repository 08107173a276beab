#include "../roof.h"
#include "gpu.h"

namespace musabench {
namespace {

using namespace gpu;

// What is measured is what the device's compiler has for products of matrices: on NVIDIA bf16 tensor cores by warp-wide
// mma.sync with fp32 sums, which from Hopper on is not all that the chip could do (warp-group instructions reach
// more); elsewhere fp32 multiply-adds.
#if defined(MUSABENCH_DEVICE_EMULATED)
// As little as shows that it runs.
constexpr int kThreads = kMaxWarp;
constexpr int kBlocksPerProcessor = 1;
constexpr int kSums = 2;
constexpr int kRounds = 1;
#else
constexpr int kThreads = 256;
constexpr int kBlocksPerProcessor = 2;
// Independent sums hide an instruction's latency.
constexpr int kSums = kHasMma ? 8 : 16;
constexpr int kRounds = kHasMma ? 1 : 2;
#endif

// Of one instruction: a thread's multiply-add, or a thread's share of a warp's 16 x 8 x 16 of them.
constexpr int64_t kFlopsPerThread = kHasMma ? 2 * 16 * 8 * 16 / 32 : 2;

#if defined(MUSABENCH_DEVICE_CUDA) || defined(MUSABENCH_DEVICE_EMULATED)
__global__ void __launch_bounds__(kThreads) peak_mma_kernel(PeakFlopsParams p) {
  // Numbers of both signs and no pattern: all zeros would need less power, and so clock higher.
  uint32_t a[4];
  uint32_t b[2];
  for (int i = 0; i < 4; ++i) {
    const uint32_t noise = (threadIdx.x * 4 + i + 1) * 0x9E3779B9u;
    a[i] = 0x3c003c00u | (noise & 0x807f807fu);
    if (i < 2) b[i] = 0x3c003c00u | (noise >> 3 & 0x807f807fu);
  }
  float d[kSums][4] = {};
  if constexpr (kHasMma) {
    for (int64_t n = 0; n < p.iterations; ++n) {
#pragma unroll
      for (int r = 0; r < kRounds; ++r) {
#pragma unroll
        for (int s = 0; s < kSums; ++s) mma_16x8x16<Bf16>(d[s], a, b);
      }
    }
  }
  float sum = 0;
  for (int s = 0; s < kSums; ++s) sum += d[s][0] + d[s][1] + d[s][2] + d[s][3];
  // The second condition never holds and keeps the other threads' work.
  if ((blockIdx.x == 0 && threadIdx.x == 0) || p.iterations < 0) p.out[0] = sum;
}
#endif

__global__ void __launch_bounds__(kThreads) peak_fma_kernel(PeakFlopsParams p) {
  float sums[kSums];
  for (int s = 0; s < kSums; ++s) sums[s] = static_cast<float>(threadIdx.x + s);
  // They stay finite: each sum tends to addend / (1 - factor).
  const float factor = 0.5f + static_cast<float>(threadIdx.x) * 0x1p-12f;
  const float addend = 1.0f + static_cast<float>(threadIdx.x) * 0x1p-10f;
  for (int64_t n = 0; n < p.iterations; ++n) {
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
#pragma unroll
      for (int s = 0; s < kSums; ++s) sums[s] = fmaf(sums[s], factor, addend);
    }
  }
  float sum = 0;
  for (int s = 0; s < kSums; ++s) sum += sums[s];
  if ((blockIdx.x == 0 && threadIdx.x == 0) || p.iterations < 0) p.out[0] = sum;
}

int64_t blocks() { return multiprocessors() * kBlocksPerProcessor; }

}  // namespace

int launch_peak_flops(const PeakFlopsParams& p, void* stream) {
  const Grid grid = {static_cast<uint32_t>(blocks())};
#if defined(MUSABENCH_DEVICE_CUDA) || defined(MUSABENCH_DEVICE_EMULATED)
  if constexpr (kHasMma) {
    return launch<peak_mma_kernel>("peak_flops", grid, kThreads, p, {p.out, sizeof(float)}, stream);
  }
#endif
  return launch<peak_fma_kernel>("peak_flops", grid, kThreads, p, {p.out, sizeof(float)}, stream);
}

int64_t peak_flops_per_iteration() { return blocks() * kThreads * kSums * kRounds * kFlopsPerThread; }

}  // namespace musabench
