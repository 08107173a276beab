#include <algorithm>

#include "../elementwise.h"
#include "gpu.h"

namespace musabench {
namespace {

using namespace gpu;

constexpr int kThreads = 256;
constexpr int64_t kBlocksPerProcessor = 32;
// Lanes that share a head. A wider warp works on several heads.
constexpr int kGroup = 32;
constexpr int kGroups = kThreads / kGroup;
static_assert(kWarp % kGroup == 0, "a group lies within a warp");

// N elements of each half of a head at once.
template <class T, int N>
__global__ void __launch_bounds__(kThreads) qk_norm_rope_kernel(QkNormRopeParams p) {
  const int64_t heads = p.q_heads + p.kv_heads;
  const int64_t count = p.tokens * heads;
  const auto half = static_cast<int>(p.head_dim / 2);
  const int first = static_cast<int>(threadIdx.x) % kGroup * N;
  // Groups without a head of their own, at the end, take part in the sums.
  for (int64_t base = int64_t{blockIdx.x} * kGroups; base < count; base += int64_t{gridDim.x} * kGroups) {
    const int64_t index = base + threadIdx.x / kGroup;
    const bool mine = index < count;
    const int64_t token = mine ? index / heads : 0;
    const int64_t head = mine ? index % heads : 0;
    const bool is_q = head < p.q_heads;
    const T* x = static_cast<const T*>(p.qkv) + token * p.qkv_stride + head * p.head_dim;
    const T* weight = static_cast<const T*>(is_q ? p.q_weight : p.k_weight);

    float squares = 0;
    if (mine && weight != nullptr) {
      for (int i = first; i < half; i += kGroup * N) {
        const Vec<T, N> low = load<N>(x + i);
        const Vec<T, N> high = load<N>(x + half + i);
#pragma unroll
        for (int e = 0; e < N; ++e) {
          squares += to_float(low.at[e]) * to_float(low.at[e]) + to_float(high.at[e]) * to_float(high.at[e]);
        }
      }
    }
    squares = warp_sum<kGroup>(squares);
    if (!mine) continue;
    const float factor = 1.0f / sqrtf(squares / static_cast<float>(p.head_dim) + p.eps);

    const int64_t position = p.positions[token];
    if (position < 0 || position >= p.max_position) return fail_illegal_address();
    const float* cosines = p.cos_sin + position * p.cos_sin_stride;
    const float* sines = cosines + half;
    T* out = is_q ? static_cast<T*>(p.q_out) + token * p.q_token_stride + head * p.q_head_stride
                  : static_cast<T*>(p.k_out) + token * p.k_token_stride + (head - p.q_heads) * p.k_head_stride;
    for (int i = first; i < half; i += kGroup * N) {
      const Vec<T, N> low = load<N>(x + i);
      const Vec<T, N> high = load<N>(x + half + i);
      Vec<T, N> low_out;
      Vec<T, N> high_out;
#pragma unroll
      for (int e = 0; e < N; ++e) {
        float a = to_float(low.at[e]);
        float b = to_float(high.at[e]);
        if (weight != nullptr) {
          a *= factor * to_float(weight[i + e]);
          b *= factor * to_float(weight[half + i + e]);
        }
        const float cosine = cosines[i + e];
        const float sine = sines[i + e];
        low_out.at[e] = from_float<T>(a * cosine - b * sine);
        high_out.at[e] = from_float<T>(b * cosine + a * sine);
      }
      store(out + i, low_out);
      store(out + half + i, high_out);
    }
  }
}

}  // namespace

int launch_qk_norm_rope(const QkNormRopeParams& p, void* stream) {
  const int64_t count = p.tokens * (p.q_heads + p.kv_heads);
  if (count == 0) return kSuccess;
  const Grid grid = {
      static_cast<uint32_t>(std::min(ceil_div(count, kGroups), multiprocessors() * kBlocksPerProcessor))};
  const int64_t q_extent =
      p.q_heads == 0 ? 0 : (p.tokens - 1) * p.q_token_stride + (p.q_heads - 1) * p.q_head_stride + p.head_dim;
  const Output output = {p.q_out, q_extent * dtype_bytes(p.dtype)};
  const auto pairs = [](const void* data, int64_t stride) { return vectorizable(data, stride, 2, 2); };
  const bool by_two = p.head_dim % 4 == 0 && pairs(p.qkv, p.qkv_stride) && pairs(p.q_out, p.q_token_stride) &&
                      pairs(p.q_out, p.q_head_stride) && pairs(p.k_out, p.k_token_stride) &&
                      pairs(p.k_out, p.k_head_stride);
  return with_half_type(p.dtype, [&](auto type) {
    using T = decltype(type);
    return by_two ? launch<qk_norm_rope_kernel<T, 2>>("qk_norm_rope", grid, kThreads, p, output, stream)
                  : launch<qk_norm_rope_kernel<T, 1>>("qk_norm_rope", grid, kThreads, p, output, stream);
  });
}

}  // namespace musabench
