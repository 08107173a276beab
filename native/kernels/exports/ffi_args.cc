#include "ffi_args.h"

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <new>
#include <utility>

#include "../environment_error.h"

namespace musabench {
namespace {

// No address space is larger (57 bits are the most that a CPU or GPU translates), and it leaves kernels room to add up
// and multiply sizes.
constexpr int64_t kMaxElements = int64_t{1} << 57;

// A call of the FFI library failed and has already raised its error.
struct AlreadyRaised {
  int code;
};

Dtype dtype_of(DLDataType type) {
  if (type.lanes != 1) return Dtype::kOther;
  switch (type.code) {
    case kDLBfloat:
      return type.bits == 16 ? Dtype::kBFloat16 : Dtype::kOther;
    case kDLFloat:
      return type.bits == 16 ? Dtype::kFloat16 : type.bits == 32 ? Dtype::kFloat32 : Dtype::kOther;
    case kDLInt:
      return type.bits == 32 ? Dtype::kInt32 : type.bits == 64 ? Dtype::kInt64 : Dtype::kOther;
    case kDLUInt:
      return type.bits == 8 ? Dtype::kUInt8 : Dtype::kOther;
    default:
      return Dtype::kOther;
  }
}

std::string dtype_text(DLDataType type) {
  const char* code = nullptr;
  switch (type.code) {
    case kDLInt:
      code = "int";
      break;
    case kDLUInt:
      code = "uint";
      break;
    case kDLFloat:
      code = "float";
      break;
    case kDLBfloat:
      code = "bfloat";
      break;
    case kDLBool:
      code = "bool";
      break;
    default:
      break;
  }
  std::string text = code != nullptr
                         ? code + std::to_string(type.bits)
                         : "dtype code " + std::to_string(type.code) + " of " + std::to_string(type.bits) + " bits";
  if (type.lanes != 1) text += "x" + std::to_string(type.lanes);
  return text;
}

std::string list_text(const int64_t* values, int32_t count) {
  std::string text = "[";
  for (int32_t i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    text += values[i] == -1 ? "any" : std::to_string(values[i]);
  }
  return text + "]";
}

std::string device_text(DLDevice device) {
  const std::string id = ":" + std::to_string(device.device_id);
  switch (device.device_type) {
    case kDLCPU:
      return "cpu" + id;
    case kDLCUDA:
      return "cuda" + id;
    case kDLExtDev:
      return "musa" + id;
    default:
      return "device type " + std::to_string(device.device_type) + id;
  }
}

// What was given in place of an argument, for error texts. Never follows a pointer.
std::string given_text(const TVMFFIAny& value) {
  switch (value.type_index) {
    case kTVMFFINone:
      return "None";
    case kTVMFFIInt:
      return "the int " + std::to_string(value.v_int64);
    case kTVMFFIBool:
      return value.v_int64 != 0 ? "the bool true" : "the bool false";
    case kTVMFFIFloat:
      return "the float " + std::to_string(value.v_float64);
    case kTVMFFIOpaquePtr:
      return "an opaque pointer";
    case kTVMFFIDataType:
      return "a dtype";
    case kTVMFFIDevice:
      return "a device";
    case kTVMFFIDLTensorPtr:
      return value.v_ptr != nullptr ? "a tensor" : "a tensor that is NULL";
    case kTVMFFIRawStr:
    case kTVMFFISmallStr:
    case kTVMFFIStr:
      return "a string";
    case kTVMFFIByteArrayPtr:
    case kTVMFFISmallBytes:
    case kTVMFFIBytes:
      return "bytes";
    case kTVMFFIFunction:
      return "a function";
    case kTVMFFIShape:
      return "a shape";
    case kTVMFFITensor:
      return value.v_ptr != nullptr ? "a tensor" : "a tensor that is NULL";
    case kTVMFFIArray:
      return "an array";
    default:
      return "a value of type index " + std::to_string(value.type_index);
  }
}

}  // namespace

const char* dtype_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBFloat16:
      return "bfloat16";
    case Dtype::kFloat16:
      return "float16";
    case Dtype::kFloat32:
      return "float32";
    case Dtype::kInt32:
      return "int32";
    case Dtype::kInt64:
      return "int64";
    case Dtype::kUInt8:
      return "uint8";
    case Dtype::kOther:
      break;
  }
  return "another dtype";
}

