// What device code (*.mu) is written against: one source for nvcc (CUDA), mcc (MUSA) and, without a GPU, the host
// compiler under ../emulation. The build defines one of MUSABENCH_DEVICE_{CUDA,MUSA,EMULATED}.
//
// Rules that keep a kernel right everywhere:
//   - Blocks are one-dimensional, a multiple of kMaxWarp threads; which warp width they run with only device code
//   knows.
//   - Every lane of a warp (kWarp of them) reaches every shuffle and mma, every thread of a block every barrier. The
//     emulation stops a kernel that breaks this.
//   - Threads of a warp see each other's shared memory after __syncthreads() or warp_sync() only.
//   - No thread leaves before a barrier or shuffle that others still reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../dtype.h"

#if defined(MUSABENCH_DEVICE_CUDA)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <atomic>
#include <string>

#include "../environment_error.h"
#define MUSABENCH_GPU(name) cuda##name
#elif defined(MUSABENCH_DEVICE_MUSA)
#include <musa_fp16.h>
#include <musa_runtime.h>

#include <atomic>
#include <string>

#include "../environment_error.h"
#define MUSABENCH_GPU(name) musa##name
#elif defined(MUSABENCH_DEVICE_EMULATED)
#include "../emulation/emulation.h"
#else
#error "define MUSABENCH_DEVICE_CUDA, MUSABENCH_DEVICE_MUSA or MUSABENCH_DEVICE_EMULATED"
#endif

#define MUSABENCH_DEVICE __device__ __forceinline__

