// Device code on the CPU: the names that nvcc and mcc give to device code, for the host compiler. Included by
// ../device/gpu.h only.
//
// A block runs on one lane of the host device; its threads are fibers, which switch at barriers, shuffles and the
// like. Which thread goes first changes from one such point to the next, so that a missing barrier shows. Shared
// memory starts as NaN in every float type; asynchronous copies arrive when they are waited for and not before. A
// barrier or shuffle that some threads do not reach ends the kernel with musaErrorLaunchFailure and a line on stderr,
// a vector at an address that is no multiple of its size with musaErrorMisalignedAddress.
// MUSABENCH_WARP is the warp's width.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../../abi/musart_host.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
// Threads of a block are fibers of one thread.
#define __shared__ static thread_local
#define __align__(n) alignas(n)

namespace musabench {
namespace emulation {

struct Dim3 {
  uint32_t x;
  uint32_t y;
  uint32_t z;
};

// What a lane gives to the others of its warp.
struct Slot {
  uint32_t word[8];
};

// Of the running thread.
struct Coordinates {
  Dim3 thread;
  Dim3 block;
  Dim3 block_size;
  Dim3 grid_size;
};
extern __thread Coordinates coordinates;

void barrier();
// Gives `bytes` (at most 32) of `value` to all lanes of the warp, and all lanes' values to this one. Valid until the
// thread's next exchange but one.
const Slot* warp_exchange(const void* value, size_t bytes);
void load_matrix_x4(uint32_t (&to)[4], const void* row, bool transposed);
// from NULL: zeros.
void copy_async(void* to, const void* from);
void copy_async_commit();
void copy_async_wait(int pending);
unsigned char* dynamic_shared();
// Makes `error` the device's and ends the block; does not return.
[[noreturn]] void fail(int error);
// A GPU reads and writes `bytes`, a power of two, at multiples of them only.
inline void require_aligned(const void* address, size_t bytes) {
  if ((reinterpret_cast<uintptr_t>(address) & (bytes - 1)) != 0) fail(musaErrorMisalignedAddress);
}
// As many as the host device has lanes, which run a block each.
int64_t multiprocessors();

float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);

// ---- launching

// Comes before the kernel's parameters.
struct LaunchHeader {
  void (*run)(const void* launch);
  const char* name;
  Dim3 grid;
  uint32_t threads;
  size_t shared_bytes;
};

template <auto Kernel, class Params>
struct Launch {
  LaunchHeader header;
  Params params;
  static void run(const void* launch) { Kernel(static_cast<const Launch*>(launch)->params); }
};

int queue(const LaunchHeader& header, const void* launch, size_t bytes, void* output, int64_t output_bytes,
          void* stream);

template <auto Kernel, class Params>
int launch(const char* name, Dim3 grid, uint32_t threads, const Params& params, void* output, int64_t output_bytes,
           void* stream, size_t shared_bytes) {
  using This = Launch<Kernel, Params>;
  const This launch = {{&This::run, name, grid, threads, shared_bytes}, params};
  return queue(launch.header, &launch, sizeof launch, output, output_bytes, stream);
}

}  // namespace emulation
}  // namespace musabench

#define threadIdx (::musabench::emulation::coordinates.thread)
#define blockIdx (::musabench::emulation::coordinates.block)
#define blockDim (::musabench::emulation::coordinates.block_size)
#define gridDim (::musabench::emulation::coordinates.grid_size)

inline void __syncthreads() { ::musabench::emulation::barrier(); }

template <class T>
T __shfl_sync(unsigned, T value, int from, int width) {
  const ::musabench::emulation::Slot* all = ::musabench::emulation::warp_exchange(&value, sizeof value);
  const int lane = static_cast<int>(threadIdx.x) % MUSABENCH_WARP;
  T result;
  std::memcpy(&result, &all[lane / width * width + from % width], sizeof result);
  return result;
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width) {
  const int lane = static_cast<int>(threadIdx.x) % width;
  return __shfl_sync(mask, value, lane ^ lane_mask, width);
}

template <class T>
T atomicAdd(T* to, T value) {
  if constexpr (std::is_integral_v<T>) {
    return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
  } else {
    T before;
    __atomic_load(to, &before, __ATOMIC_RELAXED);
    T after = before + value;
    while (!__atomic_compare_exchange(to, &before, &after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      after = before + value;
    }
    return before;
  }
}
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
