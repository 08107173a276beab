#include "../gemm.h"

#include <algorithm>

#include "gemm_plan.h"
#include "isa.h"
#include "launch.h"

namespace musabench {
namespace {

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

GemmPlan plan_gemm(const GemmParams& p, uint32_t lanes) {
  GemmPlan plan = {};
  plan.params = p;
  plan.packed = p.m > kGemmMaxDotRows;
  plan.block_rows = p.m;
  if (plan.packed) {
    // A block packs its rows of `a` anew, so it should be wide; but there must be enough blocks for every lane, and
    // its fp32 results (rows * cols) should stay in the last-level cache.
    constexpr int64_t kMaxRows = 1024;
    plan.row_blocks = divide_up(p.m, kMaxRows);
    plan.block_cols = 512;
    while (plan.block_cols > 128 && divide_up(p.n, plan.block_cols) * plan.row_blocks < 4 * lanes) {
      plan.block_cols /= 2;
    }
    const int64_t wanted = divide_up(2 * lanes, divide_up(p.n, plan.block_cols));
    plan.row_blocks = std::max(plan.row_blocks, std::min(wanted, divide_up(p.m, 48)));
    // Multiples of the micro-kernel's six rows leave a remainder in the last block only.
    plan.block_rows = divide_up(divide_up(p.m, plan.row_blocks), 6) * 6;
    plan.row_blocks = divide_up(p.m, plan.block_rows);
  } else {
    // 24 blocks a lane: small enough that lanes end together, large enough to start the streams rarely.
    const int64_t cols = divide_up(p.n, int64_t{24} * lanes);
    plan.block_cols = std::clamp<int64_t>(divide_up(cols, 24) * 24, 24, 480);
    plan.row_blocks = 1;
  }
  plan.col_blocks = divide_up(p.n, plan.block_cols);
  return plan;
}

int launch_gemm(const GemmParams& params, void* stream) {
  if (params.m == 0 || params.n == 0) return musaSuccess;
  const GemmPlan plan = plan_gemm(params, static_cast<uint32_t>(lane_count()));
  const int64_t out_bytes = ((params.m - 1) * params.out_stride + params.n) * dtype_bytes(params.out_dtype);
  return launch_blocks("gemm", MUSABENCH_DISPATCH(gemm_block), plan.row_blocks * plan.col_blocks, plan, params.out,
                       out_bytes, stream);
}

}  // namespace musabench
