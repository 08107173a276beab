// What libmusart_host adds to the runtime ABI: how a host kernel is put on a stream.
//
// On a GPU a kernel is launched by the compiler's <<<>>>; on the host device it is a function that the
// runtime's lanes (one pinned thread a core) run once per block. Only kernels use this header; nothing
// above the ABI line knows it.
#pragma once

#include "musa_runtime.h"

#pragma GCC visibility push(default)  // also where the rest of a library is built hidden
#ifdef __cplusplus
extern "C" {
#endif

// Runs block `block` of the launch. `params` is the launch's own copy of the parameters, valid until the
// launch (or, captured, the graph) is gone. `lane` is in [0, musaHostLaneCount()).
typedef void (*musaHostKernelFn)(const void* params, uint32_t block, uint32_t lane);

typedef struct musaHostLaunch {
  const char* name;  // static string; faults and errors name the kernel by it
  musaHostKernelFn run;
  uint32_t blocks;     // > 0; blocks are handed to lanes in ascending order
  uint32_t reserved;   // 0
  const void* params;  // copied by the call
  size_t params_bytes;
  void* output;  // the launch's main output: what an injected wrong result damages
  size_t output_bytes;
} musaHostLaunch;

// Puts the kernel on `stream` (NULL: the legacy stream) or, while the stream captures, into its graph.
musaError_t musaHostLaunchKernel(const musaHostLaunch* launch, musaStream_t stream);

// Lanes of the current device: the greatest number of blocks that run at once.
uint32_t musaHostLaneCount(void);

// Scratch of the calling lane, 64-byte aligned, at least `bytes`, kept between kernels and grown on
// demand. Valid until the block returns. NULL when memory is out.
void* musaHostLaneScratch(size_t bytes);

// Stops the rest of the launch and makes `error` the device's sticky error. For a kernel that cannot go on.
void musaHostKernelFail(musaError_t error);

// Memory still allocated on `device` by musaMalloc, musaHostAlloc and musaMallocHost; for leak tests.
musaError_t musaHostLiveAllocations(int device, size_t* count, size_t* bytes);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
