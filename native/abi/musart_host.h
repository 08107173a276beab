// What libmusart_host adds to the runtime ABI: how a host kernel is put on a stream.
//
// On a GPU a kernel is launched by the compiler's <<<>>>; on the host device it is a function that the
// runtime's lanes (one pinned thread a core) run once per block. Only kernels use this header; nothing
// above the ABI line knows it.
//
// Environment, read once at the first call. A value that makes no sense makes every call fail with
// musaErrorInitializationError, whose text says which one and why.
//
//   MUSART_HOST_DEVICES=n   devices, 1 (default) to 64, all of them this machine's CPU
//   MUSART_HOST_THREADS=n   lanes of a device; default: the CPUs that the process may use
//   MUSART_HOST_PIN=0|1     1 (default): lane i is pinned to the i-th of these CPUs, streams to the first
//   MUSART_HOST_QUEUE=n     a stream takes n pieces of work; who queues one more waits until the first is done, as on a
//                           GPU, whose queues hold about a thousand. 0 (default): any number
//   MUSART_HOST_REPORT=0|1  1: print wrong frees, use of another device's memory and, at the end of the
//                           process, memory that was never freed to stderr, a line each
//   MUSART_HOST_FAULTS=...  faults, separated by ';', each of them one of
//     musaFunction:n=error        the n-th call of the function does nothing and returns error (a number)
//     kernel:name:n=error         the n-th run of the kernel is replaced by a failure: the device has a
//                                 sticky error from then on
//     kernel:name:n=hang          that run does not end before musaDeviceReset or the end of the process; a line on
//                                 stderr says when it begins
//     kernel:name:n=wrong         that run's output has every second byte's highest bit flipped: the sign of
//                                 every bf16, fp16 and f32 changes
//     kernel:name:n=crash         that run aborts the process
//     kernel:name:n=slow20        that run takes 20 % longer, or any other whole number
//   A misspelt function is an error of the first call. Which kernels exist the runtime cannot know: a kernel that a
//   fault names and that never ran is named on stderr at the end of a process in which others did run.
//   n counts from 1, over all devices and threads, or over one device's runs where the kernel's name
//   ends in it, as in gemm@2; "n+" means the n-th and all later ones. The name "*" stands
//   for any kernel. Each replay of a graph runs its kernels anew. An injected error that is sticky on a GPU
//   (such as 700) is so here. Example: musaMalloc:3=2;kernel:gemm:2=hang;kernel:paged_attention:1+=wrong
#pragma once

#include "musa_runtime.h"

#pragma GCC visibility push(default)  // also where the rest of a library is built hidden
#ifdef __cplusplus
extern "C" {
#endif

// Runs block `block` of the launch. `params` is the launch's own copy of the parameters, valid until the
// launch (or, captured, the graph) is gone, and 64-byte aligned. `lane` is in [0, musaHostLaneCount()) and
// differs between the blocks of one launch that run at once; launches on different streams may use the same lane
// number at the same time. Calls of the runtime ABI are not permitted in it (musaErrorNotPermitted).
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
// musaErrorInvalidConfiguration: no blocks; musaErrorInvalidDeviceFunction: no function;
// musaErrorInvalidResourceHandle: no stream of the current device; musaErrorInvalidValue: anything else.
musaError_t musaHostLaunchKernel(const musaHostLaunch* launch, musaStream_t stream);

// Lanes of the current device: the greatest number of blocks that run at once. 0 when the environment is wrong.
uint32_t musaHostLaneCount(void);

// Scratch of the calling lane, 64-byte aligned, at least `bytes`, kept between kernels and grown on
// demand. Valid until the block returns or asks for more; its content is unspecified. NULL when memory is out.
void* musaHostLaneScratch(size_t bytes);

// Begins no further block of the launch and makes `error` the device's sticky error. For a kernel that cannot go
// on; it returns, and the caller has to return from the block itself. Does nothing outside of a kernel.
void musaHostKernelFail(musaError_t error);

// Memory still allocated on `device` by musaMalloc, musaHostAlloc and musaMallocHost; for leak tests.
musaError_t musaHostLiveAllocations(int device, size_t* count, size_t* bytes);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
