#include "../roof.h"

#include <algorithm>

#include "../../abi/tvm_ffi.h"
#include "isa.h"
#include "roof_plan.h"

namespace musabench {
namespace {

// Blocks of whole 4 KiB pages, eight a lane when there is enough to read, so that a slower lane does fewer.
int64_t block_bytes(int64_t bytes) {
  const int64_t blocks = 8 * lane_count();
  const int64_t share = (bytes + blocks - 1) / blocks;
  return std::max<int64_t>((share + 4095) / 4096 * 4096, 65536);
}

int64_t block_count(int64_t bytes, int64_t block) { return std::max<int64_t>((bytes + block - 1) / block, 1); }

void empty_block(const void*, uint32_t, uint32_t) {}

}  // namespace

int launch_read_bandwidth(const ReadBandwidthParams& params, void* stream) {
  const ReadBandwidthPlan plan = {params, block_bytes(params.bytes)};
  return launch_blocks("read_bandwidth", MUSABENCH_DISPATCH(read_bandwidth_block),
                       block_count(params.bytes, plan.per_block), plan, params.out, sizeof(float), stream);
}

int launch_copy_bandwidth(const CopyBandwidthParams& params, void* stream) {
  const CopyBandwidthPlan plan = {params, block_bytes(params.bytes)};
  return launch_blocks("copy_bandwidth", MUSABENCH_DISPATCH(copy_bandwidth_block),
                       block_count(params.bytes, plan.per_block), plan, params.dst, params.bytes, stream);
}

int launch_peak_flops(const PeakFlopsParams& params, void* stream) {
  return launch_blocks("peak_flops", MUSABENCH_DISPATCH(peak_flops_block), lane_count(), params, params.out,
                       sizeof(float), stream);
}

int64_t peak_flops_per_iteration() { return int64_t{kPeakSums} * kPeakRounds * 8 * 2 * lane_count(); }

// Tests run these kernels as a MUSA device's too: then the calling thread's stream is set for that type of device.
int current_device(int32_t* device_type, int32_t* device_id) {
  *device_type = kDLCPU;
  const int error = musaGetDevice(device_id);
  if (error == musaSuccess && TVMFFIEnvGetStream(kDLCPU, *device_id) == nullptr &&
      TVMFFIEnvGetStream(kDLExtDev, *device_id) != nullptr) {
    *device_type = kDLExtDev;
  }
  return error;
}

int launch_empty(void* stream) {
  const char nothing = 0;
  return launch_blocks("empty", &empty_block, 1, nothing, nullptr, 0, stream);
}

}  // namespace musabench
