#include <algorithm>

#include "../elementwise.h"
#include "gpu.h"

namespace musabench {
namespace {

using namespace gpu;

constexpr int kThreads = 128;
constexpr int64_t kBlocksPerProcessor = 32;

// Copying does not look at the elements: 16 bits each.
template <int N>
MUSABENCH_DEVICE void copy_side(const KvCacheWriteParams::Side& side, int64_t heads, int64_t token, int64_t page,
                                int64_t place) {
  const auto* from = static_cast<const uint16_t*>(side.from) + token * side.token_stride;
  auto* to = static_cast<uint16_t*>(side.cache) + page * side.cache_page_stride + place * side.cache_place_stride;
  const auto vectors = static_cast<int>(side.head_dim / N);
  const int all = static_cast<int>(heads) * vectors;
  for (int i = static_cast<int>(threadIdx.x); i < all; i += kThreads) {
    const int head = i / vectors;
    const int at = i % vectors * N;
    store(to + head * side.cache_head_stride + at, load<N>(from + head * side.head_stride + at));
  }
}

// A block a token, N elements at once.
template <int N>
__global__ void __launch_bounds__(kThreads) kv_cache_write_kernel(KvCacheWriteParams p) {
  for (int64_t token = blockIdx.x; token < p.tokens; token += gridDim.x) {
    const int64_t slot = p.slots[token];
    if (slot < 0) continue;
    const int64_t page = slot / p.page_size;
    if (page >= p.pages) return fail_illegal_address();
    copy_side<N>(p.k, p.kv_heads, token, page, slot % p.page_size);
    copy_side<N>(p.v, p.kv_heads, token, page, slot % p.page_size);
  }
}

bool by_eight(const KvCacheWriteParams::Side& side) {
  return side.head_dim % 8 == 0 && vectorizable(side.from, side.token_stride, 2, 8) && side.head_stride % 8 == 0 &&
         vectorizable(side.cache, side.cache_page_stride, 2, 8) && side.cache_place_stride % 8 == 0 &&
         side.cache_head_stride % 8 == 0;
}

}  // namespace

int launch_kv_cache_write(const KvCacheWriteParams& p, void* stream) {
  if (p.tokens == 0 || p.kv_heads == 0) return kSuccess;
  if (p.kv_heads * std::max(p.k.head_dim, p.v.head_dim) > INT32_MAX - kThreads) return kInvalidConfiguration;
  const Grid grid = {static_cast<uint32_t>(std::min(p.tokens, multiprocessors() * kBlocksPerProcessor))};
  const int64_t extent = p.pages == 0
                             ? 0
                             : (p.pages - 1) * p.k.cache_page_stride + (p.page_size - 1) * p.k.cache_place_stride +
                                   (p.kv_heads - 1) * p.k.cache_head_stride + p.k.head_dim;
  const Output output = {p.k.cache, extent * dtype_bytes(p.dtype)};
  return by_eight(p.k) && by_eight(p.v)
             ? launch<kv_cache_write_kernel<8>>("kv_cache_write", grid, kThreads, p, output, stream)
             : launch<kv_cache_write_kernel<1>>("kv_cache_write", grid, kThreads, p, output, stream);
}

}  // namespace musabench
