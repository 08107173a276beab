// Attention of many query rows, over contiguous keys and over pages.
#include <algorithm>

#include "attention_launch.h"
#include "attention_mma.h"
#include "attention_portable.h"

namespace musabench {
namespace attention {
namespace {

template <class T, int kQk, int kV>
using PortablePrefill = Portable<T, kQk, kV, kQk <= 128 ? 32 : 16>;

template <class T, int kQk, int kV>
__global__ void __launch_bounds__(kThreads) prefill_kernel(AttentionArgs<T> a) {
  if constexpr (gpu::kHasMma) {
    MmaPrefill<T, kQk, kV>::run(a);
  } else {
    using Kernel = PortablePrefill<T, kQk, kV>;
    auto& shared = *reinterpret_cast<typename Kernel::Shared*>(gpu::dynamic_shared());
    Tile t;
    t.kv_head = static_cast<int32_t>(blockIdx.x) % a.kv_heads;
    if (!find_tile(a, static_cast<int32_t>(blockIdx.x) / a.kv_heads, Kernel::kRows, shared.tiles_of_part, &t)) return;
    set_keys(a, &t);
    Kernel::run(a, t, shared);
  }
}

template <class T, int kQk, int kV>
struct Chosen {
  using Kernel = std::conditional_t<gpu::kHasMma, MmaPrefill<T, kQk, kV>, PortablePrefill<T, kQk, kV>>;
  static constexpr int32_t kRows = Kernel::kRows;
  static constexpr size_t kSharedBytes = sizeof(typename Kernel::Shared);
};

}  // namespace

template <class T>
int launch_prefill_tiles(const char* name, const AttentionArgs<T>& args, int32_t dim_qk, int32_t dim_v, int64_t rows,
                         gpu::Output output, void* stream) {
  if (rows > INT32_MAX) return gpu::kInvalidConfiguration;
  return with_head_dims(dim_qk, dim_v, [&](auto dims) {
    using Dims = decltype(dims);
    using Kernel = Chosen<T, Dims::kQk, Dims::kV>;
    // A bound, as lengths lie in device memory: every sequence has at most one tile that is not full.
    const int64_t tiles = std::min<int64_t>(rows, rows / Kernel::kRows + args.batch);
    if (tiles * args.kv_heads > gpu::kMaxGridX) return gpu::kInvalidConfiguration;
    return gpu::launch<prefill_kernel<T, Dims::kQk, Dims::kV>>(name, {static_cast<uint32_t>(tiles * args.kv_heads)},
                                                               kThreads, args, output, stream, Kernel::kSharedBytes);
  });
}

template int launch_prefill_tiles(const char*, const AttentionArgs<gpu::Bf16>&, int32_t, int32_t, int64_t, gpu::Output,
                                  void*);
template int launch_prefill_tiles(const char*, const AttentionArgs<gpu::Fp16>&, int32_t, int32_t, int64_t, gpu::Output,
                                  void*);

}  // namespace attention

int launch_fmha_prefill(const FmhaParams& p, void* stream) {
  const int64_t group = p.q_heads / p.kv_heads;
  const int64_t rows = p.total_q * group;
  if (rows == 0 || p.batch == 0) return gpu::kSuccess;
  return gpu::with_half_type(p.dtype, [&](auto type) {
    using T = decltype(type);
    attention::AttentionArgs<T> args = attention::common_args<T>(p, p.k, p.v);
    args.cu_seqlens_k = p.cu_seqlens_k;
    args.group = attention::FastDivisor::of(group);
    args.batch = p.batch;
    args.q_heads = p.q_heads;
    args.kv_heads = p.kv_heads;
    args.seqlen_q = static_cast<int32_t>(p.seqlen_q);
    args.seqlen_k = static_cast<int32_t>(p.seqlen_k);
    args.total_q = static_cast<int32_t>(p.total_q);
    args.total_k = static_cast<int32_t>(p.total_k);
    return attention::launch_prefill_tiles("fmha_prefill", args, p.head_dim_qk, p.head_dim_v, rows,
                                           {p.out, static_cast<int64_t>(p.out_bytes)}, stream);
  });
}

}  // namespace musabench
