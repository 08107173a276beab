// Attention over a paged cache: how a launch is planned, and the kernel for sequences with few query rows. What several
// blocks have of one sequence (split-KV) goes through the workspace to attention_combine.mu.
#include <algorithm>

#include "attention_launch.h"
#include "attention_mma.h"
#include "attention_portable.h"

namespace musabench {
namespace attention {
namespace {

// Sequences with so many rows are decoded, in tiles of 16 that each read the keys: the second tile finds them in the
// cache. Only where there are too few sequences to fill the device, and splits do so, is it worth it for four.
constexpr int64_t kDecodeLimit = 2 * kDecodeRows;
constexpr int64_t kSplitLimit = 4 * kDecodeRows;
// A split shorter than this does not fill the pipelines of a block's warps.
constexpr int64_t kMinSplitKeys = 256;
constexpr int64_t kMaxSplits = 128;
// What shared memory allows at head dim 128 on an A100; three fit on an H100, where two still cover the latency.
constexpr int64_t kBlocksPerProcessor = 2;
// Fewer splits, and less to combine, are taken for this part of the best use of the device.
constexpr double kGoodEnough = 0.9;

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) decode_kernel(AttentionArgs<T> a) {
  if constexpr (gpu::kHasMma) {
    MmaDecode<T, kDim>::run(a);
  } else {
    using Kernel = Portable<T, kDim, kDim, kDecodeRows>;
    Tile t;
    if (!decode_tile(a, kDecodeRows, &t)) return;
    Kernel::run(a, t, *reinterpret_cast<typename Kernel::Shared*>(gpu::dynamic_shared()));
  }
}

template <class T, int kDim>
struct Chosen {
  using Kernel = std::conditional_t<gpu::kHasMma, MmaDecode<T, kDim>, Portable<T, kDim, kDim, kDecodeRows>>;
  static_assert(Kernel::kRows == kDecodeRows, "the plan counts on it");
  static constexpr size_t kSharedBytes = sizeof(typename Kernel::Shared);
};

// Made from what the host knows only: a captured launch serves other lengths and pages.
struct Plan {
  int64_t decode_queries;  // sequences with at most so many queries are decoded; 0: none
  int64_t row_tiles;
  int64_t splits;
  bool prefill;  // there may be longer ones
};

// The fewest parts of a sequence that keep nearly as many processors busy as any number does. Blocks run in waves, and
// the last one is rarely full.
int64_t splits_for(int64_t blocks, int64_t max_keys) {
  const int64_t capacity = gpu::multiprocessors() * kBlocksPerProcessor;
  const int64_t most = std::clamp<int64_t>(max_keys / kMinSplitKeys, 1, kMaxSplits);
  const auto use = [&](int64_t splits) {
    const int64_t all = blocks * splits;
    return static_cast<double>(all) / static_cast<double>(gpu::ceil_div(all, capacity) * capacity);
  };
  double best = 0;
  for (int64_t splits = 1; splits <= most; ++splits) best = std::max(best, use(splits));
  int64_t splits = 1;
  while (use(splits) < kGoodEnough * best) ++splits;
  return splits;
}

Plan plan_of(const PagedShape& shape) {
  const int64_t group = shape.q_heads / shape.kv_heads;
  const int64_t most_rows = shape.max_seqlen_q * group;
  const int64_t heads = static_cast<int64_t>(shape.batch) * shape.kv_heads;
  int64_t limit = kDecodeLimit;
  if (most_rows <= kSplitLimit && (shape.num_splits > 1 || heads < gpu::multiprocessors())) limit = kSplitLimit;
  Plan plan;
  plan.decode_queries = std::min(shape.max_seqlen_q, limit / group);
  plan.row_tiles = std::max<int64_t>(1, gpu::ceil_div(plan.decode_queries * group, kDecodeRows));
  plan.prefill = shape.max_seqlen_q > plan.decode_queries;
  plan.splits = plan.decode_queries == 0          ? 1
                : shape.num_splits > 0            ? shape.num_splits
                : heads * shape.max_seqlen_k == 0 ? 1
                                                  : splits_for(heads * plan.row_tiles, shape.max_seqlen_k);
  return plan;
}

// Rows of the workspace: a result of head_dim and a log-sum-exp each.
int64_t partial_rows(const PagedShape& shape, const Plan& plan) {
  return plan.splits == 1 ? 0 : plan.splits * shape.batch * plan.decode_queries * shape.q_heads;
}

}  // namespace
}  // namespace attention

