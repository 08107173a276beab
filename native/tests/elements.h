// Elements of a type that is known at run time only, as the doubles of BLAS and of the collectives are given them.
#pragma once

#include <cstdint>

#include "kernels/host/simd.h"

namespace musabench {

// By the library's codes of the three types.
template <int kF32, int kF16, int kBf16>
struct Elements {
  static float read(const void* data, int type, int64_t i) {
    if (type == kF32) return static_cast<const float*>(data)[i];
    if (type == kF16) return scalar::to_float(static_cast<const scalar::Fp16*>(data)[i]);
    return scalar::to_float(static_cast<const scalar::Bf16*>(data)[i]);
  }

  static void write(void* data, int type, int64_t i, float value) {
    if (type == kF32) {
      static_cast<float*>(data)[i] = value;
    } else if (type == kF16) {
      static_cast<scalar::Fp16*>(data)[i] = scalar::from_float<scalar::Fp16>(value);
    } else {
      static_cast<scalar::Bf16*>(data)[i] = scalar::from_float<scalar::Bf16>(value);
    }
  }

  static int64_t bytes(int type) { return type == kF32 ? 4 : 2; }
};

}  // namespace musabench
