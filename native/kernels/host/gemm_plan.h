// How a matrix product is cut into blocks; decided at launch, executed by the kernel of the chosen ISA.
#pragma once

#include "../gemm.h"

namespace musabench {

struct GemmPlan {
  GemmParams params;
  // Few rows: stream b once, dot products along k. Many rows: blocked product on packed fp32 panels.
  bool packed;
  int64_t block_rows;
  int64_t block_cols;
  int64_t row_blocks;
  int64_t col_blocks;
};

// Greatest number of rows for which the dot-product form is faster than packing (measured: README, host kernels).
constexpr int64_t kGemmMaxDotRows = 32;

GemmPlan plan_gemm(const GemmParams& params, uint32_t lanes);

namespace scalar {
void gemm_block(const void* plan, uint32_t block, uint32_t lane);
}
namespace avx2 {
void gemm_block(const void* plan, uint32_t block, uint32_t lane);
}

}  // namespace musabench
