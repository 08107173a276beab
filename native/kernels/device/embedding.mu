#include <algorithm>

#include "../elementwise.h"
#include "gpu.h"

namespace musabench {
namespace {

using namespace gpu;

constexpr int kThreads = 256;
constexpr int64_t kBlocksPerProcessor = 32;

// A block a row, N 16-bit elements at once.
template <int N>
__global__ void __launch_bounds__(kThreads) embedding_kernel(EmbeddingParams p) {
  const int64_t vectors = p.hidden / N;
  for (int64_t token = blockIdx.x; token < p.tokens; token += gridDim.x) {
    const int64_t id = p.ids[token];
    if (id < 0 || id >= p.rows) return fail_illegal_address();
    const auto* from = static_cast<const uint16_t*>(p.table) + id * p.table_stride;
    auto* to = static_cast<uint16_t*>(p.out) + token * p.out_stride;
    for (int64_t i = threadIdx.x; i < vectors; i += kThreads) store(to + i * N, load<N>(from + i * N));
  }
}

}  // namespace

int launch_embedding(const EmbeddingParams& p, void* stream) {
  if (p.tokens == 0 || p.hidden == 0) return kSuccess;
  const Grid grid = {static_cast<uint32_t>(std::min(p.tokens, multiprocessors() * kBlocksPerProcessor))};
  const Output output = {p.out, ((p.tokens - 1) * p.out_stride + p.hidden) * dtype_bytes(p.dtype)};
  const bool by_eight =
      p.hidden % 8 == 0 && vectorizable(p.table, p.table_stride, 2, 8) && vectorizable(p.out, p.out_stride, 2, 8);
  return by_eight ? launch<embedding_kernel<8>>("embedding", grid, kThreads, p, output, stream)
                  : launch<embedding_kernel<1>>("embedding", grid, kThreads, p, output, stream);
}

}  // namespace musabench
