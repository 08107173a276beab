// Element types that kernels know: the seam between argument checks (exports) and implementations.
#pragma once

#include <cstdint>

namespace musabench {

// Anything else, and vectors (lanes != 1), is kOther.
enum class Dtype : uint8_t { kBFloat16, kFloat16, kFloat32, kInt32, kInt64, kUInt8, kOther };

// Bytes of an element; 0 for kOther.
constexpr int64_t dtype_bytes(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBFloat16:
    case Dtype::kFloat16:
      return 2;
    case Dtype::kFloat32:
    case Dtype::kInt32:
      return 4;
    case Dtype::kInt64:
      return 8;
    case Dtype::kUInt8:
      return 1;
    case Dtype::kOther:
      return 0;
  }
  return 0;
}

}  // namespace musabench