namespace musabench {
namespace gpu {

// ---- the warp

// Widest warp of any device: blocks are a multiple of it.
constexpr int kMaxWarp = 128;

// Lanes of a warp. For device code: the host half of a compilation does not know which device it is for.
#if defined(MUSABENCH_DEVICE_EMULATED)
constexpr int kWarp = MUSABENCH_WARP;
#elif defined(__MUSA_ARCH__) && __MUSA_ARCH__ <= 220
constexpr int kWarp = 128;
#else
constexpr int kWarp = 32;
#endif
static_assert(kWarp >= 32 && kMaxWarp % kWarp == 0 && (kWarp & (kWarp - 1)) == 0, "a warp width no kernel knows");

// Shared memory that a block gets on every device; those with tensor cores give more.
constexpr size_t kLeastSharedBytes = 28 << 10;

// Whether mma_16x8x16 and load_matrix_x4 are there. The same in host code.
#if defined(MUSABENCH_DEVICE_CUDA) || (defined(MUSABENCH_DEVICE_EMULATED) && MUSABENCH_WARP == 32)
constexpr bool kHasMma = true;
#else
constexpr bool kHasMma = false;
#endif

MUSABENCH_DEVICE int lane() { return static_cast<int>(threadIdx.x) % kWarp; }
MUSABENCH_DEVICE int warp() { return static_cast<int>(threadIdx.x) / kWarp; }

// The value of the lane whose number in its group of Width differs by `mask`. T: 4 bytes.
template <int Width = kWarp, class T>
MUSABENCH_DEVICE T shuffle_xor(T value, int mask) {
  static_assert(Width <= kWarp && kWarp % Width == 0 && sizeof(T) == 4, "groups divide a warp; values have 4 bytes");
  return __shfl_xor_sync(0xffffffffu, value, mask, Width);
}

// The value of lane `from` of the group of Width. T: 4 bytes.
template <int Width = kWarp, class T>
MUSABENCH_DEVICE T shuffle(T value, int from) {
  static_assert(Width <= kWarp && kWarp % Width == 0 && sizeof(T) == 4, "groups divide a warp; values have 4 bytes");
  return __shfl_sync(0xffffffffu, value, from, Width);
}

// Behind it the warp's lanes see what each of them wrote to shared memory before. Not for warps wider than 32.
template <int Width = kWarp>
MUSABENCH_DEVICE void warp_sync() {
  static_assert(Width == 32, "for what uses tensor cores");
#if defined(MUSABENCH_DEVICE_CUDA)
  __syncwarp();
#elif defined(MUSABENCH_DEVICE_EMULATED)
  const uint32_t nothing = 0;
  emulation::warp_exchange(&nothing, sizeof nothing);
#endif
}

// Sum over groups of Width lanes; every lane gets it.
template <int Width = kWarp>
MUSABENCH_DEVICE float warp_sum(float value) {
#pragma unroll
  for (int mask = Width / 2; mask > 0; mask /= 2) value += shuffle_xor<Width>(value, mask);
  return value;
}

template <int Width = kWarp>
MUSABENCH_DEVICE float warp_max(float value) {
#pragma unroll
  for (int mask = Width / 2; mask > 0; mask /= 2) value = fmaxf(value, shuffle_xor<Width>(value, mask));
  return value;
}

// Sum over the block; every thread gets it. All threads take part. Calls may follow each other.
template <int Threads>
MUSABENCH_DEVICE float block_sum(float value) {
  static_assert(Threads % kMaxWarp == 0, "blocks are a multiple of the widest warp");
  constexpr int kWarps = Threads / kWarp;
  __shared__ float parts[kWarps];
  value = warp_sum(value);
  if (kWarps == 1) return value;
  if (lane() == 0) parts[warp()] = value;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kWarps; ++i) sum += parts[i];
  __syncthreads();
  return sum;
}

// ---- element types

// Storage of a 16-bit float; arithmetic is fp32.
struct Bf16 {
  uint16_t bits;
};
struct Fp16 {
  uint16_t bits;
};

MUSABENCH_DEVICE float bits_to_float(uint32_t bits) {
#if defined(MUSABENCH_DEVICE_EMULATED)
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
#else
  return __uint_as_float(bits);
#endif
}
MUSABENCH_DEVICE uint32_t float_to_bits(float value) {
#if defined(MUSABENCH_DEVICE_EMULATED)
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
#else
  return __float_as_uint(value);
#endif
}

MUSABENCH_DEVICE float to_float(float value) { return value; }
MUSABENCH_DEVICE float to_float(Bf16 value) { return bits_to_float(static_cast<uint32_t>(value.bits) << 16); }
MUSABENCH_DEVICE float to_float(Fp16 value) {
#if defined(MUSABENCH_DEVICE_EMULATED)
  return emulation::half_to_float(value.bits);
#else
  return __half2float(__ushort_as_half(value.bits));
#endif
}

// Rounded to nearest, ties to even.
template <class T>
MUSABENCH_DEVICE T from_float(float value);
template <>
MUSABENCH_DEVICE float from_float<float>(float value) {
  return value;
}
template <>
MUSABENCH_DEVICE Bf16 from_float<Bf16>(float value) {
#if defined(MUSABENCH_DEVICE_CUDA)
  return {__bfloat16_as_ushort(__float2bfloat16_rn(value))};
#else
  const uint32_t bits = float_to_bits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {0x7fff};
  return {static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
#endif
}
template <>
MUSABENCH_DEVICE Fp16 from_float<Fp16>(float value) {
#if defined(MUSABENCH_DEVICE_EMULATED)
  return {emulation::float_to_half(value)};
#else
  return {__half_as_ushort(__float2half_rn(value))};
#endif
}

// Two neighbours in one register: `low` is the first of the two.
template <class T>
MUSABENCH_DEVICE uint32_t pack(float low, float high) {
  return from_float<T>(low).bits | static_cast<uint32_t>(from_float<T>(high).bits) << 16;
}

// N neighbours, loaded and stored at once: the address is a multiple of sizeof(Vec).
template <class T, int N>
struct alignas(sizeof(T) * N) Vec {
  T at[N];
};

template <int N, class T>
MUSABENCH_DEVICE Vec<T, N> load(const T* from) {
#if defined(MUSABENCH_DEVICE_EMULATED)
  emulation::require_aligned(from, sizeof(Vec<T, N>));
#endif
  return *reinterpret_cast<const Vec<T, N>*>(from);
}
template <int N, class T>
MUSABENCH_DEVICE void store(T* to, const Vec<T, N>& values) {
#if defined(MUSABENCH_DEVICE_EMULATED)
  emulation::require_aligned(to, sizeof(Vec<T, N>));
#endif
  *reinterpret_cast<Vec<T, N>*>(to) = values;
}

// Host code: whether rows that start at `data` and lie `stride` elements apart can be read as Vec<T, n>.
inline bool vectorizable(const void* data, int64_t stride, int64_t element_bytes, int64_t n) {
  return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(n * element_bytes) == 0 && stride % n == 0;
}

// ---- arithmetic

template <class T>
MUSABENCH_DEVICE T least(T a, T b) {
  return b < a ? b : a;
}
template <class T>
MUSABENCH_DEVICE T greatest(T a, T b) {
  return a < b ? b : a;
}

// Approximate, relative error about 2^-22.
MUSABENCH_DEVICE float fast_exp2(float x) {
#if defined(MUSABENCH_DEVICE_CUDA)
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return exp2f(x);
#endif
}
// Approximate, relative error about 2^-22; y in [2^-126, 2^126].
MUSABENCH_DEVICE float fast_divide(float x, float y) {
#if defined(MUSABENCH_DEVICE_CUDA)
  return __fdividef(x, y);
#else
  return x / y;
#endif
}

// ---- tensor cores and what feeds them: 32 lanes together; PTX's mma.m16n8k16 and ldmatrix

// d[16, 8] += a[16, 16] * b[16, 8] in fp32; T: Bf16 or Fp16. Of 32 lanes, lane 4 g + t holds
//   a: {(g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8)} and the right neighbour of each, packed
//   b: {(2t, g), (2t + 8, g)} and the lower neighbour of each, packed
//   d: {(g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)}
template <class T>
MUSABENCH_DEVICE void mma_16x8x16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  static_assert(kHasMma && (std::is_same_v<T, Bf16> || std::is_same_v<T, Fp16>), "check kHasMma first");
#if defined(MUSABENCH_DEVICE_CUDA)
  if constexpr (std::is_same_v<T, Bf16>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
#elif defined(MUSABENCH_DEVICE_EMULATED)
  const uint32_t mine[6] = {a[0], a[1], a[2], a[3], b[0], b[1]};
  const emulation::Slot* all = emulation::warp_exchange(mine, sizeof mine);
  const int g = lane() / 4;
  const int t = lane() % 4;
  for (int i = 0; i < 4; ++i) {
    const int lower = i / 2;
    const int column = 2 * t + i % 2;
    for (int k = 0; k < 16; ++k) {
      const uint32_t x = all[g * 4 + k % 8 / 2].word[k / 8 * 2 + lower];
      const uint32_t y = all[column * 4 + k % 8 / 2].word[4 + k / 8];
      const int shift = k % 2 * 16;
      d[i] += to_float(T{static_cast<uint16_t>(x >> shift)}) * to_float(T{static_cast<uint16_t>(y >> shift)});
    }
  }
#endif
}

// Four 8x8 matrices of 16-bit elements from shared memory. Lane 8 i + r names row r of matrix i: eight neighbours,
// 16-byte aligned. Lane 4 g + t gets elements (g, 2t) and (g, 2t + 1) of each, packed: matrices {upper left, lower
// left, upper right, lower right} are mma_16x8x16's a.
MUSABENCH_DEVICE void load_matrix_x4(uint32_t (&to)[4], const void* row) {
#if defined(MUSABENCH_DEVICE_CUDA)
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
#elif defined(MUSABENCH_DEVICE_EMULATED)
  emulation::load_matrix_x4(to, row, false);
#endif
}

// The same, each matrix transposed: lane 4 g + t gets (2t, g) and (2t + 1, g), as mma_16x8x16's b from rows of k.
MUSABENCH_DEVICE void load_matrix_x4_transposed(uint32_t (&to)[4], const void* row) {
#if defined(MUSABENCH_DEVICE_CUDA)
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
#elif defined(MUSABENCH_DEVICE_EMULATED)
  emulation::load_matrix_x4(to, row, true);
#endif
}

// Starts to copy 16 bytes to shared memory, or 16 zeros if not `wanted`; both addresses 16-byte aligned. They are there
// for the thread itself after copy_async_wait and for others after a barrier behind that. `from` is a valid address
// even if not wanted. A device without such copies makes them at once.
MUSABENCH_DEVICE void copy_async_16(void* to_shared, const void* from, bool wanted = true) {
#if defined(MUSABENCH_DEVICE_CUDA)
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to_shared));
  const int bytes = wanted ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory");
#elif defined(MUSABENCH_DEVICE_EMULATED)
  emulation::copy_async(to_shared, wanted ? from : nullptr);
#else
  const Vec<uint32_t, 4> zeros = {{0, 0, 0, 0}};
  store(static_cast<uint32_t*>(to_shared), wanted ? load<4>(static_cast<const uint32_t*>(from)) : zeros);
#endif
}

