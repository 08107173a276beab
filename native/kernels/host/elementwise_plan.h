// The blocks of the small kernels, for each instruction set. `params` is a Blocked<...Params>.
#pragma once

#include "../elementwise.h"
#include "launch.h"

namespace musabench {

// Columns that one block of silu_and_mul does at most.
constexpr int64_t kSiluBlockColumns = 2048;

#define MUSABENCH_ELEMENTWISE_BLOCKS                                                \
  void rms_norm_block(const void* params, uint32_t block, uint32_t lane);           \
  void fused_add_rms_norm_block(const void* params, uint32_t block, uint32_t lane); \
  void qk_norm_rope_block(const void* params, uint32_t block, uint32_t lane);       \
  void silu_and_mul_block(const void* params, uint32_t block, uint32_t lane);       \
  void argmax_block(const void* params, uint32_t block, uint32_t lane);             \
  void random_fill_block(const void* params, uint32_t block, uint32_t lane);
namespace scalar {
MUSABENCH_ELEMENTWISE_BLOCKS
}
namespace avx2 {
MUSABENCH_ELEMENTWISE_BLOCKS
}
#undef MUSABENCH_ELEMENTWISE_BLOCKS

}  // namespace musabench
