// The matrix product out = a * b^T + bias, once for every instruction set (see simd.h).
//
// Few rows (decode): every row of b is read once, from memory, and that is the whole cost at one row. A tile of
// NR rows of b meets all rows of a, which wait as fp32 in the cache; products run along k, so b needs no
// transposition, and one conversion of b serves up to four rows of a.
//
// Many rows (prefill): panels of b are converted and transposed once a block, panels of a converted; a 6 x 16
// micro-kernel keeps 12 sums in registers. One panel of b (16 columns * kDepth) stays in the first-level cache while
// the rows of a pass by from the second.
#include "../../abi/musart_host.h"
#include "gemm_plan.h"
#include "simd.h"

namespace musabench {
namespace MUSABENCH_ISA_NAMESPACE {
namespace {

// Sixteen elements as two vectors, in an order that is cheap for the type and the same for a and b: a dot product
// does not mind. Bf16 comes as even and odd elements: one shift, one mask.
MUSABENCH_INLINE F8 load16_first(const Bf16* p) {
  U8 pairs;
  memcpy(&pairs, p, sizeof pairs);
  return (F8)(pairs << 16);
}
MUSABENCH_INLINE F8 load16_second(const Bf16* p) {
  U8 pairs;
  memcpy(&pairs, p, sizeof pairs);
  return (F8)(pairs & 0xffff0000u);
}
MUSABENCH_INLINE F8 load16_first(const Fp16* p) { return load8(p); }
MUSABENCH_INLINE F8 load16_second(const Fp16* p) { return load8(p + 8); }

MUSABENCH_INLINE int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }
MUSABENCH_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// to[0..count) = sums + the bias of the columns from `col` on.
template <class T>
MUSABENCH_INLINE void add_bias(const void* bias, int64_t col, const float* sums, int64_t count, float* to) {
  const T* from = static_cast<const T*>(bias) + col;
  for (int64_t i = 0; i < count; ++i) to[i] = sums[i] + to_float(from[i]);
}

// `count` (at most 16) finished sums to row `row`, column `col` of the result.
MUSABENCH_INLINE void store_result(const GemmParams& p, int64_t row, int64_t col, const float* sums, int64_t count) {
  const int64_t at = row * p.out_stride + col;
  float biased[16];
  if (p.bias != nullptr) {
    p.dtype == Dtype::kBFloat16 ? add_bias<Bf16>(p.bias, col, sums, count, biased)
                                : add_bias<Fp16>(p.bias, col, sums, count, biased);
    sums = biased;
  }
  if (p.out_dtype == Dtype::kBFloat16) {
    Bf16* out = static_cast<Bf16*>(p.out) + at;
    if (count == 16) {
      store8(out, load8(sums));
      store8(out + 8, load8(sums + 8));
    } else {
      for (int64_t i = 0; i < count; ++i) out[i] = from_float<Bf16>(sums[i]);
    }
  } else if (p.out_dtype == Dtype::kFloat16) {
    Fp16* out = static_cast<Fp16*>(p.out) + at;
    if (count == 16) {
      store8(out, load8(sums));
      store8(out + 8, load8(sums + 8));
    } else {
      for (int64_t i = 0; i < count; ++i) out[i] = from_float<Fp16>(sums[i]);
    }
  } else {
    float* out = static_cast<float*>(p.out) + at;
    for (int64_t i = 0; i < count; ++i) out[i] = sums[i];
  }
}

// ---- few rows -------------------------------------------------------------------------------------------

constexpr int64_t kDotRows = 4;

// MR rows of a as fp32: to[k / 8][MR][8], in load16's order, zeros from k up to the next multiple of 16.
template <class T>
void pack_dot_rows(const T* a, int64_t stride, int64_t rows, int64_t k, float* to) {
  for (int64_t m = 0; m < rows; ++m) {
    const T* row = a + m * stride;
    for (int64_t i = 0; i < k; i += 16) {
      T tail[16] = {};
      const T* from = row + i;
      if (k - i < 16) {
        memcpy(tail, from, static_cast<size_t>(k - i) * sizeof(T));
        from = tail;
      }
      store8(to + i * rows + m * 8, load16_first(from));
      store8(to + (i + 8) * rows + m * 8, load16_second(from));
    }
  }
}

// sums += products of eight numbers of each row. The smaller side waits in registers, the other comes one at a time:
// MR * NR + min(MR, NR) + 1 registers, of which there are sixteen.
template <int MR, int NR, class LoadB>
MUSABENCH_INLINE void add_products(const float* a, LoadB load_b, F8 (&sums)[MR][NR]) {
  if (MR < NR) {
    F8 x[MR];
#pragma GCC unroll 8
    for (int m = 0; m < MR; ++m) x[m] = load8(a + m * 8);
#pragma GCC unroll 8
    for (int n = 0; n < NR; ++n) {
      const F8 y = load_b(n);
#pragma GCC unroll 8
      for (int m = 0; m < MR; ++m) sums[m][n] = fma8(x[m], y, sums[m][n]);
    }
  } else {
    F8 y[NR];
#pragma GCC unroll 8
    for (int n = 0; n < NR; ++n) y[n] = load_b(n);
#pragma GCC unroll 8
    for (int m = 0; m < MR; ++m) {
      const F8 x = load8(a + m * 8);
#pragma GCC unroll 8
      for (int n = 0; n < NR; ++n) sums[m][n] = fma8(x, y[n], sums[m][n]);
    }
  }
}

template <int MR, int NR, class T>
MUSABENCH_INLINE void dot_step(const float* a, const T* const* b, int64_t i, F8 (&sums)[MR][NR]) {
  add_products<MR, NR>(
      a, [&](int n) { return load16_first(b[n] + i); }, sums);
  // The second half is loaded anew. Kept from the first it would push sums out of the registers, so the compiler
  // must not see that it is the same memory.
  asm("" : "+r"(i));
  add_products<MR, NR>(
      a + MR * 8, [&](int n) { return load16_second(b[n] + i); }, sums);
}

// MR rows of a (packed) times NR rows of b: out[m * NR + n]. Meanwhile asks the cache for the rows `ahead` elements
// further on, ahead_step elements for every 32 that are used.
template <int MR, int NR, class T>
void dot_tile(const float* a, const T* b, int64_t b_stride, int64_t k, int64_t ahead, int64_t ahead_step, float* out) {
  F8 sums[MR][NR];
  const T* rows[NR];
  // Unrolled to the last: an array that is indexed by a variable lives in memory, here and in the loop below.
#pragma GCC unroll 8
  for (int n = 0; n < NR; ++n) rows[n] = b + n * b_stride;
#pragma GCC unroll 8
  for (int m = 0; m < MR; ++m) {
#pragma GCC unroll 8
    for (int n = 0; n < NR; ++n) sums[m][n] = zero8();
  }
  int64_t i = 0;
  for (; i + 32 <= k; i += 32) {
#pragma GCC unroll 8
    for (int n = 0; n < NR; ++n) __builtin_prefetch(rows[n] + ahead, 0, 2);
    ahead += ahead_step;
    dot_step<MR, NR>(a + i * MR, rows, i, sums);
    dot_step<MR, NR>(a + (i + 16) * MR, rows, i + 16, sums);
  }
  for (; i < k; i += 16) {
    T tails[NR][16] = {};
    const T* ends[NR];
    const int64_t left = smaller(k - i, 16);
#pragma GCC unroll 8
    for (int n = 0; n < NR; ++n) {
      memcpy(tails[n], rows[n] + i, static_cast<size_t>(left) * sizeof(T));
      ends[n] = tails[n];
    }
    dot_step<MR, NR>(a + i * MR, ends, 0, sums);
  }
#pragma GCC unroll 8
  for (int m = 0; m < MR; ++m) {
#pragma GCC unroll 8
    for (int n = 0; n < NR; ++n) out[m * NR + n] = sum_of(sums[m][n]);
  }
}

template <class T>
using DotTile = void (*)(const float*, const T*, int64_t, int64_t, int64_t, int64_t, float*);

// MR * NR + NR + 1 registers of sums, b and a: at most 16.
template <class T>
DotTile<T> dot_tile_for(int64_t rows, int64_t cols) {
  switch (rows * 16 + cols) {
    case 1 * 16 + 8:
      return dot_tile<1, 8, T>;
    case 2 * 16 + 6:
      return dot_tile<2, 6, T>;
    case 2 * 16 + 4:
      return dot_tile<2, 4, T>;
    case 3 * 16 + 4:
      return dot_tile<3, 4, T>;
    case 3 * 16 + 3:
      return dot_tile<3, 3, T>;
    case 4 * 16 + 3:
      return dot_tile<4, 3, T>;
    case 1 * 16 + 1:
      return dot_tile<1, 1, T>;
    case 2 * 16 + 1:
      return dot_tile<2, 1, T>;
    case 3 * 16 + 1:
      return dot_tile<3, 1, T>;
    default:
      return dot_tile<4, 1, T>;
  }
}

// k of one pass, at least 1: all rows of a, as fp32, should stay in the second-level cache.
MUSABENCH_INLINE int64_t dot_depth(int64_t m, int64_t k) {
  constexpr int64_t kCacheFloats = 256 * 1024 / sizeof(float);
  const int64_t passes = (m * k + kCacheFloats - 1) / kCacheFloats;
  if (passes <= 1) return k > 0 ? k : 1;
  return round_up((k + passes - 1) / passes, 32);
}

template <class T>
void dot_block(const GemmPlan& plan, uint32_t block) {
  const GemmParams& p = plan.params;
  const int64_t begin = block * plan.block_cols;
  const int64_t end = smaller(begin + plan.block_cols, p.n);
  // Rows of a in groups of at most four, as equal as can be.
  const int64_t groups = (p.m + kDotRows - 1) / kDotRows;
  const int64_t base = p.m / groups;
  const int64_t larger = p.m % groups;
  static constexpr int64_t kCols[kDotRows + 1] = {0, 8, 6, 4, 3};
  int64_t cols = kCols[base + (larger > 0)];
  if (end - begin < cols) cols = 1;

  const int64_t depth = dot_depth(p.m, p.k);
  const int64_t tiles = (end - begin + cols - 1) / cols;
  const int64_t a_size = round_up(p.m * round_up(depth, 16), 16);
  const int64_t partial_size = depth < p.k ? tiles * p.m * cols : 0;
  float* a = static_cast<float*>(musaHostLaneScratch(static_cast<size_t>(a_size + partial_size + 16) * sizeof(float)));
  if (a == nullptr) return musaHostKernelFail(musaErrorMemoryAllocation);
  // Sums of the passes before, a piece for each tile.
  float* partial = a + a_size;

  // k = 0 goes round once: the result is zeros.
  for (int64_t first = 0; first == 0 || first < p.k; first += depth) {
    const int64_t k = smaller(depth, p.k - first);
    const int64_t padded_k = round_up(k, 16);
    const bool last = first + k == p.k;
    const T* from_a = static_cast<const T*>(p.a) + first;
    const T* b = static_cast<const T*>(p.b) + first;
    for (int64_t g = 0, row = 0; g < groups; ++g) {
      const int64_t rows = base + (g < larger);
      pack_dot_rows(from_a + row * p.a_stride, p.a_stride, rows, k, a + row * padded_k);
      row += rows;
    }
    float* tile_partial = partial;
    for (int64_t tile = 0; tile < tiles; ++tile, tile_partial += p.m * cols) {
      // The last tile may repeat columns of the one before it.
      const int64_t col = smaller(begin + tile * cols, end - cols);
      const int64_t next = smaller(col + cols, end - cols);
      for (int64_t g = 0, row = 0; g < groups; ++g) {
        const int64_t rows = base + (g < larger);
        float sums[kDotRows * 8];
        // The groups together fetch the next tile while they use this one.
        const int64_t ahead = (next - col) * p.b_stride + g * k / groups;
        dot_tile_for<T>(rows, cols)(a + row * padded_k, b + col * p.b_stride, p.b_stride, k, ahead, 32 / groups, sums);
        float* before = tile_partial + row * cols;
        for (int64_t i = 0; first > 0 && i < rows * cols; ++i) sums[i] += before[i];
        if (last) {
          for (int64_t m = 0; m < rows; ++m) store_result(p, row + m, col, sums + m * cols, cols);
        } else {
          for (int64_t i = 0; i < rows * cols; ++i) before[i] = sums[i];
        }
        row += rows;
      }
    }
  }
}

// ---- many rows ------------------------------------------------------------------------------------------

constexpr int64_t kTileRows = 6;
constexpr int64_t kTileCols = 16;
constexpr int64_t kDepth = 256;      // k of a panel: 16 columns are 16 KiB, half of a first-level cache
constexpr int64_t kChunkRows = 252;  // rows of a in the second-level cache: 252 * 256 * 4 bytes

// Tiles of six rows; a remainder is shared by the last two tiles so that none is thin.
MUSABENCH_INLINE int64_t tile_rows(int64_t left) {
  if (left >= 2 * kTileRows || left == kTileRows) return kTileRows;
  return left > kTileRows ? (left + 1) / 2 : left;
}

// rows of a as fp32: to[depth / 8][rows][8], zeros up to the next multiple of 8.
template <class T>
void pack_a(const T* a, int64_t stride, int64_t rows, int64_t depth, float* to) {
  for (int64_t m = 0; m < rows; ++m) {
    const T* row = a + m * stride;
    int64_t i = 0;
    for (; i + 8 <= depth; i += 8) store8(to + i * rows + m * 8, load8(row + i));
    if (i < depth) store8(to + i * rows + m * 8, load_first(row + i, depth - i));
  }
}

// cols (at most 16) rows of b, transposed, as fp32: to[depth][16], zeros up to 16 columns and a multiple of 8.
template <class T>
void pack_b(const T* b, int64_t stride, int64_t cols, int64_t depth, float* to) {
  for (int64_t half = 0; half < 2; ++half) {
    const int64_t first = half * 8;
    for (int64_t i = 0; i < depth; i += 8) {
      F8 rows[8];
      if (first + 8 <= cols && i + 8 <= depth) {
#pragma GCC unroll 8
        for (int n = 0; n < 8; ++n) rows[n] = load8(b + (first + n) * stride + i);
      } else {
        for (int n = 0; n < 8; ++n) {
          rows[n] = first + n < cols ? load_first(b + (first + n) * stride + i, smaller(depth - i, 8)) : zero8();
        }
      }
      store_transposed(rows, to + i * kTileCols + first, kTileCols);
    }
  }
}

// sums[MR][16] (+)= a panel * b panel; depth is a multiple of 8.
template <int MR>
void micro_kernel(int64_t depth, const float* a, const float* b, float* sums, bool add) {
  F8 c[MR][2];
#pragma GCC unroll 6
  for (int m = 0; m < MR; ++m) c[m][0] = c[m][1] = zero8();
  __builtin_prefetch(sums);
  for (int64_t i = 0; i < depth; i += 8) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      const F8 b0 = load8(b + j * kTileCols);
      const F8 b1 = load8(b + j * kTileCols + 8);
#pragma GCC unroll 6
      for (int m = 0; m < MR; ++m) {
        const F8 x = splat(a[m * 8 + j]);
        c[m][0] = fma8(x, b0, c[m][0]);
        c[m][1] = fma8(x, b1, c[m][1]);
      }
    }
    a += MR * 8;
    b += kTileCols * 8;
  }
#pragma GCC unroll 6
  for (int m = 0; m < MR; ++m) {
    float* row = sums + m * kTileCols;
    store8(row, add ? load8(row) + c[m][0] : c[m][0]);
    store8(row + 8, add ? load8(row + 8) + c[m][1] : c[m][1]);
  }
}

