// Reads and checks the arguments of a TVM-FFI kernel export. Shared by host and device kernels.
//
//   MUSABENCH_EXPORT(rms_norm, args) {
//     const TensorArg x = args.tensor("x");
//     const TensorArg weight = args.tensor("weight");
//     const TensorArg out = args.output("out");
//     const float eps = args.fp32("eps");
//     args.finish();
//     x.require_rank(2).require_dtype({Dtype::kBFloat16, Dtype::kFloat16}).require_inner_contiguous();
//     weight.require_shape({x.shape(1)}, "[hidden]").require_same_dtype(x).require_contiguous();
//     out.require_shape({x.shape(0), x.shape(1)}, "the shape of x").require_same_dtype(x).require_inner_contiguous();
//     args.check_runtime(launch_rms_norm({...}, args.stream()), "launch");
//   }
//
// Arguments are read in ABI order. Whatever is wrong with one is thrown as ExportError and leaves the export as a
// raised TVM-FFI error and -1; nothing was launched then, as long as the body launches after its last check. Reading
// allocates nothing: it is part of every launch that is timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <optional>
#include <string>

#include "../../abi/tvm_ffi.h"
#include "../dtype.h"

namespace musabench {

// Dimensions of the largest tensor a kernel takes.
constexpr int32_t kMaxRank = 8;

// A failed check. `kind` is the TVM-FFI error kind: TypeError (wrong count or type of argument), ValueError (right
// type, wrong dtype, shape, strides, device or range) or RuntimeError (a call of the device runtime failed).
class ExportError : public std::exception {
 public:
  ExportError(const char* kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  const char* kind() const { return kind_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  const char* kind_;  // static
  std::string message_;
};

class Args;

// "float32" and so on, as in error texts.
const char* dtype_name(Dtype dtype);

// A tensor argument: its own copy of shape and strides, and a pointer to memory that the caller owns. Valid tensors
// only: 0 <= rank <= kMaxRank, extents and strides not negative, at most 2^57 elements (an extent of 0 counted as 1)
// over at most 2^57 bytes, data aligned to an element and, unless the tensor is empty, not NULL. The require_ functions
// throw ValueError and return *this.
class TensorArg {
 public:
  // Address of the first element, byte_offset applied. A device address unless the device is kDLCPU.
  void* data() const { return data_; }
  template <typename T>
  T* data_as() const {
    return static_cast<T*>(data_);
  }
  const char* name() const { return name_; }
  Dtype dtype() const { return dtype_; }
  int32_t rank() const { return rank_; }
  // Extent of a dimension; axis in [0, rank).
  int64_t shape(int32_t axis) const { return shape_[axis]; }
  // Distance of neighbours in elements; axis in [0, rank). Where there are no neighbours (an extent of 0 or 1), that of
  // a contiguous tensor, whatever was given.
  int64_t stride(int32_t axis) const { return strides_[axis]; }
  int64_t elements() const { return elements_; }
  bool empty() const { return elements_ == 0; }
  // Bytes from data() to the end of the last element; 0 when empty. More than elements() * size if there are gaps.
  int64_t extent_bytes() const { return extent_bytes_; }
  DLDevice device() const { return device_; }
  bool is_contiguous() const;

  const TensorArg& require_rank(int32_t rank) const {
    if (rank_ != rank) fail_rank(rank);
    return *this;
  }
  // Extents must be equal; -1 takes any. `meaning`, e.g. "[tokens, hidden of x]", says where the wanted ones are from.
  const TensorArg& require_shape(std::initializer_list<int64_t> wanted, const char* meaning = nullptr) const;
  const TensorArg& require_dtype(Dtype wanted) const {
    if (dtype_ != wanted) fail_dtype({wanted});
    return *this;
  }
  const TensorArg& require_dtype(std::initializer_list<Dtype> wanted) const;
  const TensorArg& require_same_dtype(const TensorArg& other) const {
    if (dtype_ != other.dtype_) fail_same_dtype(other);
    return *this;
  }
  // The last dimension has stride 1 (or there is at most one element in it); the others are free.
  const TensorArg& require_inner_contiguous() const {
    if (rank_ > 0 && shape_[rank_ - 1] > 1 && elements_ > 0 && strides_[rank_ - 1] != 1) fail_inner_contiguous();
    return *this;
  }
  // Row-major without gaps.
  const TensorArg& require_contiguous() const {
    if (!is_contiguous()) fail_contiguous();
    return *this;
  }
  // data() is a multiple of `bytes`.
  const TensorArg& require_alignment(int64_t bytes) const;
  // The memory spans of the two do not meet.
  const TensorArg& require_no_overlap(const TensorArg& other) const;
  // Any other condition: ValueError "<kernel>: <name> <given and wanted>" unless `holds`.
  const TensorArg& require(bool holds, const char* given_and_wanted) const {
    if (!holds) fail(given_and_wanted);
    return *this;
  }
  [[noreturn]] void fail(const std::string& given_and_wanted) const;

 private:
  friend class Args;
  TensorArg() = default;
  bool overlaps_itself() const;
  [[noreturn]] void fail_rank(int32_t wanted) const;
  [[noreturn]] void fail_dtype(std::initializer_list<Dtype> wanted) const;
  [[noreturn]] void fail_same_dtype(const TensorArg& other) const;
  [[noreturn]] void fail_inner_contiguous() const;
  [[noreturn]] void fail_contiguous() const;

  void* data_ = nullptr;
  int64_t elements_ = 0;
  int64_t extent_bytes_ = 0;
  int64_t shape_[kMaxRank] = {};
  int64_t strides_[kMaxRank] = {};
  const char* kernel_ = "";
  const char* name_ = "";
  DLDevice device_ = {0, 0};
  int32_t rank_ = 0;
  DLDataType raw_dtype_ = {0, 0, 0};
  Dtype dtype_ = Dtype::kOther;
};

// Memory from TVMFFIEnvTensorAlloc, released with this object. Release while a launch that uses it is still queued is
// what the environment's allocators allow: they hand the block only to later work of the same stream.
class Scratch {
 public:
  explicit Scratch(TVMFFIObjectHandle tensor) : tensor_(tensor) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Scratch(Scratch&& other) noexcept : tensor_(other.tensor_) { other.tensor_ = nullptr; }
  ~Scratch();
  void* data() const;

 private:
  TVMFFIObjectHandle tensor_;
};

// The arguments of one call. Readers throw TypeError for a missing argument or one of the wrong type, ValueError for
// one out of range; texts name the kernel, the argument, what was given and what is wanted.
class Args {
 public:
  Args(const char* kernel, const TVMFFIAny* args, int32_t count, TVMFFIAny* result)
      : kernel_(kernel), args_(args), count_(count), result_(result) {}

  // DLTensorPtr or Tensor object. All tensors of a call are on one device.
  TensorArg tensor(const char* name);
  // A tensor that the kernel writes: each element has memory of its own. What is asked is a little more: that, by
  // growing stride, each dimension steps over all that the smaller ones reach. Every slice or permutation of a
  // contiguous tensor is so; rows woven into each other, as strides [3, 2] make them, are refused.
  TensorArg output(const char* name);
  // None is empty.
  std::optional<TensorArg> optional_tensor(const char* name);
  std::optional<TensorArg> optional_output(const char* name);
  // Int or Bool, in [min, max].
  int64_t integer(const char* name, int64_t min = INT64_MIN, int64_t max = INT64_MAX);
  std::optional<int64_t> optional_integer(const char* name, int64_t min = INT64_MIN, int64_t max = INT64_MAX);
  // Float, Int or Bool; finite.
  double number(const char* name);
  // The same, rounded to fp32: neither too large for that nor, unless it is 0, so small that it becomes 0.
  float fp32(const char* name);
  // Bool or Int.
  bool boolean(const char* name);
  // Ends the reading: TypeError if more arguments were given.
  void finish();

  // Device of the tensors read so far; {kDLCPU, 0} before the first.
  DLDevice device() const { return device_; }
  // The calling thread's stream of device(); NULL is the legacy stream.
  void* stream() const { return TVMFFIEnvGetStream(device_.device_type, device_.device_id); }
  // `bytes` of uint8 on device(), from the environment's allocator. Throws what the allocator raised.
  Scratch allocate(int64_t bytes) const;
  // RuntimeError "<kernel>: <call> failed with <code>" unless code is 0.
  void check_runtime(int code, const char* call) const {
    if (code != 0) fail_runtime(code, call);
  }
  // ValueError "<kernel>: <given and wanted>" unless `holds`: conditions between arguments.
  void require(bool holds, const char* given_and_wanted) const {
    if (!holds) fail(given_and_wanted);
  }
  [[noreturn]] void fail(const std::string& given_and_wanted) const;
  // Sets the call's result, which is None otherwise. The caller of the kernel owns an object that is returned.
  void return_any(const TVMFFIAny& value) {
    if (result_ != nullptr) *result_ = value;
  }
  void return_integer(int64_t value);

  const char* kernel() const { return kernel_; }
  bool finished() const { return finished_; }

 private:
  const TVMFFIAny& next(const char* name, const char* wanted);
  TensorArg read_tensor(const TVMFFIAny& value, const char* name, const char* wanted, bool written);
  [[noreturn]] void fail_type(const char* name, const TVMFFIAny& value, const char* wanted) const;
  [[noreturn]] void fail_value(const char* name, const std::string& given_and_wanted) const;
  [[noreturn]] void fail_runtime(int code, const char* call) const;

  const char* kernel_;
  const TVMFFIAny* args_;
  int32_t count_;
  TVMFFIAny* result_;
  int32_t position_ = 0;
  DLDevice device_ = {kDLCPU, 0};
  const char* device_of_ = nullptr;  // the tensor that device_ was taken from
  bool finished_ = false;
};

// Runs an export's body and turns exceptions into raised TVM-FFI errors: 0, -1, or what a failed allocator returned.
int run_export(const char* kernel, void (*body)(Args&), const TVMFFIAny* args, int32_t count, TVMFFIAny* result);

}  // namespace musabench

#define MUSABENCH_EXPORT(kernel, args)                                                                         \
  static void musabench_export_##kernel(::musabench::Args& args);                                              \
  extern "C" __attribute__((visibility("default"))) int __tvm_ffi_##kernel(void*, const TVMFFIAny* values,     \
                                                                           int32_t count, TVMFFIAny* result) { \
    return ::musabench::run_export(#kernel, &musabench_export_##kernel, values, count, result);                \
  }                                                                                                            \
  static void musabench_export_##kernel(::musabench::Args& args)
