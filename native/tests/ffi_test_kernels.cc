// Kernels for contract tests of callers: libmusabench_ffi_test.so. They use nothing but the public ABI, so the tests
// run against libtvm_ffi_host and against the real libtvm_ffi. None of them launches anything.
//
//   ffi_test_count(...)                      -> int, the number of arguments
//   ffi_test_echo(value)                     -> the value: int, float, bool, None, dtype, device, opaque pointer as
//   given,
//                                               an object with a reference of its own
//   ffi_test_integer(value:i)                -> int      this and the next four read by ffi_args.h
//   ffi_test_optional_integer(value:?i)      -> int, -1 for None
//   ffi_test_number(value:f)                 -> float
//   ffi_test_boolean(value:b)                -> bool
//   ffi_test_describe(tensor:?T)             -> Str, e.g. "float32[2, 3] strides [3, 1] on 1:0", "None"
//   ffi_test_stream(device_type:i, id:i)     -> opaque pointer, the thread's stream
//   ffi_test_string(length:i)                -> Str of that many characters, a b c ... z a b ...
//   ffi_test_raise(kind:Str, message:Str)    raises that error
//   ffi_test_throw()                         throws std::runtime_error("thrown") inside the kernel
//   ffi_test_fail_silently()                 returns -1 with nothing raised
//   ffi_test_allocate(like:T)                -> Tensor of the same shape, dtype and device from the environment
//   ffi_test_allocate_pairs(like:T, count:i) -> Array[Array[Array[Tensor, Tensor]], int]: count pairs, and count
#include <stdexcept>
#include <string>

#include "ffi_array.h"
#include "kernels/exports/ffi_args.h"

using musabench::Args;
using musabench::ArrayObject;
using musabench::Dtype;
using musabench::new_array;
using musabench::set;
using musabench::set_object;
using musabench::TensorArg;

#define RAW_EXPORT(name)                                                                                              \
  extern "C" __attribute__((visibility("default"))) int __tvm_ffi_##name(void*, const TVMFFIAny* args, int32_t count, \
                                                                         TVMFFIAny* result)

namespace {

int wrong_arguments(const char* kernel) {
  TVMFFIErrorSetRaisedFromCStr("TypeError", (std::string(kernel) + ": wrong arguments").c_str());
  return -1;
}

// The characters of any of the ABI's strings; false for other values.
bool read_string(const TVMFFIAny& value, std::string* text) {
  switch (value.type_index) {
    case kTVMFFIRawStr:
      *text = value.v_c_str;
      return true;
    case kTVMFFISmallStr:
      text->assign(value.v_bytes, value.zero_padding);
      return true;
    case kTVMFFIStr: {
      const auto* bytes = reinterpret_cast<const TVMFFIByteArray*>(value.v_obj + 1);
      text->assign(bytes->data, bytes->size);
      return true;
    }
    default:
      return false;
  }
}

int return_string(const std::string& text, TVMFFIAny* result) {
  const TVMFFIByteArray bytes = {text.data(), text.size()};
  return TVMFFIStringFromByteArray(&bytes, result);
}

std::string list(const TensorArg& tensor, int64_t (TensorArg::*get)(int32_t) const) {
  std::string text = "[";
  for (int32_t i = 0; i < tensor.rank(); ++i) text += (i > 0 ? ", " : "") + std::to_string((tensor.*get)(i));
  return text + "]";
}

const DLTensor* tensor_of(const TVMFFIAny& value) {
  if (value.type_index == kTVMFFIDLTensorPtr) return static_cast<const DLTensor*>(value.v_ptr);
  if (value.type_index == kTVMFFITensor) return reinterpret_cast<const DLTensor*>(value.v_obj + 1);
  return nullptr;
}

}  // namespace

RAW_EXPORT(ffi_test_count) {
  (void)args;
  set(result, kTVMFFIInt, count);
  return 0;
}

