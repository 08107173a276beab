#include "../../abi/tvm_ffi.h"
#include "../roof.h"
#include "gpu.h"

namespace musabench {
namespace {

struct Nothing {
  int unused;
};

__global__ void empty_kernel(Nothing) {}

}  // namespace

int launch_empty(void* stream) { return gpu::launch<empty_kernel>("empty", {}, gpu::kMaxWarp, Nothing{0}, {}, stream); }

int current_device(int32_t* device_type, int32_t* device_id) {
#if defined(MUSABENCH_DEVICE_CUDA)
  *device_type = kDLCUDA;
#elif defined(MUSABENCH_DEVICE_MUSA)
  *device_type = kDLExtDev;
#else
  *device_type = kDLCPU;
#endif
  return gpu::current_device(device_id);
}

}  // namespace musabench
