// What the double's exports have in common: running a body, and checks on top of ffi_args.h.
#pragma once

#include <optional>
#include <string>

#include "kernels/attention.h"
#include "kernels/exports/ffi_args.h"

namespace musabench::mate {

// The call that is running in this thread.
struct Call {
  const char* name;
  const TVMFFIAny* args;
  int32_t count;
  const void* config;
};
const Call& current_call();

// Runs `body`; its errors become what mate raises, with a backtrace.
int run(const Call& call, void (*body)(Args&), TVMFFIAny* result);

// The tensor, which must be on a MUSA device with its last dimension contiguous.
TensorArg musa(const TensorArg& tensor);
std::optional<TensorArg> musa(const std::optional<TensorArg>& tensor);

// A tensor that the kernel was compiled to take or to leave out.
std::optional<TensorArg> compiled(Args& args, const char* name, bool taken);

// int32 [extent], contiguous.
void require_index(const TensorArg& tensor, int64_t extent);

AttentionStrides strides_of(const TensorArg& tensor);
// Of [outer, head, token] or [head, token].
AttentionStrides lse_strides_of(const TensorArg& tensor);

// A new f32 or int32 tensor from the environment; the caller owns the object.
void* allocate(Args& args, Dtype dtype, std::initializer_list<int64_t> shape);
const DLTensor& tensor_of(void* object);

// A call of the host kernels' export: its error is raised as this kernel's.
using Export = int (*)(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
void call_host(const Args& args, Export function, const TVMFFIAny* values, int32_t count);
bool host_has_head_dims(int64_t qk, int64_t v);

inline TVMFFIAny any_int(int64_t value) {
  TVMFFIAny any = {};
  any.type_index = kTVMFFIInt;
  any.v_int64 = value;
  return any;
}
inline TVMFFIAny any_float(double value) {
  TVMFFIAny any = {};
  any.type_index = kTVMFFIFloat;
  any.v_float64 = value;
  return any;
}

}  // namespace musabench::mate