RAW_EXPORT(ffi_test_echo) {
  if (count != 1) return wrong_arguments("ffi_test_echo");
  if (args[0].type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectIncRef(args[0].v_obj);
  *result = args[0];
  return 0;
}

MUSABENCH_EXPORT(ffi_test_integer, args) {
  const int64_t value = args.integer("value");
  args.finish();
  args.return_integer(value);
}

MUSABENCH_EXPORT(ffi_test_optional_integer, args) {
  const int64_t value = args.optional_integer("value").value_or(-1);
  args.finish();
  args.return_integer(value);
}

MUSABENCH_EXPORT(ffi_test_number, args) {
  TVMFFIAny result = {};
  result.type_index = kTVMFFIFloat;
  result.v_float64 = args.number("value");
  args.finish();
  args.return_any(result);
}

MUSABENCH_EXPORT(ffi_test_boolean, args) {
  TVMFFIAny result = {};
  result.type_index = kTVMFFIBool;
  result.v_int64 = args.boolean("value") ? 1 : 0;
  args.finish();
  args.return_any(result);
}

MUSABENCH_EXPORT(ffi_test_describe, args) {
  const auto tensor = args.optional_tensor("tensor");
  args.finish();
  std::string text = "None";
  if (tensor) {
    text = dtype_name(tensor->dtype()) + list(*tensor, &TensorArg::shape) + " strides " +
           list(*tensor, &TensorArg::stride) + " on " + std::to_string(tensor->device().device_type) + ":" +
           std::to_string(tensor->device().device_id);
  }
  TVMFFIAny result = {};
  args.check_runtime(return_string(text, &result), "TVMFFIStringFromByteArray");
  args.return_any(result);
}

RAW_EXPORT(ffi_test_stream) {
  if (count != 2 || args[0].type_index != kTVMFFIInt || args[1].type_index != kTVMFFIInt) {
    return wrong_arguments("ffi_test_stream");
  }
  set(result, kTVMFFIOpaquePtr, 0);
  result->v_ptr = TVMFFIEnvGetStream(static_cast<int32_t>(args[0].v_int64), static_cast<int32_t>(args[1].v_int64));
  return 0;
}

RAW_EXPORT(ffi_test_string) {
  if (count != 1 || args[0].type_index != kTVMFFIInt || args[0].v_int64 < 0) return wrong_arguments("ffi_test_string");
  std::string text;
  for (int64_t i = 0; i < args[0].v_int64; ++i) text += static_cast<char>('a' + i % 26);
  return return_string(text, result);
}

RAW_EXPORT(ffi_test_raise) {
  (void)result;
  std::string kind;
  std::string message;
  if (count != 2 || !read_string(args[0], &kind) || !read_string(args[1], &message)) {
    return wrong_arguments("ffi_test_raise");
  }
  TVMFFIErrorSetRaisedFromCStr(kind.c_str(), message.c_str());
  return -1;
}

MUSABENCH_EXPORT(ffi_test_throw, args) {
  args.finish();
  throw std::runtime_error("thrown");
}

RAW_EXPORT(ffi_test_fail_silently) {
  (void)args;
  (void)count;
  (void)result;
  return -1;
}

RAW_EXPORT(ffi_test_allocate) {
  const DLTensor* like = count == 1 ? tensor_of(args[0]) : nullptr;
  if (like == nullptr) return wrong_arguments("ffi_test_allocate");
  DLTensor prototype = *like;
  prototype.data = nullptr;
  prototype.strides = nullptr;
  TVMFFIObjectHandle tensor = nullptr;
  const int code = TVMFFIEnvTensorAlloc(&prototype, &tensor);
  if (code != 0) return code;
  set_object(result, tensor);
  return 0;
}

RAW_EXPORT(ffi_test_allocate_pairs) {
  const DLTensor* like = count == 2 ? tensor_of(args[0]) : nullptr;
  if (like == nullptr || args[1].type_index != kTVMFFIInt || args[1].v_int64 < 0) {
    return wrong_arguments("ffi_test_allocate_pairs");
  }
  const int64_t pairs = args[1].v_int64;
  // What is built so far hangs on `whole`, so one release drops it all when an allocation fails.
  ArrayObject* whole = new_array(2);
  ArrayObject* outer = new_array(pairs);
  set_object(&whole->elements()[0], outer);
  set(&whole->elements()[1], kTVMFFIInt, pairs);
  for (int64_t i = 0; i < pairs; ++i) {
    ArrayObject* pair = new_array(2);
    set_object(&outer->elements()[i], pair);
    for (int64_t j = 0; j < 2; ++j) {
      const int code = __tvm_ffi_ffi_test_allocate(nullptr, args, 1, &pair->elements()[j]);
      if (code != 0) {
        TVMFFIObjectDecRef(whole);
        return code;
      }
    }
  }
  set_object(result, whole);
  return 0;
}
