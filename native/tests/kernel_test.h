// For tests of kernels: tensors with guards and poison, calls of exports, and a run for every instruction set.
//
// A test program calls run_variants(argc, argv) first. Started without arguments it starts itself once for each
// instruction set and number of lanes, which are settings that a process reads once.
//
// The same tests run against the device kernels under emulation (MUSABENCH_TEST_EMULATED), which have no instruction
// sets to choose from and are slow: the largest sizes are left out there.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "abi/musart_host.h"
#include "abi/tvm_ffi.h"
#include "check.h"

namespace musabench {

#if defined(MUSABENCH_TEST_EMULATED)
constexpr bool kEmulated = true;
#else
constexpr bool kEmulated = false;
#endif

constexpr DLDataType kBf16Type = {kDLBfloat, 16, 1};
constexpr DLDataType kFp16Type = {kDLFloat, 16, 1};
constexpr DLDataType kFp32Type = {kDLFloat, 32, 1};
constexpr DLDataType kInt32Type = {kDLInt, 32, 1};
constexpr DLDataType kInt64Type = {kDLInt, 64, 1};
constexpr DLDataType kUint8Type = {kDLUInt, 8, 1};

// Starts the program again with these settings and runs its tests. 0, or 1 if they failed.
inline int run_variant(char* program, const char* isa, const char* lanes, const char* guard) {
  std::fprintf(stderr, "[variant] MUSABENCH_ISA=%s MUSART_HOST_THREADS=%s MUSABENCH_TEST_GUARD=%s\n", isa, lanes,
               guard);
  const pid_t child = fork();
  if (child == 0) {
    if (*isa != 0) setenv("MUSABENCH_ISA", isa, 1);
    setenv("MUSART_HOST_THREADS", lanes, 1);
    setenv("MUSABENCH_TEST_GUARD", guard, 1);
    execl("/proc/self/exe", program, "variant", static_cast<char*>(nullptr));
    _exit(127);
  }
  int child_status = 0;
  waitpid(child, &child_status, 0);
  if (child_status == 0) return 0;
  std::fprintf(stderr, "FAILED: variant %s, %s lanes, guard %s, wait status %d\n", isa, lanes, guard, child_status);
  return 1;
}

// -1: this process is one of the variants and shall run the tests. Otherwise what main returns.
inline int run_variants(int argc, char** argv) {
  if (argc > 1) return -1;
  int status = 0;
  if (kEmulated) {
    // Tensors that vectors of 16 bytes can be read from, and such that they cannot.
    for (const char* guard : {"256", "264"}) status |= run_variant(argv[0], "", "3", guard);
    return status;
  }
  for (const char* isa : {"avx2", "scalar"}) {
    if (std::strcmp(isa, "avx2") == 0) {
#if defined(__x86_64__)
      if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c")) {
        std::fprintf(stderr, "skipped: this CPU has no AVX2 with FMA and F16C\n");
        continue;
      }
#else
      std::fprintf(stderr, "skipped: AVX2 is not of this architecture\n");
      continue;
#endif
    }
    for (const char* lanes : {"1", "2", "3"}) {
      status |= run_variant(argv[0], isa, lanes, "264");
    }
  }
  return status;
}

inline double decode_bits(uint16_t bits, DLDataType type) {
  const bool bf16 = type.code == kDLBfloat;
  const int mantissa_bits = bf16 ? 7 : 10;
  const int exponent = (bits & 0x7fff) >> mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int bias = bf16 ? 127 : 15;
  const int top = bf16 ? 255 : 31;
  double value;
  if (exponent == top) {
    value = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  } else {
    value = std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
  }
  return bits & 0x8000 ? -value : value;
}

