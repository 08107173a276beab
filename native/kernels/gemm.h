// Matrix product: parameters as every implementation takes them.
#pragma once

#include <cstdint>

#include "dtype.h"

namespace musabench {

// out[m, n] = a[m, k] * b[n, k]^T + bias[n] in fp32, rounded once, to out's type. Extents >= 0, strides in elements and
// at least the row's length, rows contiguous. a, b and bias are `dtype`: bf16 or fp16; out is that or fp32. out
// overlaps none of them.
struct GemmParams {
  const void* a;
  const void* b;
  const void* bias;  // NULL: none
  void* out;
  int64_t m;
  int64_t n;
  int64_t k;
  int64_t a_stride;
  int64_t b_stride;
  int64_t out_stride;
  Dtype dtype;
  Dtype out_dtype;
};

// Queues the product on `stream`. 0, or the runtime's error code.
int launch_gemm(const GemmParams& params, void* stream);

}  // namespace musabench