// ---- TensorArg

// See Args::output. The extents and strides are known to span less than an address space.
bool TensorArg::overlaps_itself() const {
  if (empty()) return false;
  bool counted[kMaxRank] = {};
  int64_t span = 1;  // elements from the first to the last that the dimensions counted so far reach
  for (;;) {
    int32_t next = -1;
    for (int32_t i = rank_ - 1; i >= 0; --i) {
      if (!counted[i] && shape_[i] > 1 && (next < 0 || strides_[i] < strides_[next])) next = i;
    }
    if (next < 0) return false;
    if (strides_[next] < span) return true;
    span += (shape_[next] - 1) * strides_[next];
    counted[next] = true;
  }
}

bool TensorArg::is_contiguous() const {
  if (elements_ == 0) return true;
  int64_t expected = 1;
  for (int32_t i = rank_ - 1; i >= 0; --i) {
    if (shape_[i] > 1 && strides_[i] != expected) return false;
    expected *= shape_[i];
  }
  return true;
}

const TensorArg& TensorArg::require_shape(std::initializer_list<int64_t> wanted, const char* meaning) const {
  bool equal = static_cast<int32_t>(wanted.size()) == rank_;
  int32_t axis = 0;
  for (auto extent = wanted.begin(); equal && extent != wanted.end(); ++extent, ++axis) {
    equal = *extent == -1 || *extent == shape_[axis];
  }
  if (!equal) {
    std::string text = "has shape " + list_text(shape_, rank_) + ", wanted " +
                       list_text(wanted.begin(), static_cast<int32_t>(wanted.size()));
    if (meaning != nullptr) text += std::string(" (") + meaning + ")";
    fail(text);
  }
  return *this;
}

const TensorArg& TensorArg::require_dtype(std::initializer_list<Dtype> wanted) const {
  for (const Dtype dtype : wanted) {
    if (dtype == dtype_) return *this;
  }
  fail_dtype(wanted);
}

const TensorArg& TensorArg::require_alignment(int64_t bytes) const {
  const auto address = reinterpret_cast<uintptr_t>(data_);
  if (!empty() && address % static_cast<uintptr_t>(bytes) != 0) {
    fail("starts " + std::to_string(address % static_cast<uintptr_t>(bytes)) + " bytes past a multiple of " +
         std::to_string(bytes) + " bytes, wanted an aligned start");
  }
  return *this;
}

const TensorArg& TensorArg::require_no_overlap(const TensorArg& other) const {
  const auto begin = reinterpret_cast<uintptr_t>(data_);
  const auto other_begin = reinterpret_cast<uintptr_t>(other.data_);
  if (!empty() && !other.empty() && begin < other_begin + static_cast<uintptr_t>(other.extent_bytes_) &&
      other_begin < begin + static_cast<uintptr_t>(extent_bytes_)) {
    fail(std::string("shares memory with ") + other.name_ + ", wanted separate memory");
  }
  return *this;
}

void TensorArg::fail(const std::string& given_and_wanted) const {
  throw ExportError("ValueError", std::string(kernel_) + ": " + name_ + " " + given_and_wanted);
}

void TensorArg::fail_rank(int32_t wanted) const {
  fail("has " + std::to_string(rank_) + " dimensions " + list_text(shape_, rank_) + ", wanted " +
       std::to_string(wanted));
}

void TensorArg::fail_dtype(std::initializer_list<Dtype> wanted) const {
  std::string text = "is " + dtype_text(raw_dtype_) + ", wanted ";
  const char* separator = "";
  for (const Dtype dtype : wanted) {
    text += separator;
    text += dtype_name(dtype);
    separator = " or ";
  }
  fail(text);
}

void TensorArg::fail_same_dtype(const TensorArg& other) const {
  fail("is " + dtype_text(raw_dtype_) + ", wanted " + dtype_text(other.raw_dtype_) + " like " + other.name_);
}

void TensorArg::fail_inner_contiguous() const {
  fail("has strides " + list_text(strides_, rank_) + ", wanted 1 for the last dimension");
}

