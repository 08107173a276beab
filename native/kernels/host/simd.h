// Eight fp32 numbers at a time, for AVX2 and for plain C++ (GCC/Clang vector types).
//
// A kernel is written once against this header in `<name>_impl.h` and compiled by `<name>_avx2.cc` (-mavx2
// -mfma -mf16c) and `<name>_scalar.cc`, which open namespace MUSABENCH_ISA_NAMESPACE: avx2 or scalar.
// Everything here has internal linkage: an inline function with external linkage could be taken by the linker
// from the AVX2 object and run on a CPU without it. For the same reason kernels keep away from std:: templates.
#pragma once

#include <stdint.h>
#include <string.h>

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define MUSABENCH_SIMD_AVX2 1
#define MUSABENCH_ISA_NAMESPACE avx2
#include <immintrin.h>
#else
#define MUSABENCH_SIMD_AVX2 0
#define MUSABENCH_ISA_NAMESPACE scalar
#endif

#define MUSABENCH_INLINE static inline __attribute__((always_inline))

namespace musabench {
namespace MUSABENCH_ISA_NAMESPACE {
namespace {

struct Bf16 {
  uint16_t bits;
};
struct Fp16 {
  uint16_t bits;
};

typedef float F8 __attribute__((vector_size(32)));
typedef int32_t I8 __attribute__((vector_size(32)));
typedef uint32_t U8 __attribute__((vector_size(32)));
typedef uint16_t H8 __attribute__((vector_size(16)));

// ---- one element ----------------------------------------------------------------------------------------

MUSABENCH_INLINE float float_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
MUSABENCH_INLINE uint32_t bits_of_float(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

MUSABENCH_INLINE float to_float(float x) { return x; }
MUSABENCH_INLINE float to_float(Bf16 x) { return float_of_bits(static_cast<uint32_t>(x.bits) << 16); }
MUSABENCH_INLINE float to_float(Fp16 x) {
#if MUSABENCH_SIMD_AVX2
  return _cvtsh_ss(x.bits);
#else
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000u) << 16;
  const uint32_t magnitude = x.bits & 0x7fffu;
  // Shifted into place the exponent is 112 too small; a multiplication by 2^112 mends it, subnormals included.
  if (magnitude >= 0x7c00u) return float_of_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  return float_of_bits(sign | bits_of_float(float_of_bits(magnitude << 13) * 0x1p112f));
#endif
}

// Round to nearest, ties to even; NaN stays NaN; beyond the range becomes infinity.
template <class T>
MUSABENCH_INLINE T from_float(float x);
template <>
inline __attribute__((always_inline)) float from_float<float>(float x) {
  return x;
}
template <>
inline __attribute__((always_inline)) Bf16 from_float<Bf16>(float x) {
  const uint32_t u = bits_of_float(x);
  if (x != x) return Bf16{static_cast<uint16_t>(u >> 16 | 0x40u)};
  return Bf16{static_cast<uint16_t>((u + 0x7fffu + (u >> 16 & 1u)) >> 16)};
}
template <>
inline __attribute__((always_inline)) Fp16 from_float<Fp16>(float x) {
#if MUSABENCH_SIMD_AVX2
  return Fp16{static_cast<uint16_t>(_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT))};
#else
  const uint32_t u = bits_of_float(x);
  const uint32_t sign = u >> 16 & 0x8000u;
  const uint32_t magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return Fp16{static_cast<uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu))};
  if (magnitude >= 0x477ff000u) return Fp16{static_cast<uint16_t>(sign | 0x7c00u)};
  if (magnitude < 0x38800000u) {
    // Subnormal result: adding 0.5 puts the half's last bit on the float's last bit and so rounds it.
    const uint32_t rounded = bits_of_float(float_of_bits(magnitude) + 0.5f) - bits_of_float(0.5f);
    return Fp16{static_cast<uint16_t>(sign | rounded)};
  }
  return Fp16{static_cast<uint16_t>(sign | (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13)};
#endif
}

// ---- eight elements -------------------------------------------------------------------------------------

MUSABENCH_INLINE F8 splat(float x) { return F8{x, x, x, x, x, x, x, x}; }
MUSABENCH_INLINE F8 zero8() { return F8{0, 0, 0, 0, 0, 0, 0, 0}; }

MUSABENCH_INLINE F8 load8(const float* p) {
  F8 v;
  memcpy(&v, p, sizeof v);
  return v;
}
MUSABENCH_INLINE F8 load8(const Bf16* p) {
#if MUSABENCH_SIMD_AVX2
  return (F8)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))), 16);
#else
  H8 h;
  memcpy(&h, p, sizeof h);
  return (F8)(__builtin_convertvector(h, U8) << 16);
#endif
}
MUSABENCH_INLINE F8 load8(const Fp16* p) {
#if MUSABENCH_SIMD_AVX2
  return (F8)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
#else
  F8 v;
  for (int i = 0; i < 8; ++i) v[i] = to_float(p[i]);
  return v;
#endif
}

MUSABENCH_INLINE void store8(float* p, F8 v) { memcpy(p, &v, sizeof v); }
MUSABENCH_INLINE void store8(Bf16* p, F8 v) {
  const U8 u = (U8)v;
  const U8 rounded = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
  const U8 nan = u >> 16 | 0x40u;
  const U8 bits = v == v ? rounded : nan;
#if MUSABENCH_SIMD_AVX2
  const __m256i i = (__m256i)bits;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                   _mm_packus_epi32(_mm256_castsi256_si128(i), _mm256_extracti128_si256(i, 1)));