MUSABENCH_INLINE void run_micro_kernel(int64_t rows, int64_t depth, const float* a, const float* b, float* sums,
                                       bool add) {
  switch (rows) {
    case 1:
      return micro_kernel<1>(depth, a, b, sums, add);
    case 2:
      return micro_kernel<2>(depth, a, b, sums, add);
    case 3:
      return micro_kernel<3>(depth, a, b, sums, add);
    case 4:
      return micro_kernel<4>(depth, a, b, sums, add);
    case 5:
      return micro_kernel<5>(depth, a, b, sums, add);
    default:
      return micro_kernel<6>(depth, a, b, sums, add);
  }
}

template <class T>
void packed_block(const GemmPlan& plan, uint32_t block) {
  const GemmParams& p = plan.params;
  const int64_t row_begin = block % plan.row_blocks * plan.block_rows;
  const int64_t rows = smaller(plan.block_rows, p.m - row_begin);
  const int64_t col_begin = block / plan.row_blocks * plan.block_cols;
  const int64_t cols = smaller(plan.block_cols, p.n - col_begin);
  const int64_t padded_cols = round_up(cols, kTileCols);

  const int64_t chunk = smaller(rows, kChunkRows);
  const int64_t a_size = round_up(chunk * kDepth, 16);
  const int64_t b_size = padded_cols * kDepth;
  const int64_t sums_size = rows * padded_cols;
  float* a = static_cast<float*>(musaHostLaneScratch(static_cast<size_t>(a_size + b_size + sums_size) * sizeof(float)));
  if (a == nullptr) return musaHostKernelFail(musaErrorMemoryAllocation);
  float* b = a + a_size;
  float* sums = b + b_size;

  const T* from_a = static_cast<const T*>(p.a) + row_begin * p.a_stride;
  const T* from_b = static_cast<const T*>(p.b) + col_begin * p.b_stride;
  // k = 0 goes round once, with nothing to add up: the result is zeros.
  for (int64_t k = 0; k == 0 || k < p.k; k += kDepth) {
    const int64_t depth = smaller(kDepth, p.k - k);
    const int64_t padded_depth = round_up(depth, 8);
    const bool last = k + kDepth >= p.k;
    for (int64_t col = 0; col < cols; col += kTileCols) {
      pack_b(from_b + col * p.b_stride + k, p.b_stride, smaller(cols - col, kTileCols), depth, b + col * padded_depth);
    }
    for (int64_t first = 0; first < rows; first += chunk) {
      const int64_t chunk_rows = smaller(chunk, rows - first);
      for (int64_t row = 0, height; row < chunk_rows; row += height) {
        height = tile_rows(chunk_rows - row);
        pack_a(from_a + (first + row) * p.a_stride + k, p.a_stride, height, depth, a + row * padded_depth);
      }
      for (int64_t col = 0; col < cols; col += kTileCols) {
        for (int64_t row = 0, height; row < chunk_rows; row += height) {
          height = tile_rows(chunk_rows - row);
          float* tile = sums + (first + row) * padded_cols + col * height;
          run_micro_kernel(height, padded_depth, a + row * padded_depth, b + col * padded_depth, tile, k > 0);
          if (!last) continue;
          for (int64_t m = 0; m < height; ++m) {
            store_result(p, row_begin + first + row + m, col_begin + col, tile + m * kTileCols,
                         smaller(cols - col, kTileCols));
          }
        }
      }
    }
  }
}

}  // namespace

void gemm_block(const void* params, uint32_t block, uint32_t) {
  const GemmPlan& plan = *static_cast<const GemmPlan*>(params);
  const bool bf16 = plan.params.dtype == Dtype::kBFloat16;
  if (plan.packed) {
    bf16 ? packed_block<Bf16>(plan, block) : packed_block<Fp16>(plan, block);
  } else {
    bf16 ? dot_block<Bf16>(plan, block) : dot_block<Fp16>(plan, block);
  }
}

}  // namespace MUSABENCH_ISA_NAMESPACE
}  // namespace musabench
