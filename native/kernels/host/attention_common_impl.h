// What both attention kernels use. Scores are kept in units of log 2, so that a softmax weight is one exp2.
//
// Sixteen elements are loaded as two vectors in an order that suits the type (bf16: even and odd elements). Queries,
// keys, values and accumulators all have that order, so it never shows; store16 undoes it.
#pragma once

#include <math.h>

#include "../../abi/musart_host.h"
#include "attention_kernels.h"
#include "simd.h"

namespace musabench {
namespace MUSABENCH_ISA_NAMESPACE {
namespace {

constexpr float kLog2E = 1.44269504f;
constexpr float kLn2 = 0.693147181f;

MUSABENCH_INLINE int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
MUSABENCH_INLINE int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
MUSABENCH_INLINE int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
MUSABENCH_INLINE int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

MUSABENCH_INLINE void load16(const Bf16* p, F8* a, F8* b) {
  U8 pairs;
  memcpy(&pairs, p, sizeof pairs);
  *a = (F8)(pairs << 16);
  *b = (F8)(pairs & 0xffff0000u);
}
MUSABENCH_INLINE void load16(const Fp16* p, F8* a, F8* b) {
  *a = load8(p);
  *b = load8(p + 8);
}
MUSABENCH_INLINE void store16(Bf16* p, F8 a, F8 b) {
  float natural[16];
  for (int i = 0; i < 8; ++i) {
    natural[2 * i] = a[i];
    natural[2 * i + 1] = b[i];
  }
  store8(p, load8(natural));
  store8(p + 8, load8(natural + 8));
}
MUSABENCH_INLINE void store16(Fp16* p, F8 a, F8 b) {
  store8(p, a);
  store8(p + 8, b);
}

// 2^x for x <= 126, relative error below 2e-7; exactly 0 below -127 (-infinity included), NaN for NaN.
MUSABENCH_INLINE F8 exp2_8(F8 x) {
  const F8 magic = splat(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer that stands in the last bits
  const F8 clamped = max8(splat(-127.0f), x);
  const F8 shifted = clamped + magic;
  const F8 r = clamped - (shifted - magic);
  F8 p = splat(1.327647199e-3f);
  p = fma8(p, r, splat(9.675541334e-3f));
  p = fma8(p, r, splat(5.550713273e-2f));
  p = fma8(p, r, splat(2.402211972e-1f));
  p = fma8(p, r, splat(6.931469671e-1f));
  p = fma8(p, r, splat(1.0f));
  // n = -127 makes the exponent field, and with it the factor, 0.
  const U8 exponent = (U8)((I8)shifted - (I8)magic + 127) << 23;
  return p * (F8)exponent;
}

// cap * tanh(s / cap) in units of log 2, s in natural units; NaN for NaN. Relative error below 1e-6 for every cap > 0:
// where tanh is nearly the identity, its series times s loses nothing, which 1 - 2 / (e^2x + 1) would.
MUSABENCH_INLINE F8 capped(F8 s, F8 cap) {
  const F8 x = s / cap;
  const F8 x2 = x * x;
  // tanh(x) / x; up to |x| = 1/4 what is cut off is below 1e-8.
  F8 series = splat(62.0f / 2835);
  series = fma8(series, x2, splat(-17.0f / 315));
  series = fma8(series, x2, splat(2.0f / 15));
  series = fma8(series, x2, splat(-1.0f / 3));
  series = fma8(series, x2, splat(1.0f));
  const F8 t = max8(splat(-12.0f), min8(splat(12.0f), x));  // beyond it tanh is 1 in fp32
  const F8 e = exp2_8(t * splat(2.0f * kLog2E));
  const F8 whole = cap * (splat(1.0f) - splat(2.0f) / (e + splat(1.0f)));
  return (x2 < splat(1.0f / 16) ? s * series : whole) * splat(kLog2E);
}

// Scores of `n` (a multiple of 8) keys from key `first`: the cap, if there is one (> 0; the scores are then in natural
// units), then -infinity for keys outside [low, high).
MUSABENCH_INLINE void cap_and_mask(float* scores, int64_t n, float cap, int64_t first, int64_t low, int64_t high) {
  if (cap > 0) {
    for (int64_t j = 0; j < n; j += 8) store8(scores + j, capped(load8(scores + j), splat(cap)));
  }
  const int64_t begin = low - first;
  const int64_t end = high - first;
  for (int64_t j = 0; j < min64(begin, n); ++j) scores[j] = -INFINITY;
  for (int64_t j = max64(end, 0); j < n; ++j) scores[j] = -INFINITY;
}

// For each of eight vectors the sum, or the maximum, of its elements.
template <bool kMax>
MUSABENCH_INLINE F8 reduce_each(const F8* v) {
#if MUSABENCH_SIMD_AVX2
  const auto join = [](__m256 a, __m256 b) { return kMax ? _mm256_max_ps(a, b) : _mm256_add_ps(a, b); };
  __m256 pair[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m256 a = (__m256)v[2 * i];
    const __m256 b = (__m256)v[2 * i + 1];
    pair[i] = join(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
  }
  __m256 four[2];
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const __m256 a = pair[2 * i];
    const __m256 b = pair[2 * i + 1];
    four[i] = join(_mm256_shuffle_ps(a, b, 0x44), _mm256_shuffle_ps(a, b, 0xee));
  }
  return (F8)join(_mm256_permute2f128_ps(four[0], four[1], 0x20), _mm256_permute2f128_ps(four[0], four[1], 0x31));
#else
  F8 all;
  for (int i = 0; i < 8; ++i) all[i] = kMax ? max_of(v[i]) : sum_of(v[i]);
  return all;
#endif
}

// One step of the online softmax for `count` (1..8) rows of n (a multiple of 8) scores, `stride` apart. Scores become
// weights; factor is for what was accumulated before. The arrays have room for eight.
MUSABENCH_INLINE void softmax_step(float* scores, int64_t stride, int64_t count, int64_t n, float* row_max,
                                   float* row_sum, float* factor) {
  F8 each[8];
  for (int64_t r = 0; r < count; ++r) {
    each[r] = load8(scores + r * stride);
    for (int64_t j = 8; j < n; j += 8) each[r] = max8(each[r], load8(scores + r * stride + j));
  }
  for (int64_t r = count; r < 8; ++r) each[r] = splat(-INFINITY);
  const F8 before = load8(row_max);
  const F8 now = max8(reduce_each<true>(each), before);
  // Where no key was seen yet, all weights are 2^-infinity.
  const F8 base = now == splat(-INFINITY) ? zero8() : now;
  const F8 factors = exp2_8(before - base);
  float bases[8];
  store8(bases, base);
  for (int64_t r = 0; r < count; ++r) {
    const F8 b = splat(bases[r]);
    each[r] = zero8();
    for (int64_t j = 0; j < n; j += 8) {
      const F8 w = exp2_8(load8(scores + r * stride + j) - b);
      store8(scores + r * stride + j, w);
      each[r] = each[r] + w;
    }
  }
  const F8 sums = fma8(load8(row_sum), factors, reduce_each<false>(each));
  store8(factor, factors);
  for (int64_t r = 0; r < count; ++r) {
    row_max[r] = now[r];
    row_sum[r] = sums[r];
  }
}

// out = accumulated / sum, or zeros where the row saw no key.
template <class T>
MUSABENCH_INLINE void store_row(T* out, const float* accumulated, int64_t dim, float sum) {
  const F8 factor = splat(sum == 0 ? 0.0f : 1.0f / sum);
  for (int64_t d = 0; d < dim; d += 16)
    store16(out + d, load8(accumulated + d) * factor, load8(accumulated + d + 8) * factor);
}
MUSABENCH_INLINE float log_sum_exp(float row_max, float sum) {
  return sum == 0 ? -INFINITY : (row_max + log2f(sum)) * kLn2;
}

MUSABENCH_INLINE void fetch_to_l2(const void* p) { __builtin_prefetch(p, 0, 2); }

// Keys and values of one sequence, contiguous (no table; one page without end) or paged.
template <class T>
struct KvSource {
  const T* k;
  const T* v;
  AttentionStrides k_strides;
  AttentionStrides v_strides;
  const int32_t* table;
  int64_t page_size;
  int64_t pages;

  // Addresses of the first head of tokens [first, first + n). False if the table names a page that does not exist.
  bool rows(int64_t first, int64_t n, const T** k_rows, const T** v_rows) const {
    if (table == nullptr) {
      for (int64_t i = 0; i < n; ++i) {
        k_rows[i] = k + (first + i) * k_strides.token;
        v_rows[i] = v + (first + i) * v_strides.token;
      }
      return true;
    }
    int64_t index = first / page_size;
    int64_t offset = first % page_size;
    for (int64_t i = 0; i < n; ++index, offset = 0) {
      const int64_t page = table[index];
      if (page < 0 || page >= pages) return false;
      const T* k_row = k + page * k_strides.outer + offset * k_strides.token;
      const T* v_row = v + page * v_strides.outer + offset * v_strides.token;
      for (const int64_t end = min64(n, i + page_size - offset); i < end; ++i) {
        k_rows[i] = k_row;
        v_rows[i] = v_row;
        k_row += k_strides.token;
        v_row += v_strides.token;
      }
    }
    return true;
  }
};

// The keys that query i of q_len sees: [low, high), empty if there is none.
MUSABENCH_INLINE void visible_keys(AttentionMask mask, int64_t i, int64_t q_len, int64_t k_len, int64_t* low,
                                   int64_t* high) {
  const int64_t diagonal = i + k_len - q_len;
  *high = mask.window_right < 0 ? k_len : min64(k_len, diagonal + mask.window_right + 1);
  *low = mask.window_left < 0 ? 0 : max64(0, diagonal - mask.window_left);
  if (*low >= *high) *low = *high = 0;
}

// Hands out parts of a lane's scratch.
struct Arena {
  char* next;

  template <class T>
  T* take(int64_t count) {
    T* p = reinterpret_cast<T*>(next);
    next += round_up(count * static_cast<int64_t>(sizeof(T)), 64);
    return p;
  }
};
// What take() needs at most for `bytes` in `parts` parts.
MUSABENCH_INLINE size_t arena_bytes(int64_t bytes, int64_t parts) { return static_cast<size_t>(bytes + 64 * parts); }

}  // namespace
}  // namespace MUSABENCH_ISA_NAMESPACE
}  // namespace musabench
