// What attention.cc plans on the host and the kernels, compiled once an instruction set, carry out.
#pragma once

#include <cstdint>

#include "../attention.h"

namespace musabench {

// Query rows of a prefill tile are a multiple of this, the rows of a register tile.
constexpr int32_t kRowPanel = 6;
// Work of the decode kernel is cut at multiples of so many keys.
constexpr int64_t kDecodeGrain = 16;

struct FmhaLaunch {
  FmhaParams params;
  int32_t tile_rows;  // query rows of a block: query tokens times the query heads that share a key head
};

// Sequences with at most `decode_queries` query tokens are decoded: their keys are read once for all heads, and the
// keys of all of them together are cut into `decode_blocks` parts of equal length (or each sequence in num_splits
// parts). What several blocks have of one sequence they leave in slots of the workspace, which the combine kernel adds
// up. Longer chunks are tiled as in fmha_prefill.
struct PagedLaunch {
  PagedParams params;
  int32_t decode_queries;
  int32_t tile_rows;
  uint32_t prefill_blocks;
  uint32_t decode_blocks;
  uint32_t combine_blocks;
  int64_t min_block_grains;
  int64_t slot_floats;
};

namespace scalar {
void fmha_prefill_block(const void* launch, uint32_t block, uint32_t lane);
void paged_attention_block(const void* launch, uint32_t block, uint32_t lane);
void paged_attention_combine_block(const void* launch, uint32_t block, uint32_t lane);
}  // namespace scalar

namespace avx2 {
void fmha_prefill_block(const void* launch, uint32_t block, uint32_t lane);
void paged_attention_block(const void* launch, uint32_t block, uint32_t lane);
void paged_attention_combine_block(const void* launch, uint32_t block, uint32_t lane);
}  // namespace avx2

}  // namespace musabench
