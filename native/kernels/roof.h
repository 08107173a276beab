// Kernels that measure what the device can do at most, and the empty kernel.
#pragma once

#include <cstdint>

namespace musabench {

constexpr int64_t kMaxReadStreams = 16;

// Reads `bytes` of `src` once, each lane through `streams` sequential streams at a time. out[0] is a checksum, so
// that the reads are not for nothing.
struct ReadBandwidthParams {
  const void* src;
  int64_t bytes;
  int64_t streams;  // 1..kMaxReadStreams, rounded down to a power of two
  float* out;
};
int launch_read_bandwidth(const ReadBandwidthParams& params, void* stream);

// Copies `bytes` of src to dst, past the caches where the device can.
struct CopyBandwidthParams {
  const void* src;
  void* dst;
  int64_t bytes;
};
int launch_copy_bandwidth(const CopyBandwidthParams& params, void* stream);

// More is a mistake: on the host device it takes a quarter of a minute, during which nothing else runs.
constexpr int64_t kMaxPeakIterations = 1'000'000'000;

// fp32 multiply-adds on registers, on all lanes at once. out[0] is one of the sums.
struct PeakFlopsParams {
  int64_t iterations;  // 1..kMaxPeakIterations
  float* out;
};
int launch_peak_flops(const PeakFlopsParams& params, void* stream);
// Floating-point operations of one iteration on all lanes together; a multiply-add is two.
int64_t peak_flops_per_iteration();

// The device that a kernel without tensors goes to, as DLPack type and id.
int current_device(int32_t* device_type, int32_t* device_id);

// One block that does nothing: what a launch costs.
int launch_empty(void* stream);

}  // namespace musabench
