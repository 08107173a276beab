// GEMM beside the roofs of this machine, for people who work on the kernel; not a test.
//
//   gemm_bench [bf16|fp16] [rounds] [MxNxK ...]
//
// A round measures the roofs and every shape once, so that a machine that changes its speed changes it for all;
// printed are medians over the rounds. Weights rotate through 512 MiB: they are read from memory, not from a cache.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "abi/musart_host.h"
#include "abi/tvm_ffi.h"

extern "C" {
int __tvm_ffi_gemm(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_random_fill(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_read_bandwidth(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_copy_bandwidth(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_peak_flops(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_peak_flops_per_iteration(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
}

namespace {

constexpr int64_t kPoolBytes = int64_t{512} << 20;
constexpr int64_t kReadBytes = int64_t{256} << 20;

void check(int code, const char* what) {
  if (code == 0) return;
  std::fprintf(stderr, "gemm_bench: %s failed with %d\n", what, code);
  std::exit(1);
}

void* allocate(int64_t bytes) {
  void* memory = nullptr;
  check(musaMalloc(&memory, static_cast<size_t>(bytes)), "musaMalloc");
  return memory;
}

struct Tensor {
  int64_t shape[2];
  DLTensor tensor;

  Tensor(void* data, DLDataType type, int64_t rows, int64_t cols) : shape{rows, cols}, tensor{} {
    tensor.data = data;
    tensor.device = {kDLCPU, 0};
    tensor.ndim = 2;
    tensor.dtype = type;
    tensor.shape = shape;
  }
  Tensor(void* data, DLDataType type, int64_t count) : Tensor(data, type, count, 1) { tensor.ndim = 1; }
};

TVMFFIAny arg(Tensor& tensor) {
  TVMFFIAny any = {};
  any.type_index = kTVMFFIDLTensorPtr;
  any.v_ptr = &tensor.tensor;
  return any;
}
TVMFFIAny arg(std::nullptr_t) { return TVMFFIAny{}; }
TVMFFIAny arg(int64_t value) {
  TVMFFIAny any = {};
  any.type_index = kTVMFFIInt;
  any.v_int64 = value;
  return any;
}
TVMFFIAny arg(double value) {
  TVMFFIAny any = {};
  any.type_index = kTVMFFIFloat;
  any.v_float64 = value;
  return any;
}

template <class... Values>
void call(TVMFFISafeCallType kernel, Values&&... values) {
  const TVMFFIAny packed[] = {arg(values)...};
  TVMFFIAny result;
  if (kernel(nullptr, packed, sizeof...(values), &result) == 0) return;
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  const auto* cell = reinterpret_cast<const TVMFFIErrorCell*>(static_cast<const char*>(error) + sizeof(TVMFFIObject));
  std::fprintf(stderr, "gemm_bench: %.*s\n", static_cast<int>(cell->message.size), cell->message.data);
  std::exit(1);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Shape {
  int64_t m, n, k;
};

}  // namespace

int main(int argc, char** argv) {
  DLDataType type = {kDLBfloat, 16, 1};
  int rounds = 7;
  std::vector<Shape> shapes;
  for (int i = 1; i < argc; ++i) {
    Shape shape;
    long m, n, k;
    if (std::strcmp(argv[i], "fp16") == 0) {
      type = {kDLFloat, 16, 1};
    } else if (std::sscanf(argv[i], "%ldx%ldx%ld", &m, &n, &k) == 3 && m > 0 && n > 0 && k > 0 &&
               n * k * 2 <= kPoolBytes) {
      shape = {m, n, k};
      shapes.push_back(shape);
    } else if (std::strcmp(argv[i], "bf16") != 0) {
      rounds = std::atoi(argv[i]);
      if (rounds < 1) {
        std::fprintf(stderr, "usage: gemm_bench [bf16|fp16] [rounds] [MxNxK ...] with N * K * 2 <= %ld\n",
                     static_cast<long>(kPoolBytes));
        return 2;
      }
    }
  }
  if (shapes.empty()) {
    shapes = {{1, 4096, 4096},   {1, 12288, 4096}, {1, 4096, 1024},  {1, 1024, 2048},  {1, 6144, 1024},
              {1, 1024, 3072},   {8, 4096, 4096},  {8, 12288, 4096}, {8, 4096, 1024},  {8, 1024, 2048},
              {8, 6144, 1024},   {8, 1024, 3072},  {32, 4096, 4096}, {64, 4096, 4096}, {512, 4096, 4096},
              {512, 4096, 1024}, {512, 1024, 2048}};
  }

  char* pool = static_cast<char*>(allocate(kPoolBytes));
  auto* result = static_cast<float*>(allocate(4096));
  const DLDataType fp32 = {kDLFloat, 32, 1};
  const DLDataType uint8 = {kDLUInt, 8, 1};
  Tensor all(pool, type, kPoolBytes / 2);
  Tensor half(pool, uint8, kReadBytes), other_half(pool + kReadBytes, uint8, kReadBytes);
  Tensor out(result, fp32, 1);
  call(__tvm_ffi_random_fill, all, int64_t{1}, 0.5);

  std::vector<Tensor> inputs, outputs;
  for (const Shape& s : shapes) {
    inputs.emplace_back(allocate(s.m * s.k * 2), type, s.m, s.k);
    outputs.emplace_back(allocate(s.m * s.n * 2), type, s.m, s.n);
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    inputs[i].tensor.shape = inputs[i].shape;
    outputs[i].tensor.shape = outputs[i].shape;
    call(__tvm_ffi_random_fill, inputs[i], int64_t{2}, 0.5);
  }

  musaEvent_t start, stop;
  check(musaEventCreate(&start), "musaEventCreate");
  check(musaEventCreate(&stop), "musaEventCreate");
  const auto seconds = [&](int repeats, auto&& launch) {
    check(musaEventRecord(start, nullptr), "musaEventRecord");
    for (int i = 0; i < repeats; ++i) launch();
    check(musaEventRecord(stop, nullptr), "musaEventRecord");
    check(musaEventSynchronize(stop), "musaEventSynchronize");
    float milliseconds = 0;
    check(musaEventElapsedTime(&milliseconds, start, stop), "musaEventElapsedTime");
    return milliseconds * 1e-3 / repeats;
  };

  TVMFFIAny per_iteration;
  check(__tvm_ffi_peak_flops_per_iteration(nullptr, nullptr, 0, &per_iteration), "peak_flops_per_iteration");
  const int64_t kIterations = 50000;
  const int streams[] = {1, 2, 4, 8, 16};
  std::vector<double> flops, reads[5], copies;
  std::vector<std::vector<double>> times(shapes.size());
  int64_t at = 0;
  for (int round = 0; round < rounds; ++round) {
    flops.push_back(static_cast<double>(kIterations * per_iteration.v_int64) /
                    seconds(1, [&] { call(__tvm_ffi_peak_flops, kIterations, out); }));
    for (int i = 0; i < 5; ++i) {
      reads[i].push_back(kReadBytes /
                         seconds(1, [&] { call(__tvm_ffi_read_bandwidth, half, int64_t{streams[i]}, out); }));
    }
    copies.push_back(2 * kReadBytes / seconds(1, [&] { call(__tvm_ffi_copy_bandwidth, half, other_half); }));
    // The copy has made the halves equal; that does not matter to a matrix product's time.
    for (size_t i = 0; i < shapes.size(); ++i) {
      const Shape& s = shapes[i];
      const int64_t bytes = s.n * s.k * 2;
      const int repeats =
          static_cast<int>(std::max<int64_t>(1, std::min<int64_t>(50, (int64_t{64} << 20) / (bytes * s.m))));
      times[i].push_back(seconds(repeats, [&] {
        if (at + bytes > kPoolBytes) at = 0;
        Tensor weights(pool + at, type, s.n, s.k);
        at += bytes;
        call(__tvm_ffi_gemm, inputs[i], weights, outputs[i], nullptr);
      }));
    }
  }

  const double peak = median(flops);
  double bandwidth = 0;
  std::printf("lanes %u  FMA peak %.1f GFLOP/s  read GB/s with streams", musaHostLaneCount(), peak / 1e9);
  for (int i = 0; i < 5; ++i) {
    bandwidth = std::max(bandwidth, median(reads[i]));
    std::printf(" %d: %.1f", streams[i], median(reads[i]) / 1e9);
  }
  std::printf("  copy %.1f GB/s\n", median(copies) / 1e9);
  std::printf("%18s %10s %9s %6s %7s %6s  %s\n", "m x n x k", "us", "GFLOP/s", "%FMA", "GB/s", "%read",
              "% of the lower roof");
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Shape& s = shapes[i];
    const double time = median(times[i]);
    const double rate = 2.0 * static_cast<double>(s.m * s.n * s.k) / time;
    const double speed = 2.0 * static_cast<double>(s.n * s.k + s.m * (s.k + s.n)) / time;
    const std::string name = std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k);
    std::printf("%18s %10.1f %9.1f %5.0f%% %7.2f %5.0f%%  %.0f%%\n", name.c_str(), time * 1e6, rate / 1e9,
                100 * rate / peak, speed / 1e9, 100 * speed / bandwidth,
                100 * std::max(rate / peak, speed / bandwidth));
  }
  return 0;
}
