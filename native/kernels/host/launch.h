// Putting a host kernel on a stream.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../abi/musart_host.h"

namespace musabench {

// Lanes to share work out among. At least one: where the environment is wrong there are none, and it is the launch
// that says so.
inline int64_t lane_count() { return std::max<int64_t>(1, musaHostLaneCount()); }

// Parameters of a kernel and how much of its work one block does: bytes, rows or elements, as the kernel says.
template <class Params>
struct Blocked {
  Params params;
  int64_t per_block;
};

// `params` is copied. `output` is the result that an injected fault damages.
template <class Params>
int launch_blocks(const char* name, musaHostKernelFn run, int64_t blocks, const Params& params, void* output,
                  int64_t output_bytes, void* stream) {
  musaHostLaunch launch = {};
  launch.name = name;
  launch.run = run;
  launch.blocks = static_cast<uint32_t>(blocks);
  launch.params = &params;
  launch.params_bytes = sizeof params;
  launch.output = output;
  launch.output_bytes = static_cast<size_t>(output_bytes);
  return musaHostLaunchKernel(&launch, static_cast<musaStream_t>(stream));
}

}  // namespace musabench