// Makes one group of this thread's copies since the last commit.
MUSABENCH_DEVICE void copy_async_commit() {
#if defined(MUSABENCH_DEVICE_CUDA)
  asm volatile("cp.async.commit_group;" ::: "memory");
#elif defined(MUSABENCH_DEVICE_EMULATED)
  emulation::copy_async_commit();
#endif
}

// Waits until at most Pending of this thread's groups are under way.
template <int Pending>
MUSABENCH_DEVICE void copy_async_wait() {
#if defined(MUSABENCH_DEVICE_CUDA)
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#elif defined(MUSABENCH_DEVICE_EMULATED)
  emulation::copy_async_wait(Pending);
#endif
}

// ---- memory

// The block's dynamic shared memory, of the size that launch() was given; 16-byte aligned. Undefined at the start.
MUSABENCH_DEVICE unsigned char* dynamic_shared() {
#if defined(MUSABENCH_DEVICE_EMULATED)
  return emulation::dynamic_shared();
#else
  extern __shared__ __align__(16) unsigned char musabench_dynamic_shared[];
  return musabench_dynamic_shared;
#endif
}

// Ends the kernel with an illegal address; the caller returns from the kernel at once, without a barrier.
MUSABENCH_DEVICE void fail_illegal_address() {
#if defined(MUSABENCH_DEVICE_EMULATED)
  emulation::fail(700);
#elif defined(MUSABENCH_DEVICE_CUDA)
  asm volatile("st.global.u32 [%0], %1;" ::"l"(0ull), "r"(0) : "memory");
#else
  // Through a number: the compiler may take a store to a null pointer it sees for unreachable code.
  volatile uintptr_t nowhere = 0;
  *reinterpret_cast<volatile uint32_t*>(nowhere) = 0;
#endif
}