#else
  const H8 h = __builtin_convertvector(bits, H8);
  memcpy(p, &h, sizeof h);
#endif
}
MUSABENCH_INLINE void store8(Fp16* p, F8 v) {
#if MUSABENCH_SIMD_AVX2
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT));
#else
  for (int i = 0; i < 8; ++i) p[i] = from_float<Fp16>(v[i]);
#endif
}

// The first `count` (0..8) elements; the others read as `rest` and are neither touched in memory.
template <class T>
MUSABENCH_INLINE F8 load_first(const T* p, int64_t count, float rest = 0.0f) {
  F8 v = splat(rest);
  for (int64_t i = 0; i < count; ++i) v[i] = to_float(p[i]);
  return v;
}
template <class T>
MUSABENCH_INLINE void store_first(T* p, int64_t count, F8 v) {
  for (int64_t i = 0; i < count; ++i) p[i] = from_float<T>(v[i]);
}

// Rounded to T and back: what a reader of a stored value sees.
MUSABENCH_INLINE F8 rounded_to(F8 v, const Bf16*) {
  const U8 u = (U8)v;
  const U8 rounded = (u + 0x7fffu + (u >> 16 & 1u)) & 0xffff0000u;
  return (F8)(v == v ? rounded : u);
}
MUSABENCH_INLINE F8 rounded_to(F8 v, const Fp16*) {
  Fp16 h[8];
  store8(h, v);
  return load8(h);
}

// a * b + c; one rounding where the CPU has FMA.
MUSABENCH_INLINE F8 fma8(F8 a, F8 b, F8 c) {
#if MUSABENCH_SIMD_AVX2
  return (F8)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
  return a * b + c;
#endif
}
// The second operand where either is NaN.
MUSABENCH_INLINE F8 max8(F8 a, F8 b) {
#if MUSABENCH_SIMD_AVX2
  return (F8)_mm256_max_ps((__m256)a, (__m256)b);
#else
  return a > b ? a : b;
#endif
}
MUSABENCH_INLINE F8 min8(F8 a, F8 b) {
#if MUSABENCH_SIMD_AVX2
  return (F8)_mm256_min_ps((__m256)a, (__m256)b);
#else
  return a < b ? a : b;
#endif
}

MUSABENCH_INLINE float sum_of(F8 v) {
#if MUSABENCH_SIMD_AVX2
  __m128 x = _mm_add_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));
  x = _mm_add_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
#else
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
#endif
}
MUSABENCH_INLINE float max_of(F8 v) {
#if MUSABENCH_SIMD_AVX2
  __m128 x = _mm_max_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));
  x = _mm_max_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
#else
  float m = v[0];
  for (int i = 1; i < 8; ++i) m = v[i] > m ? v[i] : m;
  return m;
#endif
}

// rows[i][j] to to[j * stride + i], i and j in 0..7.
MUSABENCH_INLINE void store_transposed(const F8 (&rows)[8], float* to, int64_t stride) {
#if MUSABENCH_SIMD_AVX2
  __m256 pair[8], quad[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    pair[2 * i] = _mm256_unpacklo_ps((__m256)rows[2 * i], (__m256)rows[2 * i + 1]);
    pair[2 * i + 1] = _mm256_unpackhi_ps((__m256)rows[2 * i], (__m256)rows[2 * i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    quad[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
    quad[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xee);
    quad[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
    quad[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * stride, _mm256_permute2f128_ps(quad[i], quad[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * stride, _mm256_permute2f128_ps(quad[i], quad[i + 4], 0x31));
  }
#else
  for (int j = 0; j < 8; ++j) {
    for (int i = 0; i < 8; ++i) to[j * stride + i] = rows[i][j];
  }
#endif
}

// e^x, relative error below 2e-7. 0 below -87.33 (-infinity included), infinity above 88.72, NaN for NaN.
MUSABENCH_INLINE F8 exp8(F8 x) {
  const F8 low = splat(-87.33f);
  const F8 high = splat(88.73f);
  const F8 clamped = min8(high, max8(low, x));
  // n = round(x / ln 2) by adding 1.5 * 2^23, which leaves n in the last bits; r = x - n ln 2 in two steps.
  const F8 magic = splat(12582912.0f);
  const F8 shifted = fma8(clamped, splat(1.44269504f), magic);
  const F8 n = shifted - magic;
  F8 r = fma8(n, splat(-0.693359375f), clamped);
  r = fma8(n, splat(2.12194440e-4f), r);
  F8 p = splat(1.9875691500e-4f);
  p = fma8(p, r, splat(1.3981999507e-3f));
  p = fma8(p, r, splat(8.3334519073e-3f));
  p = fma8(p, r, splat(4.1665795894e-2f));
  p = fma8(p, r, splat(1.6666665459e-1f));
  p = fma8(p, r, splat(5.0000001201e-1f));
  p = fma8(p, r * r, r + 1.0f);
  // Two factors 2^(n/2): n = 128 has no float of its own but its product may.
  const I8 whole = (I8)shifted - (I8)magic;
  const I8 half = whole >> 1;
  const F8 result = p * (F8)(((U8)(half + 127)) << 23) * (F8)(((U8)(whole - half + 127)) << 23);
  return x < low ? zero8() : result;
}

}  // namespace
}  // namespace MUSABENCH_ISA_NAMESPACE
}  // namespace musabench