void TensorArg::fail_contiguous() const {
  int64_t wanted[kMaxRank];
  int64_t expected = 1;
  for (int32_t i = rank_ - 1; i >= 0; --i) {
    wanted[i] = expected;
    expected *= shape_[i];
  }
  fail("has strides " + list_text(strides_, rank_) + " for shape " + list_text(shape_, rank_) + ", wanted " +
       list_text(wanted, rank_) + " (contiguous)");
}

// ---- Scratch

Scratch::~Scratch() {
  if (tensor_ != nullptr) TVMFFIObjectDecRef(tensor_);
}

void* Scratch::data() const {
  const auto* tensor = reinterpret_cast<const DLTensor*>(static_cast<const char*>(tensor_) + sizeof(TVMFFIObject));
  return static_cast<char*>(tensor->data) + tensor->byte_offset;
}

// ---- Args

const TVMFFIAny& Args::next(const char* name, const char* wanted) {
  if (args_ == nullptr || position_ >= count_) {
    throw ExportError("TypeError", std::string(kernel_) + ": argument " + std::to_string(position_ + 1) + " (" + name +
                                       ") is missing, wanted " + wanted + "; " +
                                       std::to_string(count_ > 0 && args_ != nullptr ? count_ : 0) +
                                       " arguments were given");
  }
  return args_[position_++];
}

TensorArg Args::read_tensor(const TVMFFIAny& value, const char* name, const char* wanted, bool written) {
  const DLTensor* tensor = nullptr;
  if (value.type_index == kTVMFFIDLTensorPtr) {
    tensor = static_cast<const DLTensor*>(value.v_ptr);
  } else if (value.type_index == kTVMFFITensor && value.v_ptr != nullptr) {
    tensor = reinterpret_cast<const DLTensor*>(static_cast<const char*>(value.v_ptr) + sizeof(TVMFFIObject));
  }
  if (tensor == nullptr) fail_type(name, value, wanted);

  TensorArg arg;
  arg.kernel_ = kernel_;
  arg.name_ = name;
  arg.raw_dtype_ = tensor->dtype;
  arg.dtype_ = dtype_of(tensor->dtype);
  arg.device_ = tensor->device;
  if (tensor->ndim < 0 || tensor->ndim > kMaxRank) {
    arg.fail("has " + std::to_string(tensor->ndim) + " dimensions, wanted 0 to " + std::to_string(kMaxRank));
  }
  arg.rank_ = tensor->ndim;
  if (arg.rank_ > 0 && tensor->shape == nullptr) arg.fail("has no shape (NULL), wanted one of its dimensions");
  bool is_empty = false;
  for (int32_t i = 0; i < arg.rank_; ++i) {
    arg.shape_[i] = tensor->shape[i];
    is_empty = is_empty || arg.shape_[i] == 0;
  }
  for (int32_t i = 0; i < arg.rank_; ++i) {
    if (arg.shape_[i] < 0) arg.fail("has shape " + list_text(arg.shape_, arg.rank_) + ", wanted no negative extent");
  }

  // Strides, element count and the distance of the last byte, all in 63 bits. An extent of 0 counts as 1 here, which
  // keeps the strides of an empty tensor what its other extents make them.
  bool overflow = false;
  int64_t elements = 1;
  int64_t span = 1;
  for (int32_t i = arg.rank_ - 1; i >= 0; --i) {
    // A dimension that is never stepped through may carry any stride; kernels get one that means no harm.
    const bool is_stepped = arg.shape_[i] > 1;
    arg.strides_[i] = tensor->strides != nullptr && is_stepped ? tensor->strides[i] : elements;
    if (!overflow && arg.strides_[i] < 0) {
      arg.fail("has stride " + std::to_string(arg.strides_[i]) + " in dimension " + std::to_string(i) +
               ", wanted no negative stride");
    }
    const int64_t extent = arg.shape_[i] > 0 ? arg.shape_[i] : 1;
    int64_t reach = 0;
    overflow = overflow || __builtin_mul_overflow(extent - 1, arg.strides_[i], &reach) ||
               __builtin_add_overflow(span, reach, &span) || __builtin_mul_overflow(elements, extent, &elements);
  }
  const int64_t element_bytes = dtype_bytes(arg.dtype_) > 0 ? dtype_bytes(arg.dtype_) : 1;
  uintptr_t begin = 0;
  uintptr_t end = 0;
  overflow = overflow || __builtin_mul_overflow(span, element_bytes, &arg.extent_bytes_) ||
             __builtin_add_overflow(reinterpret_cast<uintptr_t>(tensor->data),
                                    static_cast<uintptr_t>(tensor->byte_offset), &begin) ||
             __builtin_add_overflow(begin, static_cast<uintptr_t>(arg.extent_bytes_), &end) ||
             elements > kMaxElements || arg.extent_bytes_ > kMaxElements;
  arg.elements_ = is_empty ? 0 : elements;
  if (is_empty) arg.extent_bytes_ = 0;
  if (overflow) {
    arg.fail("of shape " + list_text(arg.shape_, arg.rank_) + " with byte offset " +
             std::to_string(tensor->byte_offset) + " is larger than an address space, wanted one that fits");
  }
  if (written && arg.overlaps_itself()) {
    arg.fail("is written but has strides " + list_text(arg.strides_, arg.rank_) + " for shape " +
             list_text(arg.shape_, arg.rank_) + ", wanted memory of its own for every element");
  }
  if (!is_empty && tensor->data == nullptr) {
    arg.fail("of shape " + list_text(arg.shape_, arg.rank_) + " has no memory (data is NULL), wanted its address");
  }
  if (!is_empty && begin % static_cast<uintptr_t>(element_bytes) != 0) {
    arg.fail("starts at an address that is no multiple of its element's " + std::to_string(element_bytes) +
             " bytes, wanted an aligned one");
  }
  arg.data_ = reinterpret_cast<void*>(begin);

  if (device_of_ == nullptr) {
    device_ = arg.device_;
    device_of_ = name;
  } else if (arg.device_.device_type != device_.device_type || arg.device_.device_id != device_.device_id) {
    arg.fail("is on " + device_text(arg.device_) + ", wanted " + device_text(device_) + " like " + device_of_);
  }
  return arg;
}

