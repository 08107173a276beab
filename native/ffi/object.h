// What the object kinds of libtvm_ffi_host share.
#pragma once

// The ABI's functions are what this library exports.
#pragma GCC visibility push(default)
#include "../abi/tvm_ffi.h"
#pragma GCC visibility pop

namespace musabench::ffi {

constexpr uint64_t kStrongOne = 1;
constexpr uint64_t kWeakOne = uint64_t{1} << 32;
constexpr uint64_t kStrongMask = kWeakOne - 1;

constexpr int kDestroyPayload = 1;
constexpr int kFreeBlock = 2;

// A header for one owner.
inline TVMFFIObject new_header(int32_t type_index, void (*deleter)(void* self, int flags)) {
  return TVMFFIObject{kStrongOne | kWeakOne, type_index, 0, deleter};
}

// Raises `kind` with the text "<function>: <message>" and returns -1.
int raise(const char* kind, const char* function, const char* message);

// Whether the calling thread has a raised error.
bool has_raised();

}  // namespace musabench::ffi