// The nearest number of the type, ties to even: found by bisection over the positive numbers, which their bits order.
inline uint16_t encode_bits(double value, DLDataType type) {
  if (value != value) return 0x7fff;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  uint16_t low = 0;
  uint16_t high = type.code == kDLBfloat ? 0x7f80 : 0x7c00;
  while (high - low > 1) {
    const uint16_t middle = static_cast<uint16_t>((low + high) / 2);
    (decode_bits(middle, type) <= magnitude ? low : high) = middle;
  }
  const double below = decode_bits(low, type);
  // What infinity stands for: the next number if the exponent went on.
  const double above =
      std::isinf(decode_bits(high, type)) ? 2 * below - decode_bits(low - 1, type) : decode_bits(high, type);
  const double left = magnitude - below;
  const double right = above - magnitude;
  const bool up = right < left || (right == left && (low & 1));
  return static_cast<uint16_t>(sign | (up ? high : low));
}

// Half the distance of neighbours of the type near `value`: the greatest error of one rounding.
inline double rounding_error(double value, DLDataType type) {
  if (type.bits == 32) return std::ldexp(std::fabs(value), -24) + 1e-38;
  return type.code == kDLBfloat ? std::ldexp(std::fabs(value), -8) + 1e-38
                                : std::ldexp(std::fabs(value), -11) + std::ldexp(1.0, -25);
}

// A tensor in device memory (of the host device: readable here) between two guards. Rows may lie further apart than
// their length. Everything starts as poison: NaN in every floating type, which no result may be made of.
class TestTensor {
 public:
  // 264 is a multiple of 8 but not of 32: kernels may not count on alignment.
  inline static const size_t kGuard = [] {
    const char* given = std::getenv("MUSABENCH_TEST_GUARD");
    return static_cast<size_t>(given != nullptr ? std::atoi(given) : 264);
  }();
  static constexpr unsigned char kPoison = 0xff;

  TestTensor(DLDataType type, std::vector<int64_t> shape, int64_t row_gap = 0) : type_(type), shape_(std::move(shape)) {
    strides_.resize(shape_.size());
    int64_t stride = 1;
    for (size_t i = shape_.size(); i-- > 0;) {
      strides_[i] = stride;
      stride *= shape_[i] > 0 ? shape_[i] : 1;
      if (i + 1 == shape_.size() && i > 0) stride += row_gap;
    }
    bytes_ = static_cast<size_t>(stride * type.bits / 8);
    void* memory = nullptr;
    CHECK_EQ(musaMalloc(&memory, bytes_ + 2 * kGuard), musaSuccess);
    memory_ = static_cast<unsigned char*>(memory);
    if (memory_ == nullptr) std::abort();
    std::memset(memory_, kPoison, bytes_ + 2 * kGuard);
    tensor_.data = memory_;
    tensor_.byte_offset = kGuard;
    tensor_.device = {kDLCPU, 0};
    tensor_.ndim = static_cast<int32_t>(shape_.size());
    tensor_.dtype = type;
    tensor_.shape = shape_.data();
    tensor_.strides = strides_.data();
  }
  ~TestTensor() { musaFree(memory_); }
  TestTensor(const TestTensor&) = delete;
  TestTensor& operator=(const TestTensor&) = delete;

  DLTensor* dl() { return &tensor_; }
  unsigned char* bytes() { return memory_ + kGuard; }
  const std::vector<int64_t>& shape() const { return shape_; }
  int64_t elements() const {
    int64_t n = 1;
    for (const int64_t extent : shape_) n *= extent;
    return n;
  }