// ---- launching, host code

struct Grid {
  uint32_t x = 1;
  uint32_t y = 1;  // at most 65535
  uint32_t z = 1;  // at most 65535
};

// The largest x of a grid.
constexpr int64_t kMaxGridX = INT32_MAX;

// The launch's main result: what a fault injected into the host device damages.
struct Output {
  void* data = nullptr;
  int64_t bytes = 0;
};

#if defined(MUSABENCH_DEVICE_EMULATED)

constexpr int kSuccess = 0;
constexpr int kInvalidConfiguration = 9;

inline int current_device(int32_t* device) { return musaGetDevice(device); }
inline int64_t multiprocessors() { return emulation::multiprocessors(); }

// Queues a kernel `__global__ void Kernel(Params)` on `stream`: blocks of `threads`, `shared_bytes` of dynamic shared
// memory each. `params` is copied. 0, or the runtime's error code; an EnvironmentError if no block of the device gets
// so much shared memory. `name` is the export's.
template <auto Kernel, class Params>
int launch(const char* name, Grid grid, int threads, const Params& params, Output output, void* stream,
           size_t shared_bytes = 0) {
  return emulation::launch<Kernel>(name, {grid.x, grid.y, grid.z}, static_cast<uint32_t>(threads), params, output.data,
                                   output.bytes, stream, shared_bytes);
}

