#include "../gemm.h"

#include <optional>

#include "ffi_args.h"

namespace musabench {

// gemm(a: T[M, K], b: T[N, K], out: T[M, N], bias: ?T[N]): out = a * b^T + bias. a, b, bias bf16 or fp16; out the same
// or fp32.
MUSABENCH_EXPORT(gemm, args) {
  const TensorArg a = args.tensor("a");
  const TensorArg b = args.tensor("b");
  const TensorArg out = args.output("out");
  const std::optional<TensorArg> bias = args.optional_tensor("bias");
  args.finish();
  a.require_rank(2).require_dtype({Dtype::kBFloat16, Dtype::kFloat16}).require_inner_contiguous();
  b.require_rank(2).require_shape({-1, a.shape(1)}, "[N, K of a]").require_same_dtype(a).require_inner_contiguous();
  out.require_shape({a.shape(0), b.shape(0)}, "[M of a, N of b]").require_inner_contiguous();
  if (out.dtype() != Dtype::kFloat32) out.require_same_dtype(a);
  out.require_no_overlap(a).require_no_overlap(b);
  if (bias) {
    bias->require_shape({b.shape(0)}, "[N of b]").require_same_dtype(a).require_inner_contiguous();
    out.require_no_overlap(*bias);
  }

  GemmParams params = {};
  params.a = a.data();
  params.b = b.data();
  params.bias = bias ? bias->data() : nullptr;
  params.out = out.data();
  params.m = a.shape(0);
  params.n = b.shape(0);
  params.k = a.shape(1);
  params.a_stride = a.stride(0);
  params.b_stride = b.stride(0);
  params.out_stride = out.stride(0);
  params.dtype = a.dtype();
  params.out_dtype = out.dtype();
  args.check_runtime(launch_gemm(params, args.stream()), "launch");
}

}  // namespace musabench
