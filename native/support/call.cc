#include "exported.h"

int mb_call_invoke(mb_call* call) {
  if (call == nullptr || call->fn == nullptr) return MB_ERROR_ARGUMENT;
  call->result = TVMFFIAny{};
  return call->fn(nullptr, call->args, call->num_args, &call->result);
}

int mb_call_launch(mb_call* call) {
  const int code = mb_call_invoke(call);
  if (code == 0 && call->result.type_index >= kTVMFFIStaticObjectBegin) {
    TVMFFIObjectDecRef(call->result.v_ptr);
    call->result = TVMFFIAny{};
  }
  return code;
}

int mb_calls_launch(mb_call* const* calls, int32_t count, int32_t* failed) {
  if (failed != nullptr) *failed = -1;
  if (count < 0 || (calls == nullptr && count > 0)) return MB_ERROR_ARGUMENT;
  for (int32_t i = 0; i < count; ++i) {
    const int code = mb_call_launch(calls[i]);
    if (code != 0) {
      if (failed != nullptr) *failed = i;
      return code;
    }
  }
  return 0;
}
