#include "checks.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace musabench::mate {
namespace {

thread_local Call running = {};

TVMFFIByteArray bytes(const std::string& text) { return {text.data(), text.size()}; }

std::string text_of(const TVMFFIByteArray& array) { return std::string(array.data, array.size); }

// Whether MATE_DOUBLE_RAISE=<kernel>:<n> asks for an error instead of the n-th call of this kernel.
bool is_told_to_raise(const char* name) {
  static std::atomic<int> calls{0};
  const char* wanted = std::getenv("MATE_DOUBLE_RAISE");
  if (wanted == nullptr) return false;
  const char* colon = std::strrchr(wanted, ':');
  if (colon == nullptr) return false;
  const std::string kernel(wanted, colon);
  return std::strncmp(name, kernel.c_str(), kernel.size()) == 0 && ++calls == std::atoi(colon + 1);
}

void raise_as_told(Args& args) { args.require(false, "the test asked for this error"); }

// Takes the raised error; its kind and message.
std::pair<std::string, std::string> take_error() {
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == nullptr) return {"InternalError", "no error was raised"};
  const auto* cell = reinterpret_cast<const TVMFFIErrorCell*>(static_cast<const TVMFFIObject*>(error) + 1);
  std::pair<std::string, std::string> taken = {text_of(cell->kind), text_of(cell->message)};
  TVMFFIObjectDecRef(error);
  return taken;
}

}  // namespace

const Call& current_call() { return running; }

int run(const Call& call, void (*body)(Args&), TVMFFIAny* result) {
  const Call outer = running;
  running = call;
  const int code =
      run_export(call.name, is_told_to_raise(call.name) ? &raise_as_told : body, call.args, call.count, result);
  running = outer;
  if (code == 0) return 0;
  auto [kind, message] = take_error();
  if (kind == "ValueError") kind = "InternalError";  // mate's checks are TVM_FFI_ICHECK
  const std::string backtrace = std::string("  mate test double, in ") + call.name + "\n";
  const TVMFFIByteArray kind_bytes = bytes(kind);
  const TVMFFIByteArray message_bytes = bytes(message);
  const TVMFFIByteArray backtrace_bytes = bytes(backtrace);
  TVMFFIObjectHandle error = nullptr;
  if (TVMFFIErrorCreate(&kind_bytes, &message_bytes, &backtrace_bytes, &error) == 0) {
    TVMFFIErrorSetRaised(error);
    TVMFFIObjectDecRef(error);
  }
  return -1;
}

TensorArg musa(const TensorArg& tensor) {
  tensor.require(tensor.device().device_type == kDLExtDev,
                 ("is on device type " + std::to_string(tensor.device().device_type) + ", wanted 12 (MUSA)").c_str());
  tensor.require_inner_contiguous();
  return tensor;
}

std::optional<TensorArg> musa(const std::optional<TensorArg>& tensor) {
  if (tensor) musa(*tensor);
  return tensor;
}

std::optional<TensorArg> compiled(Args& args, const char* name, bool taken) {
  const std::optional<TensorArg> tensor = musa(args.optional_tensor(name));
  args.require(tensor.has_value() == taken,
               (std::string(name) + (taken ? " is None; this kernel is compiled to take it"
                                           : " is given; this kernel is compiled without it"))
                   .c_str());
  return tensor;
}

void require_index(const TensorArg& tensor, int64_t extent) {
  tensor.require_dtype(Dtype::kInt32).require_shape({extent}).require_contiguous();
}

const int32_t* index_of(const std::optional<TensorArg>& tensor) {
  return tensor ? tensor->data_as<const int32_t>() : nullptr;
}

AttentionStrides strides_of(const TensorArg& t) {
  if (t.rank() == 3) return {0, t.stride(0), t.stride(1)};
  return {t.stride(0), t.stride(1), t.stride(2)};
}

AttentionStrides lse_strides_of(const TensorArg& t) {
  if (t.rank() == 2) return {0, t.stride(1), t.stride(0)};
  return {t.stride(0), t.stride(2), t.stride(1)};
}

void set_inputs(Attention& a, const TensorArg& q, const TensorArg& k, const TensorArg& v) {
  a.q = q.data();
  a.k = k.data();
  a.v = v.data();
  a.q_strides = strides_of(q);
  a.k_strides = strides_of(k);
  a.v_strides = strides_of(v);
}

void set_results(Attention& a, const TensorArg& out, const TensorArg& lse) {
  a.is_fp16 = out.dtype() == Dtype::kFloat16;
  a.out = out.data();
  a.lse = lse.data_as<float>();
  a.out_strides = strides_of(out);
  a.lse_strides = lse_strides_of(lse);
  a.out_bytes = static_cast<size_t>(out.extent_bytes());
}

void* allocate(Args& args, Dtype dtype, std::initializer_list<int64_t> shape) {
  std::vector<int64_t> extents(shape);
  DLTensor prototype = {};
  prototype.device = args.device();
  prototype.ndim = static_cast<int32_t>(extents.size());
  prototype.dtype = dtype == Dtype::kFloat32 ? DLDataType{kDLFloat, 32, 1} : DLDataType{kDLInt, 32, 1};
  prototype.shape = extents.data();
  TVMFFIObjectHandle object = nullptr;
  if (TVMFFIEnvTensorAlloc(&prototype, &object) != 0) {
    const auto [kind, message] = take_error();
    throw ExportError(kind == "RuntimeError" ? "RuntimeError" : "MemoryError", message);
  }
  return object;
}

const DLTensor& tensor_of(void* object) {
  return *reinterpret_cast<const DLTensor*>(static_cast<const TVMFFIObject*>(object) + 1);
}

void call_host(const Args& args, Export function, const TVMFFIAny* values, int32_t count) {
  TVMFFIAny result = {};
  if (function(nullptr, values, count, &result) != 0) args.fail("the host kernel refused: " + take_error().second);
}

bool host_has_head_dims(int64_t qk, int64_t v) {
  for (const int64_t dim : {64, 80, 96, 128, 256}) {
    if (qk == dim && v == dim) return true;
  }
  return qk == 192 && v == 128;
}

}  // namespace musabench::mate
