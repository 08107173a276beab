// The emulation that device code is tested under: what it makes of barriers, shuffles, tensor cores and asynchronous
// copies, and what of kernels that use them wrongly.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "check.h"
#include "kernels/device/gpu.h"

namespace musabench {
namespace {

using namespace gpu;

struct Pointers {
  void* out;
  const void* in;
};

template <auto Kernel>
int run(Grid grid, int threads, Pointers pointers, size_t shared_bytes = 0) {
  const int error = launch<Kernel>("test", grid, threads, pointers, {}, nullptr, shared_bytes);
  return error != musaSuccess ? error : musaDeviceSynchronize();
}

__global__ void count_kernel(Pointers p) {
  const int64_t block = blockIdx.x + gridDim.x * (blockIdx.y + int64_t{gridDim.y} * blockIdx.z);
  static_cast<int32_t*>(p.out)[block * blockDim.x + threadIdx.x] += static_cast<int32_t>(threadIdx.x + 1);
}

void every_thread_of_every_block_runs_once() {
  std::vector<int32_t> out(3 * 2 * 4 * 128);
  CHECK_EQ(run<count_kernel>({3, 2, 4}, 128, {out.data(), nullptr}), musaSuccess);
  int wrong = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] != static_cast<int32_t>(i % 128 + 1)) ++wrong;
  }
  CHECK_EQ(wrong, 0);
}

// Values travel through shared memory to the left neighbour, twice, which takes four barriers.
__global__ void shift_kernel(Pointers p) {
  auto* values = reinterpret_cast<int32_t*>(dynamic_shared());
  const auto me = static_cast<int>(threadIdx.x);
  const auto count = static_cast<int>(blockDim.x);
  values[me] = me;
  for (int round = 0; round < 2; ++round) {
    __syncthreads();
    const int32_t next = values[(me + 1) % count];
    __syncthreads();
    values[me] = next;
  }
  static_cast<int32_t*>(p.out)[blockIdx.x * count + me] = values[me];
}

void barriers_order_shared_memory() {
  std::vector<int32_t> out(5 * 256);
  CHECK_EQ(run<shift_kernel>({5}, 256, {out.data(), nullptr}, 256 * sizeof(int32_t)), musaSuccess);
  int wrong = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] != static_cast<int32_t>((i + 2) % 256)) ++wrong;
  }
  CHECK_EQ(wrong, 0);
}

// The same without a barrier between reading and writing.
__global__ void racing_shift_kernel(Pointers p) {
  auto* values = reinterpret_cast<int32_t*>(dynamic_shared());
  const auto me = static_cast<int>(threadIdx.x);
  const auto count = static_cast<int>(blockDim.x);
  values[me] = me;
  __syncthreads();
  values[me] = values[(me + 1) % count];
  __syncthreads();
  static_cast<int32_t*>(p.out)[blockIdx.x * count + me] = values[me];
}

void a_missing_barrier_shows() {
  constexpr int kBlocks = 40;
  std::vector<int32_t> out(kBlocks * 128);
  CHECK_EQ(run<racing_shift_kernel>({kBlocks}, 128, {out.data(), nullptr}, 128 * sizeof(int32_t)), musaSuccess);
  int wrong = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] != static_cast<int32_t>((i + 1) % 128)) ++wrong;
  }
  CHECK(wrong > 0);
}

