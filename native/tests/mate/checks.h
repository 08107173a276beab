// What the double's exports have in common: running a body, and checks on top of ffi_args.h.
#pragma once

#include <optional>
#include <string>

#include "attention.h"
#include "kernels/exports/ffi_args.h"
#include "tests/ffi_array.h"

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

// Where the tensor's int32 values are; NULL without one.
const int32_t* index_of(const std::optional<TensorArg>& tensor);

AttentionStrides strides_of(const TensorArg& tensor);
// Of [outer, head, token] or [head, token].
AttentionStrides lse_strides_of(const TensorArg& tensor);

// Where q, k and v are and how they are laid out.
void set_inputs(Attention& a, const TensorArg& q, const TensorArg& k, const TensorArg& v);
// The same of out and lse, and the type of out, which is that of q.
void set_results(Attention& a, const TensorArg& out, const TensorArg& lse);

// A new f32 or int32 tensor from the environment; the caller owns the object.
void* allocate(Args& args, Dtype dtype, std::initializer_list<int64_t> shape);
const DLTensor& tensor_of(void* object);

// Returns an array of two, after `fill` has set its elements and used them.
template <class Fill>
void return_pair(Args& args, Fill fill) {
  ArrayObject* pair = new_array(2);
  try {
    fill(pair->elements());
  } catch (...) {
    TVMFFIObjectDecRef(pair);
    throw;
  }
  TVMFFIAny any = {};
  set_object(&any, pair);
  args.return_any(any);
}

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
