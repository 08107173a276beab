#include "../elementwise.h"

#include "ffi_args.h"

namespace musabench {
namespace {

// May be the very same tensor (done in place), but nothing between that and separate.
void require_same_or_separate(const TensorArg& out, const TensorArg& in) {
  if (out.data() == in.data() && out.stride(0) == in.stride(0)) return;
  out.require_no_overlap(in);
}

}  // namespace

// rms_norm(x: T[T, H], weight: T[H], out: T[T, H], eps: f)
MUSABENCH_EXPORT(rms_norm, args) {
  const TensorArg x = args.tensor("x");
  const TensorArg weight = args.tensor("weight");
  const TensorArg out = args.output("out");
  const float eps = args.fp32("eps");
  args.finish();
  x.require_rank(2).require_dtype({Dtype::kBFloat16, Dtype::kFloat16}).require_inner_contiguous();
  weight.require_shape({x.shape(1)}, "[hidden of x]").require_same_dtype(x).require_contiguous();
  out.require_shape({x.shape(0), x.shape(1)}, "the shape of x").require_same_dtype(x).require_inner_contiguous();
  require_same_or_separate(out, x);
  out.require_no_overlap(weight);

  RmsNormParams params = {};
  params.x = x.data();
  params.weight = weight.data();
  params.out = out.data();
  params.tokens = x.shape(0);
  params.hidden = x.shape(1);
  params.x_stride = x.stride(0);
  params.out_stride = out.stride(0);
  params.eps = eps;
  params.dtype = x.dtype();
  args.check_runtime(launch_rms_norm(params, args.stream()), "launch");
}

// fused_add_rms_norm(x: T[T, H], residual: T[T, H], weight: T[H], out: T[T, H], residual_out: T[T, H], eps: f)
MUSABENCH_EXPORT(fused_add_rms_norm, args) {
  const TensorArg x = args.tensor("x");
  const TensorArg residual = args.tensor("residual");
  const TensorArg weight = args.tensor("weight");
  const TensorArg out = args.output("out");
  const TensorArg residual_out = args.output("residual_out");
  const float eps = args.fp32("eps");
  args.finish();
  x.require_rank(2).require_dtype({Dtype::kBFloat16, Dtype::kFloat16}).require_inner_contiguous();
  for (const TensorArg* tensor : {&residual, &out, &residual_out}) {
    tensor->require_shape({x.shape(0), x.shape(1)}, "the shape of x").require_same_dtype(x).require_inner_contiguous();
  }
  weight.require_shape({x.shape(1)}, "[hidden of x]").require_same_dtype(x).require_contiguous();
  require_same_or_separate(out, x);
  require_same_or_separate(residual_out, residual);
  out.require_no_overlap(residual).require_no_overlap(residual_out).require_no_overlap(weight);
  residual_out.require_no_overlap(x).require_no_overlap(weight);

  FusedAddRmsNormParams params = {};
  params.x = x.data();
  params.residual = residual.data();
  params.weight = weight.data();
  params.out = out.data();
  params.residual_out = residual_out.data();
  params.tokens = x.shape(0);
  params.hidden = x.shape(1);
  params.x_stride = x.stride(0);
  params.residual_stride = residual.stride(0);
  params.out_stride = out.stride(0);
  params.residual_out_stride = residual_out.stride(0);
  params.eps = eps;
  params.dtype = x.dtype();
  args.check_runtime(launch_fused_add_rms_norm(params, args.stream()), "launch");
}

// qk_norm_rope(qkv: T[T, (Hq + 2 Hkv) * D], q_weight: ?T[D], k_weight: ?T[D], cos_sin: T f32[max_position, D],
//              positions: T int32[T], q_out: T[T, Hq, D], k_out: T[T, Hkv, D], eps: f)
MUSABENCH_EXPORT(qk_norm_rope, args) {
  const TensorArg qkv = args.tensor("qkv");
  const std::optional<TensorArg> q_weight = args.optional_tensor("q_weight");
  const std::optional<TensorArg> k_weight = args.optional_tensor("k_weight");
  const TensorArg cos_sin = args.tensor("cos_sin");
  const TensorArg positions = args.tensor("positions");
  const TensorArg q_out = args.output("q_out");
  const TensorArg k_out = args.output("k_out");
  const float eps = args.fp32("eps");
  args.finish();
  qkv.require_rank(2).require_dtype({Dtype::kBFloat16, Dtype::kFloat16}).require_inner_contiguous();
  const int64_t tokens = qkv.shape(0);
  q_out.require_rank(3).require_same_dtype(qkv).require_inner_contiguous();
  const int64_t dim = q_out.shape(2);
  q_out.require_shape({tokens, -1, dim}, "[tokens of qkv, q heads, head dim]");
  q_out.require(dim >= 2 && dim % 2 == 0 && dim <= kMaxRopeHeadDim,
                "has a head dim that is odd, 0 or above 1024, wanted an even one");
  k_out.require_shape({tokens, -1, dim}, "[tokens of qkv, kv heads, head dim of q_out]")
      .require_same_dtype(qkv)
      .require_inner_contiguous();
  qkv.require_shape({tokens, (q_out.shape(1) + 2 * k_out.shape(1)) * dim},
                    "[tokens, (heads of q_out + 2 * heads of k_out) * head dim]");
  for (const std::optional<TensorArg>* weight : {&q_weight, &k_weight}) {
    if (*weight) (*weight)->require_shape({dim}, "[head dim]").require_same_dtype(qkv).require_contiguous();
  }
  cos_sin.require_shape({-1, dim}, "[positions, head dim]").require_dtype(Dtype::kFloat32).require_inner_contiguous();
  positions.require_shape({tokens}, "[tokens of qkv]").require_dtype(Dtype::kInt32).require_contiguous();
  q_out.require_no_overlap(qkv).require_no_overlap(k_out).require_no_overlap(positions).require_no_overlap(cos_sin);
  k_out.require_no_overlap(qkv).require_no_overlap(positions).require_no_overlap(cos_sin);

  QkNormRopeParams params = {};
  params.qkv = qkv.data();
  params.q_weight = q_weight ? q_weight->data() : nullptr;
  params.k_weight = k_weight ? k_weight->data() : nullptr;
  params.cos_sin = cos_sin.data_as<const float>();
  params.positions = positions.data_as<const int32_t>();
  params.q_out = q_out.data();
  params.k_out = k_out.data();
  params.tokens = tokens;
  params.q_heads = q_out.shape(1);
  params.kv_heads = k_out.shape(1);
  params.head_dim = dim;
  params.max_position = cos_sin.shape(0);
  params.qkv_stride = qkv.stride(0);
  params.cos_sin_stride = cos_sin.stride(0);
  params.q_token_stride = q_out.stride(0);
  params.q_head_stride = q_out.stride(1);
  params.k_token_stride = k_out.stride(0);
  params.k_head_stride = k_out.stride(1);
  params.eps = eps;
  params.dtype = qkv.dtype();
  args.check_runtime(launch_qk_norm_rope(params, args.stream()), "launch");
}

// kv_cache_write(k: T[T, Hkv, D], v: T[T, Hkv, Dv], k_cache: T[pages, page_size, Hkv, D],
//                v_cache: T[pages, page_size, Hkv, Dv], slot_mapping: T int64[T])
MUSABENCH_EXPORT(kv_cache_write, args) {
  const TensorArg k = args.tensor("k");
  const TensorArg v = args.tensor("v");
  const TensorArg k_cache = args.output("k_cache");
  const TensorArg v_cache = args.output("v_cache");
  const TensorArg slots = args.tensor("slot_mapping");
  args.finish();
  k.require_rank(3).require_dtype({Dtype::kBFloat16, Dtype::kFloat16}).require_inner_contiguous();
  v.require_shape({k.shape(0), k.shape(1), -1}, "[tokens of k, heads of k, head dim]")
      .require_same_dtype(k)
      .require_inner_contiguous();
  k_cache.require_shape({-1, -1, k.shape(1), k.shape(2)}, "[pages, page size, heads of k, head dim of k]")
      .require_same_dtype(k)
      .require_inner_contiguous()
      .require(k_cache.shape(1) >= 1, "has a page size of 0, wanted at least 1");
  v_cache
      .require_shape({k_cache.shape(0), k_cache.shape(1), k.shape(1), v.shape(2)},
                     "[pages and page size of k_cache, heads of k, head dim of v]")
      .require_same_dtype(k)
      .require_inner_contiguous();
  slots.require_shape({k.shape(0)}, "[tokens of k]").require_dtype(Dtype::kInt64).require_contiguous();
  for (const TensorArg* in : {&k, &v, &slots}) {
    k_cache.require_no_overlap(*in);
    v_cache.require_no_overlap(*in);
  }

  KvCacheWriteParams params = {};
  params.k = {k.data(),    k_cache.data(),    k.shape(2),        k.stride(0),
              k.stride(1), k_cache.stride(0), k_cache.stride(1), k_cache.stride(2)};
  params.v = {v.data(),    v_cache.data(),    v.shape(2),        v.stride(0),
              v.stride(1), v_cache.stride(0), v_cache.stride(1), v_cache.stride(2)};
  params.slots = slots.data_as<const int64_t>();
  params.tokens = k.shape(0);
  params.kv_heads = k.shape(1);
  params.pages = k_cache.shape(0);
  params.page_size = k_cache.shape(1);
  params.dtype = k.dtype();
  args.check_runtime(launch_kv_cache_write(params, args.stream()), "launch");
}

// silu_and_mul(x: T[T, 2 F], out: T[T, F])
MUSABENCH_EXPORT(silu_and_mul, args) {
  const TensorArg x = args.tensor("x");
  const TensorArg out = args.output("out");
  args.finish();
  x.require_rank(2).require_dtype({Dtype::kBFloat16, Dtype::kFloat16}).require_inner_contiguous();
  x.require(x.shape(1) % 2 == 0, "has an odd number of columns, wanted gates and as many factors");
  out.require_shape({x.shape(0), x.shape(1) / 2}, "[tokens of x, half the columns of x]")
      .require_same_dtype(x)
      .require_inner_contiguous()
      .require_no_overlap(x);

  SiluAndMulParams params = {};
  params.x = x.data();
  params.out = out.data();
  params.tokens = x.shape(0);
  params.features = x.shape(1) / 2;
  params.x_stride = x.stride(0);
  params.out_stride = out.stride(0);
  params.dtype = x.dtype();
  args.check_runtime(launch_silu_and_mul(params, args.stream()), "launch");
}

// embedding(ids: T int32[T], table: T[V, H], out: T[T, H])
MUSABENCH_EXPORT(embedding, args) {
  const TensorArg ids = args.tensor("ids");
  const TensorArg table = args.tensor("table");
  const TensorArg out = args.output("out");
  args.finish();
  ids.require_rank(1).require_dtype(Dtype::kInt32).require_contiguous();
  table.require_rank(2).require_dtype({Dtype::kBFloat16, Dtype::kFloat16}).require_inner_contiguous();
  out.require_shape({ids.shape(0), table.shape(1)}, "[ids, hidden of table]")
      .require_same_dtype(table)
      .require_inner_contiguous()
      .require_no_overlap(table)
      .require_no_overlap(ids);

  EmbeddingParams params = {};
  params.ids = ids.data_as<const int32_t>();
  params.table = table.data();
  params.out = out.data();
  params.tokens = ids.shape(0);
  params.rows = table.shape(0);
  params.hidden = table.shape(1);
  params.table_stride = table.stride(0);
  params.out_stride = out.stride(0);
  params.dtype = table.dtype();
  args.check_runtime(launch_embedding(params, args.stream()), "launch");
}

// argmax(logits: T[T, V] bf16, fp16 or fp32, out: T int32[T])
MUSABENCH_EXPORT(argmax, args) {
  const TensorArg logits = args.tensor("logits");
  const TensorArg out = args.output("out");
  args.finish();
  logits.require_rank(2)
      .require_dtype({Dtype::kBFloat16, Dtype::kFloat16, Dtype::kFloat32})
      .require_inner_contiguous()
      .require(logits.shape(1) >= 1 && logits.shape(1) < INT32_MAX - 8, "has no columns or too many for int32");
  out.require_shape({logits.shape(0)}, "[tokens of logits]")
      .require_dtype(Dtype::kInt32)
      .require_contiguous()
      .require_no_overlap(logits);

  ArgmaxParams params = {};
  params.logits = logits.data();
  params.out = out.data_as<int32_t>();
  params.tokens = logits.shape(0);
  params.vocabulary = logits.shape(1);
  params.logits_stride = logits.stride(0);
  params.dtype = logits.dtype();
  args.check_runtime(launch_argmax(params, args.stream()), "launch");
}

// random_fill(out: T bf16, fp16 or fp32, seed: i, scale: f)
MUSABENCH_EXPORT(random_fill, args) {
  const TensorArg out = args.output("out");
  const int64_t seed = args.integer("seed", 0, UINT32_MAX);
  const float scale = args.fp32("scale");
  args.finish();
  out.require_dtype({Dtype::kBFloat16, Dtype::kFloat16, Dtype::kFloat32}).require_contiguous();
  args.check_runtime(
      launch_random_fill({out.data(), out.elements(), static_cast<uint32_t>(seed), scale, out.dtype()}, args.stream()),
      "launch");
}

}  // namespace musabench
