#include "common.h"

namespace {

using musabench::now_ns;

constexpr int32_t kMaxFunctionArgs = 6;

template <typename T>
T* pointer(uint64_t address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

bool is_valid(const mb_item& item) {
  switch (item.kind) {
    case MB_NOP:
    case MB_SPIN:
      return true;
    case MB_CALL:
    case MB_CALLS:
      return item.count >= 0 && (item.args[0] != 0 || item.count == 0);
    case MB_FUNCTION:
      return item.fn != nullptr && item.count >= 0 && item.count <= kMaxFunctionArgs;
    default:
      return false;
  }
}

// Integers narrower than a register are passed in a whole one on the supported machines (x86-64, AArch64), so every
// argument can go as 64 bits; the callee looks at the part that it declared.
int call_function(const mb_item& item) {
  using U = uint64_t;
  const U* a = item.args;
  switch (item.count) {
    case 0:
      return reinterpret_cast<int (*)()>(item.fn)();
    case 1:
      return reinterpret_cast<int (*)(U)>(item.fn)(a[0]);
    case 2:
      return reinterpret_cast<int (*)(U, U)>(item.fn)(a[0], a[1]);
    case 3:
      return reinterpret_cast<int (*)(U, U, U)>(item.fn)(a[0], a[1], a[2]);
    case 4:
      return reinterpret_cast<int (*)(U, U, U, U)>(item.fn)(a[0], a[1], a[2], a[3]);
    case 5:
      return reinterpret_cast<int (*)(U, U, U, U, U)>(item.fn)(a[0], a[1], a[2], a[3], a[4]);
    default:
      return reinterpret_cast<int (*)(U, U, U, U, U, U)>(item.fn)(a[0], a[1], a[2], a[3], a[4], a[5]);
  }
}

void spin(uint64_t nanoseconds) {
  const int64_t start = now_ns();
  while (static_cast<uint64_t>(now_ns() - start) < nanoseconds) {
  }
}

inline int run_item(const mb_item& item) {
  switch (item.kind) {
    case MB_CALL: {
      auto* call = pointer<mb_call>(item.args[0]);
      for (int32_t i = 0; i < item.count; ++i) {
        const int code = mb_call_launch(call);
        if (code != 0) return code;
      }
      return 0;
    }
    case MB_CALLS:
      return mb_calls_launch(pointer<mb_call* const>(item.args[0]), item.count, nullptr);
    case MB_FUNCTION:
      return call_function(item);
    case MB_SPIN:
      spin(item.args[0]);
      return 0;
    default:
      return 0;
  }
}

}  // namespace

int mb_program_run(const mb_item* items, int64_t count, int64_t* failed, int64_t* host_ns) {
  if (failed != nullptr) *failed = -1;
  if (count < 0 || (items == nullptr && count > 0)) return MB_ERROR_ARGUMENT;
  for (int64_t i = 0; i < count; ++i) {
    if (!is_valid(items[i])) {
      if (failed != nullptr) *failed = i;
      return MB_ERROR_ARGUMENT;
    }
  }
  if (host_ns != nullptr) host_ns[0] = now_ns();
  for (int64_t i = 0; i < count; ++i) {
    const int code = run_item(items[i]);
    if (host_ns != nullptr) host_ns[i + 1] = now_ns();
    if (code != 0) {
      if (failed != nullptr) *failed = i;
      return code;
    }
  }
  return 0;
}
