#include "../elementwise.h"

#include <algorithm>
#include <cstring>

#include "elementwise_plan.h"
#include "isa.h"

namespace musabench {
namespace {

// A block smaller than this takes less time than giving it to another lane.
constexpr int64_t kMinBlockBytes = 24 * 1024;

// Rows a block: enough bytes to be worth a block, and otherwise eight blocks a lane.
int64_t rows_per_block(int64_t rows, int64_t row_bytes) {
  const int64_t blocks = 8 * lane_count();
  const int64_t enough = kMinBlockBytes / std::max<int64_t>(row_bytes, 1) + 1;
  return std::max(enough, (rows + blocks - 1) / blocks);
}

int64_t block_count(int64_t rows, int64_t per_block) { return (rows + per_block - 1) / per_block; }

// Bytes from the first to the last element of rows with a stride.
int64_t span_bytes(int64_t rows, int64_t stride, int64_t columns, Dtype dtype) {
  return ((rows - 1) * stride + columns) * dtype_bytes(dtype);
}

// The cache as bytes: copying does not look at the elements.
struct CopySide {
  const char* from;
  char* cache;
  int64_t element_bytes;
  const KvCacheWriteParams::Side* side;

  void copy(int64_t token, int64_t page, int64_t place, int64_t heads) const {
    const int64_t bytes = side->head_dim * element_bytes;
    const char* source = from + token * side->token_stride * element_bytes;
    char* target = cache + (page * side->cache_page_stride + place * side->cache_place_stride) * element_bytes;
    if (side->head_stride == side->head_dim && side->cache_head_stride == side->head_dim) {
      std::memcpy(target, source, static_cast<size_t>(heads * bytes));
      return;
    }
    for (int64_t h = 0; h < heads; ++h) {
      std::memcpy(target + h * side->cache_head_stride * element_bytes, source + h * side->head_stride * element_bytes,
                  static_cast<size_t>(bytes));
    }
  }
};

void kv_cache_write_block(const void* blocked, uint32_t block, uint32_t) {
  const auto& plan = *static_cast<const Blocked<KvCacheWriteParams>*>(blocked);
  const KvCacheWriteParams& p = plan.params;
  const int64_t size = dtype_bytes(p.dtype);
  const CopySide k = {static_cast<const char*>(p.k.from), static_cast<char*>(p.k.cache), size, &p.k};
  const CopySide v = {static_cast<const char*>(p.v.from), static_cast<char*>(p.v.cache), size, &p.v};
  const int64_t begin = block * plan.per_block;
  const int64_t end = std::min(begin + plan.per_block, p.tokens);
  for (int64_t t = begin; t < end; ++t) {
    const int64_t slot = p.slots[t];
    if (slot < 0) continue;
    const int64_t page = slot / p.page_size;
    if (page >= p.pages) return musaHostKernelFail(musaErrorIllegalAddress);
    k.copy(t, page, slot % p.page_size, p.kv_heads);
    v.copy(t, page, slot % p.page_size, p.kv_heads);
  }
}

void embedding_block(const void* blocked, uint32_t block, uint32_t) {
  const auto& plan = *static_cast<const Blocked<EmbeddingParams>*>(blocked);
  const EmbeddingParams& p = plan.params;
  const int64_t size = dtype_bytes(p.dtype);
  const int64_t begin = block * plan.per_block;
  const int64_t end = std::min(begin + plan.per_block, p.tokens);
  for (int64_t t = begin; t < end; ++t) {
    const int64_t id = p.ids[t];
    if (id < 0 || id >= p.rows) return musaHostKernelFail(musaErrorIllegalAddress);
    std::memcpy(static_cast<char*>(p.out) + t * p.out_stride * size,
                static_cast<const char*>(p.table) + id * p.table_stride * size, static_cast<size_t>(p.hidden * size));
  }
}

}  // namespace

int launch_rms_norm(const RmsNormParams& p, void* stream) {
  if (p.tokens == 0 || p.hidden == 0) return musaSuccess;
  const int64_t rows = rows_per_block(p.tokens, p.hidden * 4);
  return launch_blocks("rms_norm", MUSABENCH_DISPATCH(rms_norm_block), block_count(p.tokens, rows),
                       Blocked<RmsNormParams>{p, rows}, p.out, span_bytes(p.tokens, p.out_stride, p.hidden, p.dtype),
                       stream);
}

int launch_fused_add_rms_norm(const FusedAddRmsNormParams& p, void* stream) {
  if (p.tokens == 0 || p.hidden == 0) return musaSuccess;
  const int64_t rows = rows_per_block(p.tokens, p.hidden * 8);
  return launch_blocks("fused_add_rms_norm", MUSABENCH_DISPATCH(fused_add_rms_norm_block), block_count(p.tokens, rows),
                       Blocked<FusedAddRmsNormParams>{p, rows}, p.out,
                       span_bytes(p.tokens, p.out_stride, p.hidden, p.dtype), stream);
}

int launch_qk_norm_rope(const QkNormRopeParams& p, void* stream) {
  if (p.tokens == 0) return musaSuccess;
  const int64_t rows = rows_per_block(p.tokens, (p.q_heads + p.kv_heads) * p.head_dim * 4);
  const int64_t q_extent =
      p.q_heads == 0 ? 0 : (p.tokens - 1) * p.q_token_stride + (p.q_heads - 1) * p.q_head_stride + p.head_dim;
  return launch_blocks("qk_norm_rope", MUSABENCH_DISPATCH(qk_norm_rope_block), block_count(p.tokens, rows),
                       Blocked<QkNormRopeParams>{p, rows}, p.q_out, q_extent * dtype_bytes(p.dtype), stream);
}

int launch_kv_cache_write(const KvCacheWriteParams& p, void* stream) {
  if (p.tokens == 0) return musaSuccess;
  const int64_t rows = rows_per_block(p.tokens, p.kv_heads * (p.k.head_dim + p.v.head_dim) * 4);
  const int64_t cache_extent = p.pages == 0 || p.page_size == 0 || p.kv_heads == 0
                                   ? 0
                                   : (p.pages - 1) * p.k.cache_page_stride +
                                         (p.page_size - 1) * p.k.cache_place_stride +
                                         (p.kv_heads - 1) * p.k.cache_head_stride + p.k.head_dim;
  return launch_blocks("kv_cache_write", &kv_cache_write_block, block_count(p.tokens, rows),
                       Blocked<KvCacheWriteParams>{p, rows}, p.k.cache, cache_extent * dtype_bytes(p.dtype), stream);
}

int launch_silu_and_mul(const SiluAndMulParams& p, void* stream) {
  if (p.tokens == 0 || p.features == 0) return musaSuccess;
  // An exponential a number: even a single row is worth sharing.
  const int64_t columns = block_count(p.features, kSiluBlockColumns);
  const int64_t rows = rows_per_block(p.tokens, std::min(p.features, kSiluBlockColumns) * 12);
  return launch_blocks("silu_and_mul", MUSABENCH_DISPATCH(silu_and_mul_block), block_count(p.tokens, rows) * columns,
                       Blocked<SiluAndMulParams>{p, rows}, p.out,
                       span_bytes(p.tokens, p.out_stride, p.features, p.dtype), stream);
}

int launch_embedding(const EmbeddingParams& p, void* stream) {
  if (p.tokens == 0 || p.hidden == 0) return musaSuccess;
  const int64_t rows = rows_per_block(p.tokens, p.hidden * 4);
  return launch_blocks("embedding", &embedding_block, block_count(p.tokens, rows), Blocked<EmbeddingParams>{p, rows},
                       p.out, span_bytes(p.tokens, p.out_stride, p.hidden, p.dtype), stream);
}

int launch_argmax(const ArgmaxParams& p, void* stream) {
  if (p.tokens == 0) return musaSuccess;
  const int64_t rows = rows_per_block(p.tokens, p.vocabulary * dtype_bytes(p.dtype));
  return launch_blocks("argmax", MUSABENCH_DISPATCH(argmax_block), block_count(p.tokens, rows),
                       Blocked<ArgmaxParams>{p, rows}, p.out, p.tokens * int64_t{4}, stream);
}

int launch_random_fill(const RandomFillParams& p, void* stream) {
  if (p.count == 0) return musaSuccess;
  const int64_t elements = std::max<int64_t>(rows_per_block(p.count, dtype_bytes(p.dtype)), (p.count >> 20) + 1);
  return launch_blocks("random_fill", MUSABENCH_DISPATCH(random_fill_block), block_count(p.count, elements),
                       Blocked<RandomFillParams>{p, elements}, p.out, p.count * dtype_bytes(p.dtype), stream);
}

}  // namespace musabench