#else

constexpr int kSuccess = MUSABENCH_GPU(Success);
constexpr int kInvalidConfiguration = MUSABENCH_GPU(ErrorInvalidConfiguration);

// The calling thread's.
inline int current_device(int32_t* device) { return MUSABENCH_GPU(GetDevice)(device); }

// Of the current device; 1 if it does not say.
inline int64_t multiprocessors() {
  constexpr int kDevices = 64;
  static std::atomic<int> known[kDevices];
  int device = 0;
  if (MUSABENCH_GPU(GetDevice)(&device) != kSuccess || device < 0 || device >= kDevices) return 1;
  int count = known[device].load(std::memory_order_relaxed);
  if (count == 0) {
    if (MUSABENCH_GPU(DeviceGetAttribute)(&count, MUSABENCH_GPU(DevAttrMultiProcessorCount), device) != kSuccess ||
        count < 1) {
      return 1;
    }
    known[device].store(count, std::memory_order_relaxed);
  }
  return count;
}

template <auto Kernel, class Params>
int launch(const char*, Grid grid, int threads, const Params& params, Output, void* stream, size_t shared_bytes = 0) {
  const void* kernel = reinterpret_cast<const void*>(Kernel);
  // What every device gives; more has to be asked for, once a kernel and device.
  constexpr size_t kGivenSharedBytes = 48 << 10;
  if (shared_bytes > kGivenSharedBytes) {
    static std::atomic<uint64_t> asked{0};  // the most bytes asked for, and below them the device it was asked on
    int device = 0;
    int error = MUSABENCH_GPU(GetDevice)(&device);
    const uint64_t wanted = static_cast<uint64_t>(shared_bytes) << 8 | static_cast<uint64_t>(device & 255);
    if (error == kSuccess && asked.load(std::memory_order_relaxed) != wanted) {
      error = MUSABENCH_GPU(FuncSetAttribute)(kernel, MUSABENCH_GPU(FuncAttributeMaxDynamicSharedMemorySize),
                                              static_cast<int>(shared_bytes));
      if (error == kSuccess) asked.store(wanted, std::memory_order_relaxed);
    }
    if (error != kSuccess) {
      (void)MUSABENCH_GPU(GetLastError)();
      int most = 0;
      if (MUSABENCH_GPU(DeviceGetAttribute)(&most, MUSABENCH_GPU(DevAttrMaxSharedMemoryPerBlockOptin), device) ==
              kSuccess &&
          shared_bytes > static_cast<size_t>(most)) {
        throw EnvironmentError("a block of this shape needs " + std::to_string(shared_bytes) +
                               " bytes of shared memory, and the device gives it " + std::to_string(most));
      }
      return error;
    }
  }
  void* arguments[] = {const_cast<Params*>(&params)};
  const int error =
      MUSABENCH_GPU(LaunchKernel)(kernel, dim3(grid.x, grid.y, grid.z), dim3(static_cast<unsigned>(threads)), arguments,
                                  shared_bytes, static_cast<MUSABENCH_GPU(Stream_t)>(stream));
  // The caller has the error; left behind, it would be the next call's.
  if (error != kSuccess) (void)MUSABENCH_GPU(GetLastError)();
  return error;
}

#endif

// Calls f with a Bf16{} or a Fp16{}.
template <class F>
int with_half_type(Dtype dtype, F f) {
  return dtype == Dtype::kBFloat16 ? f(Bf16{}) : f(Fp16{});
}

// Calls f with a Bf16{}, a Fp16{} or a 0.0f.
template <class F>
int with_float_type(Dtype dtype, F f) {
  return dtype == Dtype::kFloat32 ? f(0.0f) : with_half_type(dtype, f);
}

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace gpu
}  // namespace musabench
