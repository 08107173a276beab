// How the roof kernels are cut into blocks.
#pragma once

#include "../roof.h"
#include "launch.h"

namespace musabench {

// Bytes a block.
using ReadBandwidthPlan = Blocked<ReadBandwidthParams>;
using CopyBandwidthPlan = Blocked<CopyBandwidthParams>;

// One iteration of peak_flops is kPeakRounds times kPeakSums multiply-adds of eight numbers, on each lane.
constexpr int kPeakSums = 12;
constexpr int kPeakRounds = 8;

#define MUSABENCH_ROOF_BLOCKS                                                 \
  void read_bandwidth_block(const void* plan, uint32_t block, uint32_t lane); \
  void copy_bandwidth_block(const void* plan, uint32_t block, uint32_t lane); \
  void peak_flops_block(const void* params, uint32_t block, uint32_t lane);
namespace scalar {
MUSABENCH_ROOF_BLOCKS
}
namespace avx2 {
MUSABENCH_ROOF_BLOCKS
}
#undef MUSABENCH_ROOF_BLOCKS

}  // namespace musabench
