// Plans the attention launches of the host device.
#include "../attention.h"

#include <algorithm>

#include "attention_kernels.h"
#include "isa.h"
#include "launch.h"

namespace musabench {
namespace {

// Decode handles what re-reads each key for at most so many rows: more are better off in a prefill tile.
constexpr int64_t kDecodeRows = 16;
// Blocks a lane: enough to even out lanes of unequal speed, few enough that the start of each (its first keys come
// unprefetched) does not show.
constexpr int64_t kDecodeBlocksPerLane = 4;
// A decode block is worth its start from so many bytes of keys and values.
constexpr int64_t kMinDecodeBlockBytes = 128 << 10;
// Tile rows, largest first: large tiles unpack keys less often, small ones give every lane work.
constexpr int32_t kTileRows[] = {192, 96, 48, 24};
constexpr int64_t kPrefillBlocksPerLane = 6;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Bound of the tiles that `sequences` with `rows` rows in total have.
int64_t tile_bound(int64_t rows, int64_t sequences, int64_t tile_rows) {
  return std::min(rows, rows / tile_rows + sequences);
}

int32_t tile_rows_for(int64_t rows, int64_t kv_heads) {
  for (const int32_t tile_rows : kTileRows) {
    if (ceil_div(rows, tile_rows) * kv_heads >= lane_count() * kPrefillBlocksPerLane) return tile_rows;
  }
  return kTileRows[3];
}

int64_t decode_queries_of(const PagedShape& shape) {
  const int64_t group = shape.q_heads / shape.kv_heads;
  return std::max<int64_t>(1, std::min(shape.max_seqlen_q, kDecodeRows / group));
}

int64_t grain_bytes(const PagedShape& shape) {
  return kDecodeGrain * shape.kv_heads * shape.head_dim * 2 /* bytes */ * 2 /* K, V */;
}

int64_t min_block_grains_of(const PagedShape& shape) {
  return std::max<int64_t>(1, kMinDecodeBlockBytes / grain_bytes(shape));
}

int64_t decode_blocks_of(const PagedShape& shape) {
  if (shape.num_splits > 0) return static_cast<int64_t>(shape.batch) * shape.num_splits;
  const int64_t grains = shape.batch * ceil_div(shape.max_seqlen_k, kDecodeGrain);
  return std::max<int64_t>(1,
                           std::min(lane_count() * kDecodeBlocksPerLane, ceil_div(grains, min_block_grains_of(shape))));
}

int64_t slot_floats_of(const PagedShape& shape) {
  return ceil_div(decode_queries_of(shape) * shape.q_heads * (shape.head_dim + 2), 16) * 16;
}

int64_t slots_of(const PagedShape& shape) {
  if (shape.num_splits > 0) return shape.num_splits == 1 ? 0 : decode_blocks_of(shape);
  return decode_blocks_of(shape) == 1 ? 0 : 2 * decode_blocks_of(shape);
}

int launch(const char* name, musaHostKernelFn run, int64_t blocks, const void* params, size_t params_bytes, void* out,
           size_t out_bytes, void* stream) {
  if (blocks > UINT32_MAX) return musaErrorInvalidConfiguration;
  const musaHostLaunch launch = {name, run, static_cast<uint32_t>(blocks), 0, params, params_bytes, out, out_bytes};
  return musaHostLaunchKernel(&launch, static_cast<musaStream_t>(stream));
}

}  // namespace

int launch_fmha_prefill(const FmhaParams& params, void* stream) {
  const int64_t group = params.q_heads / params.kv_heads;
  const int64_t rows = params.total_q * group;
  if (rows == 0 || params.batch == 0) return musaSuccess;
  FmhaLaunch plan;
  plan.params = params;
  plan.tile_rows = tile_rows_for(rows, params.kv_heads);
  const int64_t tiles = params.cu_seqlens_q == nullptr
                            ? params.batch * ceil_div(params.seqlen_q * group, plan.tile_rows)
                            : tile_bound(rows, params.batch, plan.tile_rows);
  return launch("fmha_prefill", MUSABENCH_DISPATCH(fmha_prefill_block), tiles * params.kv_heads, &plan, sizeof plan,
                params.out, params.out_bytes, stream);
}

int64_t paged_attention_workspace_bytes(const PagedShape& shape) {
  return slots_of(shape) * slot_floats_of(shape) * static_cast<int64_t>(sizeof(float));
}

int launch_paged_attention(const PagedParams& params, void* stream) {
  const PagedShape& shape = params.shape;
  if (shape.total_q == 0 || shape.batch == 0) return musaSuccess;
  const int64_t group = shape.q_heads / shape.kv_heads;
  PagedLaunch plan;
  plan.params = params;
  plan.decode_queries = static_cast<int32_t>(decode_queries_of(shape));
  plan.tile_rows = tile_rows_for(shape.total_q * group, shape.kv_heads);
  const int64_t prefill_blocks = shape.max_seqlen_q <= plan.decode_queries
                                     ? 0
                                     : tile_bound(shape.total_q * group, shape.batch, plan.tile_rows) * shape.kv_heads;
  const int64_t decode_blocks = decode_blocks_of(shape);
  if (prefill_blocks + decode_blocks > UINT32_MAX) return musaErrorInvalidConfiguration;
  plan.prefill_blocks = static_cast<uint32_t>(prefill_blocks);
  plan.decode_blocks = static_cast<uint32_t>(decode_blocks);
  plan.min_block_grains = min_block_grains_of(shape);
  plan.slot_floats = slot_floats_of(shape);
  const int64_t rows = std::min(shape.total_q, shape.batch * static_cast<int64_t>(plan.decode_queries)) * shape.q_heads;
  plan.combine_blocks = static_cast<uint32_t>(std::min(rows, 2 * lane_count()));
  // Whichever launch completes `out` bears the export's name: a fault injected under it shows in the result.
  const bool combines = slots_of(shape) > 0;
  const int error =
      launch(combines ? "paged_attention_partial" : "paged_attention", MUSABENCH_DISPATCH(paged_attention_block),
             prefill_blocks + decode_blocks, &plan, sizeof plan, params.out, params.out_bytes, stream);
  if (error != musaSuccess || !combines) return error;
  return launch("paged_attention", MUSABENCH_DISPATCH(paged_attention_combine_block), plan.combine_blocks, &plan,
                sizeof plan, params.out, params.out_bytes, stream);
}

}  // namespace musabench