__global__ void fresh_shared_kernel(Pointers p) {
  auto* values = reinterpret_cast<float*>(dynamic_shared());
  static_cast<float*>(p.out)[blockIdx.x * blockDim.x + threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = 1;
}

void shared_memory_starts_as_nan() {
  std::vector<float> out(9 * 128);
  CHECK_EQ(run<fresh_shared_kernel>({9}, 128, {out.data(), nullptr}, 128 * sizeof(float)), musaSuccess);
  int numbers = 0;
  for (const float value : out) numbers += !std::isnan(value);
  CHECK_EQ(numbers, 0);
}

__global__ void sums_kernel(Pointers p) {
  auto* out = static_cast<float*>(p.out) + 4 * threadIdx.x;
  const auto me = static_cast<float>(threadIdx.x);
  out[0] = warp_sum(me);
  out[1] = warp_max<8>(me);
  out[2] = block_sum<256>(me);
  out[3] = block_sum<256>(1) + shuffle<16>(me, 3);
}

void shuffles_reach_their_group() {
  std::vector<float> out(4 * 256);
  CHECK_EQ(run<sums_kernel>({1}, 256, {out.data(), nullptr}), musaSuccess);
  int wrong = 0;
  for (int i = 0; i < 256; ++i) {
    const int first = i / kWarp * kWarp;
    const float* mine = &out[static_cast<size_t>(4 * i)];
    if (mine[0] != static_cast<float>(kWarp * first + kWarp * (kWarp - 1) / 2)) ++wrong;
    if (mine[1] != static_cast<float>(i / 8 * 8 + 7)) ++wrong;
    if (mine[2] != 255 * 128 || mine[3] != static_cast<float>(256 + i / 16 * 16 + 3)) ++wrong;
  }
  CHECK_EQ(wrong, 0);
}

__global__ void divergent_barrier_kernel(Pointers) {
  if (threadIdx.x != 5) __syncthreads();
}
__global__ void divergent_shuffle_kernel(Pointers p) {
  if (lane() != 5) static_cast<float*>(p.out)[0] = warp_sum(1);
}
__global__ void misaligned_load_kernel(Pointers p) {
  static_cast<float*>(p.out)[0] = load<4>(static_cast<const float*>(p.in) + 1).at[0];
}
__global__ void misaligned_store_kernel(Pointers p) { store<2>(static_cast<float*>(p.out) + 1, {{1, 2}}); }
__global__ void misaligned_copy_kernel(Pointers p) {
  copy_async_16(dynamic_shared(), static_cast<const float*>(p.in) + 2);
}
__global__ void misaligned_copy_to_shared_kernel(Pointers p) { copy_async_16(dynamic_shared() + 8, p.in); }
#if MUSABENCH_WARP == 32
__global__ void misaligned_matrix_kernel(Pointers) {
  uint32_t a[4];
  load_matrix_x4(a, dynamic_shared() + 8);
}
#endif
__global__ void illegal_address_kernel(Pointers) {
  if (blockIdx.x == 1 && threadIdx.x == 77) return fail_illegal_address();
  __syncthreads();
}

// Each leaves a sticky error, which a reset takes away.
void kernels_that_break_the_rules_are_stopped() {
  float out = 0;
  CHECK_EQ(run<divergent_barrier_kernel>({2}, 128, {&out, nullptr}), int{musaErrorLaunchFailure});
  CHECK_EQ(musaDeviceReset(), musaSuccess);
  CHECK_EQ(run<divergent_shuffle_kernel>({1}, 128, {&out, nullptr}), int{musaErrorLaunchFailure});
  CHECK_EQ(musaDeviceReset(), musaSuccess);
  CHECK_EQ(run<illegal_address_kernel>({3}, 128, {&out, nullptr}), int{musaErrorIllegalAddress});
  CHECK_EQ(musaDeviceReset(), musaSuccess);
  // What was left on the stacks does no harm.
  every_thread_of_every_block_runs_once();
  barriers_order_shared_memory();
}

void addresses_no_gpu_would_take_are_refused() {
  alignas(16) float memory[8] = {};
  const Pointers pointers = {memory, memory};
  const auto is_misaligned = [](int error) {
    return error == musaErrorMisalignedAddress && musaDeviceReset() == musaSuccess;
  };
  CHECK(is_misaligned(run<misaligned_load_kernel>({1}, 128, pointers)));
  CHECK(is_misaligned(run<misaligned_store_kernel>({1}, 128, pointers)));
  CHECK(is_misaligned(run<misaligned_copy_kernel>({1}, 128, pointers, 16)));
  CHECK(is_misaligned(run<misaligned_copy_to_shared_kernel>({1}, 128, pointers, 32)));
#if MUSABENCH_WARP == 32
  CHECK(is_misaligned(run<misaligned_matrix_kernel>({1}, 128, pointers, 32)));
#endif
}

void launches_no_gpu_would_take_are_refused() {
  CHECK_EQ(run<count_kernel>({0}, 128, {}), int{musaErrorInvalidConfiguration});
  CHECK_EQ(run<count_kernel>({1, 70000}, 128, {}), int{musaErrorInvalidConfiguration});
  CHECK_EQ(run<count_kernel>({1}, 2048, {}), int{musaErrorInvalidConfiguration});
  CHECK_EQ(run<count_kernel>({1}, 128, {}, 164 << 10), int{musaErrorInvalidConfiguration});
}

// out[64]: an element that is copied, before and after the wait for it.
__global__ void async_copy_kernel(Pointers p) {
  auto* shared = reinterpret_cast<uint32_t*>(dynamic_shared());
  const auto* in = static_cast<const uint32_t*>(p.in);
  auto* out = static_cast<uint32_t*>(p.out);
  if (threadIdx.x == 0) {
    for (int i = 0; i < 4; ++i) shared[i] = shared[4 + i] = shared[8 + i] = 1;
    copy_async_16(shared, in);
    copy_async_commit();
    copy_async_16(shared + 4, in + 4);
    copy_async_16(shared + 8, in, false);
    copy_async_commit();
    out[0] = shared[3];
    copy_async_wait<1>();
    out[1] = shared[3];
    out[2] = shared[7];
    copy_async_wait<0>();
    out[3] = shared[7];
    out[4] = shared[11];
  }
}

void asynchronous_copies_arrive_when_waited_for() {
  alignas(16) const uint32_t in[8] = {10, 11, 12, 13, 14, 15, 16, 17};
  uint32_t out[5] = {};
  CHECK_EQ(run<async_copy_kernel>({1}, 128, {out, in}, 48), musaSuccess);
  CHECK_EQ(out[0], 1u);
  CHECK_EQ(out[1], 13u);
  CHECK_EQ(out[2], 1u);
  CHECK_EQ(out[3], 17u);
  CHECK_EQ(out[4], 0u);
}

#if MUSABENCH_WARP == 32
// out[16, 8] = a[16, 16] * b[16, 8], a by load_matrix_x4 and b by load_matrix_x4_transposed. in: a, then b, rows of 8.
__global__ void mma_kernel(Pointers p) {
  auto* shared = reinterpret_cast<Bf16*>(dynamic_shared());
  for (int i = static_cast<int>(threadIdx.x); i < 384; i += 128) shared[i] = static_cast<const Bf16*>(p.in)[i];
  __syncthreads();
  const int i = lane();
  uint32_t a[4];
  load_matrix_x4(a, shared + (i % 16) * 16 + i / 16 * 8);
  uint32_t b[4];
  load_matrix_x4_transposed(b, shared + 256 + (i % 16) * 8);
  float d[4] = {};
  mma_16x8x16<Bf16>(d, a, {b[0], b[1]});
  if (warp() != 0) return;
  auto* out = static_cast<float*>(p.out);
  const int g = i / 4;
  const int t = i % 4 * 2;
  out[g * 8 + t] = d[0];
  out[g * 8 + t + 1] = d[1];
  out[(g + 8) * 8 + t] = d[2];
  out[(g + 8) * 8 + t + 1] = d[3];
}

void tensor_cores_multiply() {
  std::vector<Bf16> in(384);
  for (size_t i = 0; i < in.size(); ++i) in[i] = from_float<Bf16>(static_cast<float>(i * 37 % 41) - 20);
  std::vector<float> out(128);
  CHECK_EQ(run<mma_kernel>({1}, 128, {out.data(), in.data()}, 768), musaSuccess);
  int wrong = 0;
  for (size_t row = 0; row < 16; ++row) {
    for (size_t column = 0; column < 8; ++column) {
      float sum = 0;
      for (size_t k = 0; k < 16; ++k) sum += to_float(in[row * 16 + k]) * to_float(in[256 + k * 8 + column]);
      if (out[row * 8 + column] != sum) ++wrong;
    }
  }
  CHECK_EQ(wrong, 0);
}
#endif

// Every fp16 number to fp32 and back; around each the boundaries between which numbers round to it.
void fp16_rounds_to_the_nearest_even() {
  int wrong = 0;
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = to_float(Fp16{half});
    if (from_float<Fp16>(value).bits != half || from_float<Fp16>(-value).bits != (half | 0x8000)) ++wrong;
    const float next = bits + 1 < 0x7c00 ? to_float(Fp16{static_cast<uint16_t>(half + 1)}) : 65536.0f;
    const float middle = value + (next - value) / 2;
    const auto even = static_cast<uint16_t>(bits % 2 == 0 ? bits : bits + 1);
    if (from_float<Fp16>(middle).bits != even) ++wrong;
    if (from_float<Fp16>(std::nextafter(middle, 0.0f)).bits != half) ++wrong;
    if (from_float<Fp16>(std::nextafter(middle, 1e9f)).bits != half + 1) ++wrong;
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(from_float<Fp16>(INFINITY).bits, uint16_t{0x7c00});
  CHECK(std::isnan(to_float(from_float<Fp16>(NAN))));
  CHECK(std::isnan(to_float(from_float<Bf16>(NAN))));
}

}  // namespace
}  // namespace musabench

int main() {
  using namespace musabench;
  RUN_TEST(every_thread_of_every_block_runs_once);
  RUN_TEST(barriers_order_shared_memory);
  RUN_TEST(a_missing_barrier_shows);
  RUN_TEST(shared_memory_starts_as_nan);
  RUN_TEST(shuffles_reach_their_group);
  RUN_TEST(kernels_that_break_the_rules_are_stopped);
  RUN_TEST(addresses_no_gpu_would_take_are_refused);
  RUN_TEST(launches_no_gpu_would_take_are_refused);
  RUN_TEST(asynchronous_copies_arrive_when_waited_for);
#if MUSABENCH_WARP == 32
  RUN_TEST(tensor_cores_multiply);
#endif
  RUN_TEST(fp16_rounds_to_the_nearest_even);
  return test_status();
}