TensorArg Args::tensor(const char* name) { return read_tensor(next(name, "a tensor"), name, "a tensor", false); }

TensorArg Args::output(const char* name) { return read_tensor(next(name, "a tensor"), name, "a tensor", true); }

std::optional<TensorArg> Args::optional_tensor(const char* name) {
  const TVMFFIAny& value = next(name, "a tensor or None");
  if (value.type_index == kTVMFFINone) return std::nullopt;
  return read_tensor(value, name, "a tensor or None", false);
}

std::optional<TensorArg> Args::optional_output(const char* name) {
  const TVMFFIAny& value = next(name, "a tensor or None");
  if (value.type_index == kTVMFFINone) return std::nullopt;
  return read_tensor(value, name, "a tensor or None", true);
}

int64_t Args::integer(const char* name, int64_t min, int64_t max) {
  const TVMFFIAny& value = next(name, "an int");
  if (value.type_index != kTVMFFIInt && value.type_index != kTVMFFIBool) fail_type(name, value, "an int");
  if (value.v_int64 < min || value.v_int64 > max) {
    std::string wanted = max == INT64_MAX   ? "at least " + std::to_string(min)
                         : min == INT64_MIN ? "at most " + std::to_string(max)
                                            : std::to_string(min) + " to " + std::to_string(max);
    fail_value(name, "is " + std::to_string(value.v_int64) + ", wanted " + wanted);
  }
  return value.v_int64;
}

std::optional<int64_t> Args::optional_integer(const char* name, int64_t min, int64_t max) {
  const TVMFFIAny& value = next(name, "an int or None");
  if (value.type_index == kTVMFFINone) return std::nullopt;
  if (value.type_index != kTVMFFIInt && value.type_index != kTVMFFIBool) fail_type(name, value, "an int or None");
  --position_;
  return integer(name, min, max);
}

