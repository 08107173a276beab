// fmha_prefill, paged_attention and paged_attention_workspace: argument checks, for every implementation.
#include "../attention.h"

#include <algorithm>
#include <optional>
#include <string>

#include "ffi_args.h"

namespace musabench {
namespace {

// With these no size of a workspace or a launch leaves 63 bits.
constexpr int64_t kMaxBatch = 1 << 20;
constexpr int64_t kMaxHeads = 4096;

AttentionMask read_mask(bool is_causal, int64_t window_left, int64_t window_right) {
  const auto window = [](int64_t w) { return static_cast<int32_t>(std::clamp<int64_t>(w, -1, INT32_MAX)); };
  return {window(window_left), is_causal ? 0 : window(window_right)};
}

// Of [outer, token, head, dim], or of [token, head, dim] with outer 0.
AttentionStrides strides_of(const TensorArg& t) {
  if (t.rank() == 3) return {0, t.stride(0), t.stride(1)};
  return {t.stride(0), t.stride(1), t.stride(2)};
}

// Of [outer, head, token], or of [head, token].
AttentionStrides lse_strides_of(const std::optional<TensorArg>& t) {
  if (!t) return {0, 0, 0};
  if (t->rank() == 2) return {0, t->stride(1), t->stride(0)};
  return {t->stride(0), t->stride(2), t->stride(1)};
}

void require_heads(const TensorArg& q, const TensorArg& k, int64_t q_heads, int64_t kv_heads) {
  if (q_heads > 0 && q_heads <= kMaxHeads && kv_heads > 0 && q_heads % kv_heads == 0) return;
  q.fail("has " + std::to_string(q_heads) + " heads and " + k.name() + " has " + std::to_string(kv_heads) +
         "; wanted a positive multiple of the latter, at most " + std::to_string(kMaxHeads));
}

void require_batch(const TensorArg& t, int64_t batch) {
  if (batch <= kMaxBatch) return;
  t.fail("is for " + std::to_string(batch) + " sequences, wanted at most " + std::to_string(kMaxBatch));
}

void require_head_dims(const TensorArg& q, int64_t dim_qk, int64_t dim_v) {
  for (const int64_t dim : {64, 80, 96, 128, 256}) {
    if (dim_qk == dim && dim_v == dim) return;
  }
  if (dim_qk == 192 && dim_v == 128) return;
  q.fail("head dims (query and key / value) are " + std::to_string(dim_qk) + "/" + std::to_string(dim_v) +
         "; wanted 64/64, 80/80, 96/96, 128/128, 192/128 or 256/256");
}

}  // namespace

// Attention over contiguous keys and values; masks as in attention.h. Dense: q[B,Sq,Hq,Dqk] k[B,Sk,Hkv,Dqk]
// v[B,Sk,Hkv,Dv] out[B,Sq,Hq,Dv] lse[B,Hq,Sq]. With cu_seqlens: the first two dimensions are one, lse[Hq,tokens].
// max_seqlen_q and max_seqlen_k are hints.
MUSABENCH_EXPORT(fmha_prefill, args) {
  const TensorArg q = args.tensor("q");
  const TensorArg k = args.tensor("k");
  const TensorArg v = args.tensor("v");
  const float softmax_scale = args.fp32("softmax_scale");
  const TensorArg out = args.output("out");
  const std::optional<TensorArg> lse = args.optional_output("lse");
  const bool is_causal = args.boolean("is_causal");
  const std::optional<TensorArg> cu_seqlens_q = args.optional_tensor("cu_seqlens_q");
  const std::optional<TensorArg> cu_seqlens_k = args.optional_tensor("cu_seqlens_k");
  args.optional_integer("max_seqlen_q", 0);
  args.optional_integer("max_seqlen_k", 0);
  const int64_t window_left = args.integer("window_left");
  const int64_t window_right = args.integer("window_right");
  const float softcap = args.fp32("softcap");
  args.finish();

  args.require(cu_seqlens_q.has_value() == cu_seqlens_k.has_value(),
               "one of cu_seqlens_q and cu_seqlens_k is None; wanted both (varlen) or neither (dense)");
  args.require(softcap >= 0, "softcap is negative; wanted a cap, or 0 for none");
  const bool varlen = cu_seqlens_q.has_value();
  const int32_t rank = varlen ? 3 : 4;
  for (const TensorArg* t : {&q, &k, &v, &out}) t->require_rank(rank).require_inner_contiguous();
  q.require_dtype({Dtype::kBFloat16, Dtype::kFloat16});
  for (const TensorArg* t : {&k, &v, &out}) t->require_same_dtype(q);
  const int64_t q_heads = q.shape(rank - 2);
  const int64_t kv_heads = k.shape(rank - 2);
  const int64_t dim_qk = q.shape(rank - 1);
  const int64_t dim_v = v.shape(rank - 1);
  require_heads(q, k, q_heads, kv_heads);
  require_head_dims(q, dim_qk, dim_v);

  FmhaParams p = {};
  if (varlen) {
    cu_seqlens_q->require_rank(1).require_dtype(Dtype::kInt32).require_contiguous();
    cu_seqlens_q->require(!cu_seqlens_q->empty(), "is empty; wanted [batch + 1]");
    require_batch(*cu_seqlens_q, cu_seqlens_q->shape(0) - 1);
    cu_seqlens_k->require_shape({cu_seqlens_q->shape(0)}, "the shape of cu_seqlens_q")
        .require_dtype(Dtype::kInt32)
        .require_contiguous();
    k.require_shape({-1, kv_heads, dim_qk}, "[k tokens, kv heads, head dim of q]");
    v.require_shape({k.shape(0), kv_heads, dim_v}, "[k tokens, kv heads, v's head dim]");
    out.require_shape({q.shape(0), q_heads, dim_v}, "[q tokens, q heads, v's head dim]");
    if (lse) lse->require_shape({q_heads, q.shape(0)}, "[q heads, q tokens]");
    p.batch = static_cast<int32_t>(cu_seqlens_q->shape(0) - 1);
    p.total_q = q.shape(0);
    p.total_k = k.shape(0);
    p.cu_seqlens_q = cu_seqlens_q->data_as<const int32_t>();
    p.cu_seqlens_k = cu_seqlens_k->data_as<const int32_t>();
  } else {
    require_batch(q, q.shape(0));
    k.require_shape({q.shape(0), -1, kv_heads, dim_qk}, "[batch, k tokens, kv heads, head dim of q]");
    v.require_shape({q.shape(0), k.shape(1), kv_heads, dim_v}, "[batch, k tokens, kv heads, v's head dim]");
    out.require_shape({q.shape(0), q.shape(1), q_heads, dim_v}, "[batch, q tokens, q heads, v's head dim]");
    if (lse) lse->require_shape({q.shape(0), q_heads, q.shape(1)}, "[batch, q heads, q tokens]");
    p.batch = static_cast<int32_t>(q.shape(0));
    p.seqlen_q = q.shape(1);
    p.seqlen_k = k.shape(1);
    p.total_q = q.shape(0) * q.shape(1);
    p.total_k = k.shape(0) * k.shape(1);
  }
  for (const TensorArg* t : {&q, &k, &v}) out.require_no_overlap(*t);
  if (lse) lse->require_dtype(Dtype::kFloat32).require_no_overlap(out);
  q.require(p.total_q <= INT32_MAX, "has more than 2^31 - 1 tokens");
  k.require(p.total_k <= INT32_MAX, "has more than 2^31 - 1 tokens");

  p.q = q.data();
  p.k = k.data();
  p.v = v.data();
  p.out = out.data();
  p.lse = lse ? lse->data_as<float>() : nullptr;
  p.q_strides = strides_of(q);
  p.k_strides = strides_of(k);
  p.v_strides = strides_of(v);
  p.out_strides = strides_of(out);
  p.lse_strides = lse_strides_of(lse);
  p.out_bytes = static_cast<size_t>(out.extent_bytes());
  p.q_heads = static_cast<int32_t>(q_heads);
  p.kv_heads = static_cast<int32_t>(kv_heads);
  p.head_dim_qk = static_cast<int32_t>(dim_qk);
  p.head_dim_v = static_cast<int32_t>(dim_v);
  p.softmax_scale = softmax_scale;
  p.softcap = softcap;
  p.mask = read_mask(is_causal, window_left, window_right);
  p.dtype = q.dtype();
  args.check_runtime(launch_fmha_prefill(p, args.stream()), "launch");
}

// Attention over a paged cache: q[tokens,Hq,D], caches [pages,page_size,Hkv,D], page_table int32[B,max_pages],
// seqused_k int32[B], cu_seqlens_q int32[B+1] (None: one query token a sequence), lse f32[Hq,tokens]. num_splits 0
// leaves the split of a sequence's keys to the kernel. workspace uint8 of paged_attention_workspace bytes, or None.
// A length, page number or cu_seqlens_q entry out of range is an illegal address when the kernel runs.
MUSABENCH_EXPORT(paged_attention, args) {
  const TensorArg q = args.tensor("q");
  const TensorArg k_cache = args.tensor("k_cache");
  const TensorArg v_cache = args.tensor("v_cache");
  const TensorArg page_table = args.tensor("page_table");
  const TensorArg seqused_k = args.tensor("seqused_k");
  const std::optional<TensorArg> cu_seqlens_q = args.optional_tensor("cu_seqlens_q");
  const int64_t max_seqlen_q = args.integer("max_seqlen_q", 1, INT32_MAX);
  const float softmax_scale = args.fp32("softmax_scale");
  const TensorArg out = args.output("out");
  const std::optional<TensorArg> lse = args.optional_output("lse");
  const bool is_causal = args.boolean("is_causal");
  const int64_t window_left = args.integer("window_left");
  const int64_t window_right = args.integer("window_right");
  const float softcap = args.fp32("softcap");
  const int64_t num_splits = args.integer("num_splits", 0, 1024);
  const std::optional<TensorArg> workspace = args.optional_output("workspace");
  args.finish();

  args.require(softcap >= 0, "softcap is negative; wanted a cap, or 0 for none");
  q.require_rank(3).require_dtype({Dtype::kBFloat16, Dtype::kFloat16}).require_inner_contiguous();
  k_cache.require_rank(4).require_same_dtype(q).require_inner_contiguous();
  const int64_t q_heads = q.shape(1);
  const int64_t kv_heads = k_cache.shape(2);
  const int64_t dim = q.shape(2);
  require_heads(q, k_cache, q_heads, kv_heads);
  require_head_dims(q, dim, dim);
  k_cache.require_shape({-1, -1, kv_heads, dim}, "[pages, page size, kv heads, head dim of q]");
  k_cache.require(k_cache.shape(1) > 0, "has pages of 0 tokens");
  v_cache.require_shape({k_cache.shape(0), k_cache.shape(1), kv_heads, dim}, "the shape of k_cache")
      .require_same_dtype(q)
      .require_inner_contiguous();
  page_table.require_rank(2).require_dtype(Dtype::kInt32).require_inner_contiguous();
  const int64_t batch = page_table.shape(0);
  seqused_k.require_shape({batch}, "[rows of page_table]").require_dtype(Dtype::kInt32).require_contiguous();
  if (cu_seqlens_q) {
    cu_seqlens_q->require_shape({batch + 1}, "[rows of page_table + 1]")
        .require_dtype(Dtype::kInt32)
        .require_contiguous();
  } else {
    q.require_shape({batch, q_heads, dim}, "[rows of page_table, q heads, head dim], as cu_seqlens_q is None");
  }
  out.require_shape({q.shape(0), q_heads, dim}, "the shape of q").require_same_dtype(q).require_inner_contiguous();
  for (const TensorArg* t : {&q, &k_cache, &v_cache}) out.require_no_overlap(*t);
  if (lse) {
    lse->require_shape({q_heads, q.shape(0)}, "[q heads, q tokens]")
        .require_dtype(Dtype::kFloat32)
        .require_no_overlap(out);
  }
  q.require(q.shape(0) <= INT32_MAX, "has more than 2^31 - 1 tokens");
  require_batch(page_table, batch);
  page_table.require(page_table.shape(1) <= INT32_MAX / k_cache.shape(1), "holds sequences of more than 2^31 - 1 keys");

  PagedParams p = {};
  p.shape.batch = static_cast<int32_t>(batch);
  p.shape.max_seqlen_q = cu_seqlens_q ? max_seqlen_q : 1;
  p.shape.total_q = q.shape(0);
  p.shape.q_heads = static_cast<int32_t>(q_heads);
  p.shape.kv_heads = static_cast<int32_t>(kv_heads);
  p.shape.head_dim = static_cast<int32_t>(dim);
  p.shape.max_seqlen_k = page_table.shape(1) * k_cache.shape(1);
  p.shape.num_splits = static_cast<int32_t>(num_splits);
  p.q = q.data();
  p.k_cache = k_cache.data();
  p.v_cache = v_cache.data();
  p.out = out.data();
  p.lse = lse ? lse->data_as<float>() : nullptr;
  p.page_table = page_table.data_as<const int32_t>();
  p.seqused_k = seqused_k.data_as<const int32_t>();
  p.cu_seqlens_q = cu_seqlens_q ? cu_seqlens_q->data_as<const int32_t>() : nullptr;
  p.q_strides = strides_of(q);
  p.k_strides = strides_of(k_cache);
  p.v_strides = strides_of(v_cache);
  p.out_strides = strides_of(out);
  p.lse_strides = lse_strides_of(lse);
  p.page_table_stride = page_table.stride(0);
  p.pages = k_cache.shape(0);
  p.max_pages = page_table.shape(1);
  p.page_size = k_cache.shape(1);
  p.out_bytes = static_cast<size_t>(out.extent_bytes());
  p.softmax_scale = softmax_scale;
  p.softcap = softcap;
  p.mask = read_mask(is_causal, window_left, window_right);
  p.dtype = q.dtype();

  const int64_t workspace_bytes = paged_attention_workspace_bytes(p.shape);
  if (workspace) {
    workspace->require_rank(1).require_dtype(Dtype::kUInt8).require_contiguous().require_alignment(16);
    if (workspace->shape(0) < workspace_bytes) {
      workspace->fail("has " + std::to_string(workspace->shape(0)) + " bytes; wanted at least " +
                      std::to_string(workspace_bytes) + " (paged_attention_workspace)");
    }
    p.workspace = workspace->data();
  }
  std::optional<Scratch> scratch;
  if (!workspace && workspace_bytes > 0) {
    scratch.emplace(args.allocate(workspace_bytes));
    p.workspace = scratch->data();
  }
  args.check_runtime(launch_paged_attention(p, args.stream()), "launch");
}

// Bytes of workspace for a paged_attention call: batch and max_seqlen_k are page_table's rows and the tokens that a
// row's pages hold (columns * page size); max_seqlen_q and num_splits as given there, max_seqlen_q 1 without
// cu_seqlens_q. The device's number of lanes counts, so ask on the device that will run the call.
MUSABENCH_EXPORT(paged_attention_workspace, args) {
  PagedShape shape;
  shape.batch = static_cast<int32_t>(args.integer("batch", 0, kMaxBatch));
  shape.max_seqlen_q = args.integer("max_seqlen_q", 1, INT32_MAX);
  shape.total_q = args.integer("total_q", 0, INT32_MAX);
  shape.q_heads = static_cast<int32_t>(args.integer("q_heads", 1, kMaxHeads));
  shape.kv_heads = static_cast<int32_t>(args.integer("kv_heads", 1, shape.q_heads));
  shape.head_dim = static_cast<int32_t>(args.integer("head_dim", 1, kMaxHeadDim));
  shape.max_seqlen_k = args.integer("max_seqlen_k", 0, INT32_MAX);
  shape.num_splits = static_cast<int32_t>(args.integer("num_splits", 0, 1024));
  args.finish();
  args.return_integer(paged_attention_workspace_bytes(shape));
}

}  // namespace musabench