  // Element `i` in row-major order.
  double get(int64_t i) const {
    const unsigned char* p = address(i);
    if (type_.bits == 16) {
      uint16_t bits;
      std::memcpy(&bits, p, 2);
      return decode_bits(bits, type_);
    }
    if (type_.code == kDLFloat) {
      float x;
      std::memcpy(&x, p, 4);
      return x;
    }
    if (type_.bits == 8) return *p;
    int64_t x = 0;
    std::memcpy(&x, p, type_.bits / 8);
    return type_.bits == 32 ? static_cast<double>(static_cast<int32_t>(x)) : static_cast<double>(x);
  }
  void set(int64_t i, double value) {
    unsigned char* p = address(i);
    if (type_.code == kDLInt || type_.code == kDLUInt) {
      const int64_t x = static_cast<int64_t>(value);
      std::memcpy(p, &x, type_.bits / 8);
    } else if (type_.bits == 16) {
      const uint16_t bits = encode_bits(value, type_);
      std::memcpy(p, &bits, 2);
    } else {
      const float x = static_cast<float>(value);
      std::memcpy(p, &x, 4);
    }
  }
  void fill_uniform(std::mt19937& random, double low, double high) {
    std::uniform_real_distribution<double> draw(low, high);
    for (int64_t i = 0; i < elements(); ++i) set(i, draw(random));
  }
  void poison() { std::memset(bytes(), kPoison, bytes_); }

  // Neither the guards nor the gaps between rows were written.
  bool surroundings_intact() const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (memory_[i] != kPoison || memory_[kGuard + bytes_ + i] != kPoison) return false;
    }
    std::vector<unsigned char> copy(memory_ + kGuard, memory_ + kGuard + bytes_);
    for (int64_t i = 0; i < elements(); ++i) {
      std::memset(copy.data() + (address(i) - memory_ - kGuard), kPoison, type_.bits / 8);
    }
    for (const unsigned char byte : copy) {
      if (byte != kPoison) return false;
    }
    return true;
  }

 private:
  unsigned char* address(int64_t i) const {
    int64_t at = 0;
    for (size_t d = shape_.size(); d-- > 0;) {
      at += i % shape_[d] * strides_[d];
      i /= shape_[d];
    }
    return memory_ + kGuard + at * type_.bits / 8;
  }

  DLDataType type_;
  std::vector<int64_t> shape_;
  std::vector<int64_t> strides_;
  size_t bytes_ = 0;
  unsigned char* memory_ = nullptr;
  DLTensor tensor_ = {};
};

// An argument of an export.
inline TVMFFIAny arg(TestTensor& tensor) {
  TVMFFIAny any = {};
  any.type_index = kTVMFFIDLTensorPtr;
  any.v_ptr = tensor.dl();
  return any;
}
inline TVMFFIAny arg(int64_t value) {
  TVMFFIAny any = {};
  any.type_index = kTVMFFIInt;
  any.v_int64 = value;
  return any;
}
inline TVMFFIAny arg(int value) { return arg(int64_t{value}); }
inline TVMFFIAny arg(double value) {
  TVMFFIAny any = {};
  any.type_index = kTVMFFIFloat;
  any.v_float64 = value;
  return any;
}
inline TVMFFIAny arg(std::nullptr_t) { return TVMFFIAny{}; }

// Calls an export and waits for the device. "" or "<kind>: <message>" of the raised error, or the device's error.
template <class... Values>
std::string call(TVMFFISafeCallType kernel, Values&&... values) {
  const TVMFFIAny packed[sizeof...(values) + 1] = {arg(values)..., TVMFFIAny{}};
  TVMFFIAny result = {};
  if (kernel(nullptr, packed, sizeof...(values), &result) != 0) {
    TVMFFIObjectHandle error = nullptr;
    TVMFFIErrorMoveFromRaised(&error);
    if (error == nullptr) return "failed without an error";
    const auto* cell = reinterpret_cast<const TVMFFIErrorCell*>(static_cast<const char*>(error) + sizeof(TVMFFIObject));
    std::string text =
        std::string(cell->kind.data, cell->kind.size) + ": " + std::string(cell->message.data, cell->message.size);
    TVMFFIObjectDecRef(error);
    return text;
  }
  const musaError_t error = musaDeviceSynchronize();
  return error == musaSuccess ? "" : std::string("device: ") + musaGetErrorName(error);
}

inline bool starts_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

}  // namespace musabench