double Args::number(const char* name) {
  const TVMFFIAny& value = next(name, "a number");
  if (value.type_index == kTVMFFIInt || value.type_index == kTVMFFIBool) return static_cast<double>(value.v_int64);
  if (value.type_index != kTVMFFIFloat) fail_type(name, value, "a number");
  if (!std::isfinite(value.v_float64)) {
    fail_value(name, "is " + std::to_string(value.v_float64) + ", wanted a finite number");
  }
  return value.v_float64;
}

float Args::fp32(const char* name) {
  const double value = number(name);
  const double magnitude = std::fabs(value);
  if (magnitude > FLT_MAX || (magnitude > 0 && static_cast<float>(magnitude) == 0)) {
    char given[96];
    std::snprintf(given, sizeof given, "is %g, wanted 0 or a magnitude of %g to %g (fp32)", value, double{FLT_TRUE_MIN},
                  double{FLT_MAX});
    fail_value(name, given);
  }
  return static_cast<float>(value);
}

bool Args::boolean(const char* name) {
  const TVMFFIAny& value = next(name, "a bool");
  if (value.type_index != kTVMFFIBool && value.type_index != kTVMFFIInt) fail_type(name, value, "a bool");
  return value.v_int64 != 0;
}

void Args::finish() {
  if (count_ != position_) {
    throw ExportError("TypeError", std::string(kernel_) + ": " + std::to_string(count_) +
                                       " arguments were given, wanted " + std::to_string(position_));
  }
  finished_ = true;
}

Scratch Args::allocate(int64_t bytes) const {
  DLTensor prototype = {};
  int64_t shape[1] = {bytes};
  prototype.device = device_;
  prototype.ndim = 1;
  prototype.dtype = {kDLUInt, 8, 1};
  prototype.shape = shape;
  TVMFFIObjectHandle tensor = nullptr;
  const int code = TVMFFIEnvTensorAlloc(&prototype, &tensor);
  if (code != 0) throw AlreadyRaised{code};
  return Scratch(tensor);
}

void Args::return_integer(int64_t value) {
  TVMFFIAny any = {};
  any.type_index = kTVMFFIInt;
  any.v_int64 = value;
  return_any(any);
}

void Args::fail(const std::string& given_and_wanted) const {
  throw ExportError("ValueError", std::string(kernel_) + ": " + given_and_wanted);
}

void Args::fail_type(const char* name, const TVMFFIAny& value, const char* wanted) const {
  // next() has moved on, so position_ counts from 1 here.
  throw ExportError("TypeError", std::string(kernel_) + ": argument " + std::to_string(position_) + " (" + name +
                                     ") is " + given_text(value) + ", wanted " + wanted);
}

void Args::fail_value(const char* name, const std::string& given_and_wanted) const {
  throw ExportError("ValueError", std::string(kernel_) + ": " + name + " " + given_and_wanted);
}

void Args::fail_runtime(int code, const char* call) const {
  throw ExportError("RuntimeError", std::string(kernel_) + ": " + call + " failed with error " + std::to_string(code));
}

int run_export(const char* kernel, void (*body)(Args&), const TVMFFIAny* values, int32_t count, TVMFFIAny* result) {
  if (result != nullptr) *result = TVMFFIAny{};
  try {
    Args args(kernel, values, count, result);
    body(args);
    if (!args.finished()) throw ExportError("InternalError", std::string(kernel) + ": the export never calls finish()");
    return 0;
  } catch (const AlreadyRaised& raised) {
    return raised.code;
  } catch (const ExportError& error) {
    TVMFFIErrorSetRaisedFromCStr(error.kind(), error.what());
  } catch (const EnvironmentError& error) {
    const char* parts[] = {kernel, ": ", error.what()};
    TVMFFIErrorSetRaisedFromCStrParts("RuntimeError", parts, 3);
  } catch (const std::bad_alloc&) {
    TVMFFIErrorSetRaisedFromCStr("MemoryError", kernel);
  } catch (const std::exception& error) {
    const char* parts[] = {kernel, ": ", error.what()};
    TVMFFIErrorSetRaisedFromCStrParts("InternalError", parts, 3);
  } catch (...) {
    TVMFFIErrorSetRaisedFromCStr("InternalError", kernel);
  }
  return -1;
}

}  // namespace musabench
