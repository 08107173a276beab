#include <algorithm>

#include "../gemm.h"
#include "gpu.h"

namespace musabench {
namespace {

using namespace gpu;

// A plain product, so that a step runs where there is no BLAS library. Not tuned to a device: with tensor cores, tiles
// through shared memory and copies two steps ahead, but one shape of tile, no split of k, no clusters. For the sake
// of decode, few rows take a form of their own, whose time is that of reading b.

template <class T>
MUSABENCH_DEVICE void write_result(const GemmParams& p, int64_t row, int64_t column, float sum) {
  if (p.bias != nullptr) sum += to_float(static_cast<const T*>(p.bias)[column]);
  const int64_t at = row * p.out_stride + column;
  if (p.out_dtype == Dtype::kFloat32) {
    static_cast<float*>(p.out)[at] = sum;
  } else {
    static_cast<T*>(p.out)[at] = from_float<T>(sum);
  }
}

// ---- few rows

constexpr int kThreads = 256;
constexpr int kMaxDotRows = 8;
// Lanes that share a pair of b's rows.
constexpr int kGroup = 32;
constexpr int kGroups = kThreads / kGroup;
constexpr int kPair = 2;
static_assert(kWarp % kGroup == 0, "a group lies within a warp");

// Rows: m, or more. a, b and their strides by 16 bytes.
template <class T, int Rows>
__global__ void __launch_bounds__(kThreads) dot_kernel(GemmParams p) {
  const int lane = static_cast<int>(threadIdx.x) % kGroup;
  const int64_t first = (int64_t{blockIdx.x} * kGroups + threadIdx.x / kGroup) * kPair;
  // Rows past the end read the last one and are not written.
  const T* b[kPair];
#pragma unroll
  for (int c = 0; c < kPair; ++c) b[c] = static_cast<const T*>(p.b) + least(first + c, p.n - 1) * p.b_stride;
  const T* a[Rows];
#pragma unroll
  for (int r = 0; r < Rows; ++r) a[r] = static_cast<const T*>(p.a) + least(int64_t{r}, p.m - 1) * p.a_stride;

  float sums[Rows][kPair] = {};
#pragma unroll 2
  for (int64_t k = lane * 8; k < p.k; k += kGroup * 8) {
    Vec<T, 8> right[kPair];
#pragma unroll
    for (int c = 0; c < kPair; ++c) right[c] = load<8>(b[c] + k);
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      const Vec<T, 8> left = load<8>(a[r] + k);
#pragma unroll
      for (int e = 0; e < 8; ++e) {
#pragma unroll
        for (int c = 0; c < kPair; ++c) sums[r][c] = fmaf(to_float(left.at[e]), to_float(right[c].at[e]), sums[r][c]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
#pragma unroll
    for (int c = 0; c < kPair; ++c) {
      const float sum = warp_sum<kGroup>(sums[r][c]);
      if (lane == 0 && r < p.m && first + c < p.n) write_result<T>(p, r, first + c, sum);
    }
  }
}

template <class T, int Rows>
int launch_dot(const GemmParams& p, Output output, void* stream) {
  const int64_t blocks = ceil_div(p.n, kGroups * kPair);
  if (blocks > kMaxGridX) return kInvalidConfiguration;
  return launch<dot_kernel<T, Rows>>("gemm", {static_cast<uint32_t>(blocks)}, kThreads, p, output, stream);
}

// ---- tiles

constexpr int kTileK = 32;
// Steps whose tiles are in shared memory: the one that is computed with, and those on their way. More than one of these
// pays only where the device makes copies by itself.
constexpr int kStages = kHasMma ? 3 : 2;
// A large tile of out. Without tensor cores there may be no more shared memory than the least.
constexpr int kLargeM = 128;
constexpr int kLargeN = kHasMma ? 128 : 64;
constexpr int kChunk = 8;  // elements of 16 bytes
constexpr int kChunks = kTileK / kChunk;

// Where a chunk of a tile's row is: shifted around by row, so that neither eight rows of one column nor the chunks of a
// row meet in a bank.
MUSABENCH_DEVICE int chunk_at(int row, int chunk) { return row * kTileK + (chunk ^ (row / 2 % kChunks)) * kChunk; }

// `rows` x kTileK of a matrix with `row_count` rows of p.k elements, from its row `first` and column k on; zeros
// outside.
template <class T, int Rows, bool Aligned>
MUSABENCH_DEVICE void load_tile(T* tile, const T* matrix, int64_t stride, int64_t first, int64_t row_count, int64_t k,
                                int64_t k_count) {
  for (int i = static_cast<int>(threadIdx.x); i < Rows * kChunks; i += kThreads) {
    const int row = i / kChunks;
    const int chunk = i % kChunks;
    const int64_t column = k + chunk * kChunk;
    T* to = tile + chunk_at(row, chunk);
    const bool row_is = first + row < row_count;
    const T* from = matrix + (row_is ? first + row : 0) * stride;
    if constexpr (Aligned) {
      // k is a multiple of kChunk, so a chunk is inside or outside as a whole.
      const bool wanted = row_is && column < k_count;
      copy_async_16(to, wanted ? from + column : matrix, wanted);
    } else {
      for (int e = 0; e < kChunk; ++e) {
        to[e] = row_is && column + e < k_count ? from[column + e] : from_float<T>(0);
      }
    }
  }
}

// Tile of out: TileM x TileN. With tensor cores, warps in two rows of four, each with its part of the tile; without,
// threads in 16 rows of 16, each with every sixteenth row and column.
template <class T, int TileM, int TileN>
struct Product {
  static constexpr int kWarpRows = 2;
  static constexpr int kWarpColumns = 4;
  static constexpr int kWarpM = TileM / kWarpRows;
  static constexpr int kWarpN = TileN / kWarpColumns;
  static constexpr int kFragmentsM = kWarpM / 16;
  static constexpr int kFragmentsN = kWarpN / 8;
  static_assert(kFragmentsN % 2 == 0, "b is loaded 16 rows at a time");
  static constexpr int kThreadM = TileM / 16;
  static constexpr int kThreadN = TileN / 16;

  float sums[kHasMma ? kFragmentsM : kThreadM][kHasMma ? kFragmentsN * 4 : kThreadN] = {};

  MUSABENCH_DEVICE void add(const T* a, const T* b) {
    if constexpr (kHasMma) {
      add_mma(a, b);
    } else {
      add_fma(a, b);
    }
  }

  MUSABENCH_DEVICE void add_mma(const T* a, const T* b) {
    const int lane = gpu::lane();
    const int row = warp() / kWarpColumns * kWarpM;
    const int column = warp() % kWarpColumns * kWarpN;
#pragma unroll
    for (int half = 0; half < kTileK / 16; ++half) {
      uint32_t left[kFragmentsM][4];
#pragma unroll
      for (int i = 0; i < kFragmentsM; ++i) {
        load_matrix_x4(left[i], a + chunk_at(row + i * 16 + lane % 16, half * 2 + lane / 16));
      }
      uint32_t right[kFragmentsN][2];
#pragma unroll
      for (int j = 0; j < kFragmentsN; j += 2) {
        uint32_t four[4];
        load_matrix_x4(four, b + chunk_at(column + j * 8 + lane / 16 * 8 + lane % 8, half * 2 + lane / 8 % 2));
        right[j][0] = four[0];
        right[j][1] = four[1];
        right[j + 1][0] = four[2];
        right[j + 1][1] = four[3];
      }
#pragma unroll
      for (int i = 0; i < kFragmentsM; ++i) {
#pragma unroll
        for (int j = 0; j < kFragmentsN; ++j) {
          float d[4] = {sums[i][j * 4], sums[i][j * 4 + 1], sums[i][j * 4 + 2], sums[i][j * 4 + 3]};
          mma_16x8x16<T>(d, left[i], right[j]);
#pragma unroll
          for (int e = 0; e < 4; ++e) sums[i][j * 4 + e] = d[e];
        }
      }
    }
  }

  MUSABENCH_DEVICE void add_fma(const T* a, const T* b) {
    const int row = static_cast<int>(threadIdx.x) / 16;
    const int column = static_cast<int>(threadIdx.x) % 16;
    for (int k = 0; k < kTileK; k += 2) {
      Vec<T, 2> left[kThreadM];
      Vec<T, 2> right[kThreadN];
#pragma unroll
      for (int i = 0; i < kThreadM; ++i) left[i] = load<2>(a + chunk_at(row + i * 16, k / kChunk) + k % kChunk);
#pragma unroll
      for (int j = 0; j < kThreadN; ++j) right[j] = load<2>(b + chunk_at(column + j * 16, k / kChunk) + k % kChunk);
#pragma unroll
      for (int i = 0; i < kThreadM; ++i) {
#pragma unroll
        for (int j = 0; j < kThreadN; ++j) {
          sums[i][j] = fmaf(to_float(left[i].at[0]), to_float(right[j].at[0]), sums[i][j]);
          sums[i][j] = fmaf(to_float(left[i].at[1]), to_float(right[j].at[1]), sums[i][j]);
        }
      }
    }
  }

  // f(row of the tile, column of the tile, sum) for each of this thread's sums.
  template <class F>
  MUSABENCH_DEVICE void each(F f) const {
    if constexpr (kHasMma) {
      const int lane = gpu::lane();
      const int row = warp() / kWarpColumns * kWarpM + lane / 4;
      const int column = warp() % kWarpColumns * kWarpN + lane % 4 * 2;
#pragma unroll
      for (int i = 0; i < kFragmentsM; ++i) {
#pragma unroll
        for (int j = 0; j < kFragmentsN * 4; ++j) {
          f(row + i * 16 + j % 4 / 2 * 8, column + j / 4 * 8 + j % 2, sums[i][j]);
        }
      }
    } else {
      const int row = static_cast<int>(threadIdx.x) / 16;
      const int column = static_cast<int>(threadIdx.x) % 16;
#pragma unroll
      for (int i = 0; i < kThreadM; ++i) {
#pragma unroll
        for (int j = 0; j < kThreadN; ++j) f(row + i * 16, column + j * 16, sums[i][j]);
      }
    }
  }
};

template <class T, int TileM, int TileN>
constexpr size_t tile_bytes() {
  constexpr size_t kBytes = sizeof(T) * kStages * (TileM + TileN) * kTileK;
  static_assert(kHasMma || kBytes <= kLeastSharedBytes, "fits on every device");
  return kBytes;
}

template <class T, int TileM, int TileN, bool Aligned>
__global__ void __launch_bounds__(kThreads) tile_kernel(GemmParams p) {
  T* shared = reinterpret_cast<T*>(dynamic_shared());
  // Neighbouring blocks share a part of b: a is the smaller one.
  const int64_t tiles_m = (p.m + TileM - 1) / TileM;
  const int64_t row = blockIdx.x % tiles_m * TileM;
  const int64_t column = blockIdx.x / tiles_m * TileN;
  const int64_t steps = (p.k + kTileK - 1) / kTileK;
  const auto a_tile = [&](int64_t step) { return shared + step % kStages * (TileM + TileN) * kTileK; };
  const auto fetch = [&](int64_t step) {
    if (step < steps) {
      T* a = a_tile(step);
      load_tile<T, TileM, Aligned>(a, static_cast<const T*>(p.a), p.a_stride, row, p.m, step * kTileK, p.k);
      load_tile<T, TileN, Aligned>(a + TileM * kTileK, static_cast<const T*>(p.b), p.b_stride, column, p.n,
                                   step * kTileK, p.k);
    }
    copy_async_commit();
  };

  Product<T, TileM, TileN> product;
  for (int64_t step = 0; step < kStages - 1; ++step) fetch(step);
  for (int64_t step = 0; step < steps; ++step) {
    copy_async_wait<kStages - 2>();
    // The tiles of this step are complete, and those of the last, which the next copies go to, read.
    __syncthreads();
    fetch(step + kStages - 1);
    const T* a = a_tile(step);
    product.add(a, a + TileM * kTileK);
  }
  product.each([&](int r, int c, float sum) {
    if (row + r < p.m && column + c < p.n) write_result<T>(p, row + r, column + c, sum);
  });
}

template <class T, int TileM, int TileN, bool Aligned>
int launch_tiles(const GemmParams& p, Output output, void* stream) {
  const int64_t blocks = ceil_div(p.m, TileM) * ceil_div(p.n, TileN);
  if (blocks > kMaxGridX) return kInvalidConfiguration;
  return launch<tile_kernel<T, TileM, TileN, Aligned>>("gemm", {static_cast<uint32_t>(blocks)}, kThreads, p, output,
                                                       stream, tile_bytes<T, TileM, TileN>());
}

template <class T>
int launch_typed(const GemmParams& p, Output output, void* stream) {
  const bool aligned =
      p.k % kChunk == 0 && vectorizable(p.a, p.a_stride, 2, kChunk) && vectorizable(p.b, p.b_stride, 2, kChunk);
  if (!aligned) return launch_tiles<T, 64, 64, false>(p, output, stream);
  if (p.m <= kMaxDotRows) {
    if (p.m == 1) return launch_dot<T, 1>(p, output, stream);
    if (p.m == 2) return launch_dot<T, 2>(p, output, stream);
    if (p.m <= 4) return launch_dot<T, 4>(p, output, stream);
    return launch_dot<T, 8>(p, output, stream);
  }
  // Large tiles read less, but there have to be enough of them.
  const bool large = p.m > 64 && ceil_div(p.m, kLargeM) * ceil_div(p.n, kLargeN) >= multiprocessors();
  return large ? launch_tiles<T, kLargeM, kLargeN, true>(p, output, stream)
               : launch_tiles<T, 64, 64, true>(p, output, stream);
}

}  // namespace

int launch_gemm(const GemmParams& p, void* stream) {
  if (p.m == 0 || p.n == 0) return kSuccess;
  const Output output = {p.out, ((p.m - 1) * p.out_stride + p.n) * dtype_bytes(p.out_dtype)};
  return with_half_type(p.dtype, [&](auto type) { return launch_typed<decltype(type)>(p, output, stream); });
}

}  // namespace musabench