int64_t paged_attention_workspace_bytes(const PagedShape& shape) {
  return attention::partial_rows(shape, attention::plan_of(shape)) * (shape.head_dim + 1) *
         static_cast<int64_t>(sizeof(float));
}

int launch_paged_attention(const PagedParams& p, void* stream) {
  const PagedShape& shape = p.shape;
  if (shape.total_q == 0 || shape.batch == 0) return gpu::kSuccess;
  const attention::Plan plan = attention::plan_of(shape);
  const int64_t group = shape.q_heads / shape.kv_heads;
  const gpu::Output output = {p.out, static_cast<int64_t>(p.out_bytes)};
  return gpu::with_half_type(p.dtype, [&](auto type) -> int {
    using T = decltype(type);
    attention::AttentionArgs<T> args = attention::common_args<T>(p, p.k_cache, p.v_cache);
    args.seqused_k = p.seqused_k;
    args.page_table = p.page_table;
    args.page_table_stride = p.page_table_stride;
    args.page_size = attention::FastDivisor::of(p.page_size);
    args.group = attention::FastDivisor::of(group);
    args.pages = static_cast<int32_t>(std::min<int64_t>(p.pages, INT32_MAX));
    args.max_keys = static_cast<int32_t>(shape.max_seqlen_k);
    args.batch = shape.batch;
    args.q_heads = shape.q_heads;
    args.kv_heads = shape.kv_heads;
    args.total_q = static_cast<int32_t>(shape.total_q);
    args.max_seqlen_q = static_cast<int32_t>(shape.max_seqlen_q);
    args.decode_queries = static_cast<int32_t>(plan.decode_queries);
    args.row_tiles = static_cast<int32_t>(plan.row_tiles);
    args.splits = static_cast<int32_t>(plan.splits);
    const int64_t rows = attention::partial_rows(shape, plan);
    args.partial = static_cast<float*>(p.workspace);
    args.partial_lse = rows == 0 ? nullptr : args.partial + rows * shape.head_dim;

    // The launch that completes `out` bears the export's name: a fault injected under it shows in the result.
    const bool decodes = plan.decode_queries > 0;
    if (plan.prefill) {
      const int error =
          attention::launch_prefill_tiles(decodes ? "paged_attention_prefill" : "paged_attention", args, shape.head_dim,
                                          shape.head_dim, shape.total_q * group, output, stream);
      if (error != gpu::kSuccess || !decodes) return error;
    }
    const int64_t blocks = static_cast<int64_t>(shape.batch) * shape.kv_heads * plan.row_tiles * plan.splits;
    if (blocks > gpu::kMaxGridX) return gpu::kInvalidConfiguration;
    const bool combines = plan.splits > 1;
    const int error = attention::with_head_dims(shape.head_dim, shape.head_dim, [&](auto dims) -> int {
      constexpr int kDim = decltype(dims)::kV;
      // Of 192/128 there is no paged form.
      if constexpr (decltype(dims)::kQk != kDim) {
        return gpu::kInvalidConfiguration;
      } else {
        return gpu::launch<attention::decode_kernel<T, kDim>>(
            combines ? "paged_attention_partial" : "paged_attention", {static_cast<uint32_t>(blocks)},
            attention::kThreads, args, output, stream, attention::Chosen<T, kDim>::kSharedBytes);
      }
    });
    if (error != gpu::kSuccess || !combines) return error;
    return attention::launch_combine("paged_attention", args, shape.head_dim, output, stream);
  });
}

}  // namespace musabench
