#include <string>

#include "common.h"

namespace {

constexpr int32_t kFirstTarget = 2;

// Writes the values of `value`, an array or one value, into the second call's arguments. Returns how many there were.
int32_t pass_on(const TVMFFIAny& value, const TVMFFIAny* targets, int32_t num_targets, int32_t position,
                mb_call* second) {
  if (value.type_index == kTVMFFIArray) {
    const auto* cell = reinterpret_cast<const TVMFFISeqCell*>(value.v_obj + 1);
    const auto* elements = static_cast<const TVMFFIAny*>(cell->data);
    int32_t count = 0;
    for (int64_t i = 0; i < cell->size; ++i) {
      count += pass_on(elements[i], targets, num_targets, position + count, second);
    }
    return count;
  }
  if (position < num_targets && targets[position].v_int64 >= 0) {
    const_cast<TVMFFIAny*>(second->args)[targets[position].v_int64] = value;
  }
  return 1;
}

void clear(const TVMFFIAny* targets, int32_t num_targets, mb_call* second) {
  for (int32_t i = 0; i < num_targets; ++i) {
    if (targets[i].v_int64 >= 0) const_cast<TVMFFIAny*>(second->args)[targets[i].v_int64] = TVMFFIAny{};
  }
}

int fail(const char* kind, const std::string& message) { return musabench::fail(kind, "mb_call_chain: " + message); }

}  // namespace

int mb_call_chain(void*, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  if (num_args < kFirstTarget || args[0].type_index != kTVMFFIOpaquePtr || args[1].type_index != kTVMFFIOpaquePtr) {
    return fail("TypeError", "wanted two calls");
  }
  auto* first = static_cast<mb_call*>(args[0].v_ptr);
  auto* second = static_cast<mb_call*>(args[1].v_ptr);
  const TVMFFIAny* targets = args + kFirstTarget;
  const int32_t num_targets = num_args - kFirstTarget;
  for (int32_t i = 0; i < num_targets; ++i) {
    if (targets[i].type_index != kTVMFFIInt || targets[i].v_int64 >= second->num_args) {
      return fail("TypeError", "the second call has no such argument");
    }
  }
  int code = mb_call_invoke(first);
  if (code != 0) return code;
  const TVMFFIAny returned = first->result;
  first->result = TVMFFIAny{};
  const int32_t count = pass_on(returned, targets, num_targets, 0, second);
  if (count == num_targets) {
    code = mb_call_invoke(second);
    if (code == 0) *result = second->result;
    second->result = TVMFFIAny{};
  } else {
    code = fail("ValueError",
                "the first call returned " + std::to_string(count) + " values, wanted " + std::to_string(num_targets));
  }
  clear(targets, num_targets, second);
  if (returned.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(returned.v_obj);
  return code;
}
