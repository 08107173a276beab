// Attention on tensor cores: 32 lanes a warp, four warps a block. Keys and values travel by asynchronous copies; rows
// in shared memory are 16 bytes longer than their data, an odd number of 16-byte units, so that eight rows at the same
// column (what one matrix load reads) lie in different banks.
//
// Accumulators, one lane: rows g and g + 8 of a 16-row tile (g = lane / 4), columns 2t and 2t + 1 of each 8 columns
// (t = lane % 4). Scores so laid out are, packed in pairs, the left operand of the second product.
#pragma once

#include <type_traits>

#include "attention_device.h"

namespace musabench {
namespace attention {

constexpr int kWarps = kThreads / 32;
constexpr int kRowPadding = 8;

// Eight neighbours to shared memory, or zeros. kVector: asynchronously, both addresses are multiples of 16 bytes.
template <bool kVector, class T>
MUSABENCH_DEVICE void copy8(T* to, const T* from, bool wanted) {
  if constexpr (kVector) {
    gpu::copy_async_16(to, from, wanted);
  } else {
    gpu::Vec<uint32_t, 4> values = {{0, 0, 0, 0}};
    if (wanted) values = load8(from, false);
    gpu::store<4>(reinterpret_cast<uint32_t*>(to), values);
  }
}

// The tile's queries to kRows rows of shared memory; what is no row of the tile is zeros.
template <bool kVector, int kRows, int kDim, class T>
MUSABENCH_DEVICE void copy_queries(const AttentionArgs<T>& a, const Tile& t, T* to, int stride) {
#pragma unroll 2
  for (int x = static_cast<int>(threadIdx.x); x < kRows * kDim / 8; x += kThreads) {
    const int row = x / (kDim / 8);
    const int at = x % (kDim / 8) * 8;
    const bool wanted = row < t.rows;
    copy8<kVector>(to + row * stride + at, query_row(a, t, wanted ? row : 0) + at, wanted);
  }
}
template <int kRows, int kDim, class T>
MUSABENCH_DEVICE void load_queries(const AttentionArgs<T>& a, const Tile& t, T* to, int stride) {
  if (a.vector_q) {
    copy_queries<true, kRows, kDim>(a, t, to, stride);
  } else {
    copy_queries<false, kRows, kDim>(a, t, to, stride);
  }
}

// How kThreadsOf threads, consecutive in a block, share rows of kChunks times eight elements: neighbours have
// neighbouring eights, and each thread has one a turn.
template <int kThreadsOf, int kChunks>
struct Chunks {
  static constexpr bool kSameColumn = kThreadsOf % kChunks == 0;
  MUSABENCH_DEVICE static int row(int turn) {
    const uint32_t thread = threadIdx.x % kThreadsOf;
    if (kSameColumn) return static_cast<int>(thread / kChunks) + turn * (kThreadsOf / kChunks);
    return static_cast<int>((thread + turn * kThreadsOf) / kChunks);
  }
  MUSABENCH_DEVICE static int column(int turn) {
    const uint32_t thread = threadIdx.x % kThreadsOf;
    return static_cast<int>((kSameColumn ? thread : thread + turn * kThreadsOf) % kChunks) * 8;
  }
};

// The left operand: rows 0 to 15 of `tile` at 16 columns.
template <class T>
MUSABENCH_DEVICE void load_left(uint32_t (&to)[4], const T* tile, int stride) {
  const int lane = gpu::lane();
  gpu::load_matrix_x4(to, tile + lane % 16 * stride + lane / 16 * 8);
}
// The right operand of q * k: 16 keys (rows of `tile`) at 16 dims; {to[0], to[1]} the first eight keys.
template <class T>
MUSABENCH_DEVICE void load_keys(uint32_t (&to)[4], const T* tile, int stride) {
  const int lane = gpu::lane();
  gpu::load_matrix_x4(to, tile + (lane / 16 * 8 + lane % 8) * stride + lane / 8 % 2 * 8);
}
// The right operand of p * v: 16 keys (rows of `tile`) at 16 dims; {to[0], to[1]} the first eight dims.
template <class T>
MUSABENCH_DEVICE void load_values(uint32_t (&to)[4], const T* tile, int stride) {
  const int lane = gpu::lane();
  gpu::load_matrix_x4_transposed(to, tile + lane % 16 * stride + lane / 16 * 8);
}
template <class T>
MUSABENCH_DEVICE void multiply_pair(float (&first)[4], float (&second)[4], const uint32_t (&left)[4],
                                    const uint32_t (&right)[4]) {
  const uint32_t b0[2] = {right[0], right[1]};
  const uint32_t b1[2] = {right[2], right[3]};
  gpu::mma_16x8x16<T>(first, left, b0);
  gpu::mma_16x8x16<T>(second, left, b1);
}

// Dot products of 16 rows with kGroups * 8 keys from key `first` on become weights, the running maximum (times a.factor
// in units of log 2) and this lane's part of the sum go on, and what was accumulated is scaled to the new maximum.
// `row` is that of the tile.
template <class T, int kGroups, int kColumns>
MUSABENCH_DEVICE void softmax_step(const AttentionArgs<T>& a, const Tile& t, int row, int first, float (&s)[kGroups][4],
                                   float (&row_max)[2], float (&row_sum)[2], float (&acc)[kColumns][4]) {
  const int lane = gpu::lane();
  if (a.softcap > 0) {
#pragma unroll
    for (int j = 0; j < kGroups; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) s[j][i] = capped(s[j][i] * a.scale, a.softcap, a.inverse_softcap);
    }
  } else if (a.scale <= 0) {
    // Otherwise the greatest product is the greatest score, and exp2 takes the scale along.
#pragma unroll
    for (int j = 0; j < kGroups; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) s[j][i] *= a.scale;
    }
  }
  if (first < t.all_see.low || first + kGroups * 8 > t.all_see.high || first + kGroups * 8 > t.key_end) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      KeyRange range = visible_keys(a, t.sequence, a.group.quotient(t.first_row + row + lane / 4 + half * 8));
      if (range.high > t.key_end) range.high = t.key_end;
#pragma unroll
      for (int j = 0; j < kGroups; ++j) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int key = first + j * 8 + lane % 4 * 2 + i;
          if (key < range.low || key >= range.high) s[j][half * 2 + i] = negative_infinity();
        }
      }
    }
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float top = row_max[half];
#pragma unroll
    for (int j = 0; j < kGroups; ++j) top = fmaxf(top, fmaxf(s[j][half * 2], s[j][half * 2 + 1]));
    top = fmaxf(top, gpu::shuffle_xor(top, 1));
    top = fmaxf(top, gpu::shuffle_xor(top, 2));
    const float base = softmax_base(top) * a.factor;
    const float factor = gpu::fast_exp2(row_max[half] * a.factor - base);
    row_max[half] = top;
    float sum = 0;
#pragma unroll
    for (int j = 0; j < kGroups; ++j) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        float& weight = s[j][half * 2 + i];
        weight = gpu::fast_exp2(weight * a.factor - base);
        sum += weight;
      }
    }
    row_sum[half] = row_sum[half] * factor + sum;
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      acc[j][half * 2] *= factor;
      acc[j][half * 2 + 1] *= factor;
    }
  }
}

// Adds weights * values for 16 keys: s is two groups of eight keys, `values` their 16 rows.
template <class T, int kColumns>
MUSABENCH_DEVICE void add_values(const float (&s0)[4], const float (&s1)[4], const T* values, int stride,
                                 float (&acc)[kColumns][4]) {
  const uint32_t weights[4] = {gpu::pack<T>(s0[0], s0[1]), gpu::pack<T>(s0[2], s0[3]), gpu::pack<T>(s1[0], s1[1]),
                               gpu::pack<T>(s1[2], s1[3])};
#pragma unroll
  for (int j = 0; j < kColumns; j += 2) {
    uint32_t b[4];
    load_values(b, values + j * 8, stride);
    multiply_pair<T>(acc[j], acc[j + 1], weights, b);
  }
}

// ---- many rows: the block walks the keys, its warps divide the rows among them

template <class T, int kDimQk, int kDimV>
struct MmaPrefill {
  // 32 rows a warp halve the traffic of shared memory to the tensor cores; their accumulators have to fit in registers.
  static constexpr int kRowTiles = kDimV <= 128 ? 2 : 1;
  static constexpr int kRows = kWarps * 16 * kRowTiles;
  static constexpr int kKeys = 64;
  static constexpr int kQkStride = kDimQk + kRowPadding;
  static constexpr int kVStride = kDimV + kRowPadding;

  struct Shared {
    alignas(16) T q[kRows * kQkStride];
    alignas(16) T k[kKeys * kQkStride];
    alignas(16) T v[kKeys * kVStride];
    KeyOffsets offsets[2][kKeys];
    int32_t tiles_of_part[kThreads];
  };

  MUSABENCH_DEVICE static void run(const AttentionArgs<T>& a) {
    Shared& shared = *reinterpret_cast<Shared*>(gpu::dynamic_shared());
    Tile t;
    t.kv_head = static_cast<int32_t>(blockIdx.x) % a.kv_heads;
    if (!find_tile(a, static_cast<int32_t>(blockIdx.x) / a.kv_heads, kRows, shared.tiles_of_part, &t)) return;
    set_keys(a, &t);
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = gpu::lane();
    const int row = gpu::warp() * 16 * kRowTiles;  // the warp's first
    // Keys that any of the warp's rows sees: outside of them it has nothing to do.
    KeyRange seen = {0, 0};
    if (row < t.rows) {
      const int32_t last = row + 16 * kRowTiles < t.rows ? row + 16 * kRowTiles - 1 : t.rows - 1;
      seen.low = visible_keys(a, t.sequence, a.group.quotient(t.first_row + row)).low;
      seen.high = visible_keys(a, t.sequence, a.group.quotient(t.first_row + last)).high;
    }
    T* const q = shared.q + row * kQkStride;

    float acc[kRowTiles][kDimV / 8][4];
    float row_max[kRowTiles][2];
    float row_sum[kRowTiles][2];
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int j = 0; j < kDimV / 8; ++j) {
#pragma unroll
        for (int i = 0; i < 4; ++i) acc[m][j][i] = 0;
      }
      row_max[m][0] = row_max[m][1] = negative_infinity();
      row_sum[m][0] = row_sum[m][1] = 0;
    }

    int32_t page = 0;  // of the thread's key in the tile after the next
    if (t.key_begin < t.key_end) {
      if (thread < kKeys) {
        const int32_t key = t.key_begin + thread;
        shared.offsets[0][thread] = key_offsets(a, t, key, page_of(a, t, key));
        page = page_of(a, t, key + kKeys);
      }
      load_queries<kRows, kDimQk>(a, t, shared.q, kQkStride);
      __syncthreads();
      load_tile<kDimQk>(shared.k, kQkStride, a.k, shared.offsets[0], &KeyOffsets::k, true, a.vector_kv);
      gpu::copy_async_commit();
    }
    int turn = 0;
    for (int32_t first = t.key_begin; first < t.key_end; first += kKeys, turn ^= 1) {
      const bool more = t.key_end - first > kKeys;
      const bool busy = first < seen.high && first + kKeys > seen.low;
      if (more && thread < kKeys) {
        const int32_t key = first + kKeys + thread;
        shared.offsets[turn ^ 1][thread] = key_offsets(a, t, key, page);
        page = t.key_end - first > 2 * kKeys ? page_of(a, t, key + kKeys) : 0;
      }
      gpu::copy_async_wait<0>();
      __syncthreads();  // the keys are there, and the values are no longer used
      load_tile<kDimV>(shared.v, kVStride, a.v, shared.offsets[turn], &KeyOffsets::v, t.key_end - first >= kKeys,
                       a.vector_kv);
      gpu::copy_async_commit();
      float s[kRowTiles][kKeys / 8][4];
      if (busy) {
#pragma unroll
        for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
          for (int j = 0; j < kKeys / 8; ++j) {
#pragma unroll
            for (int i = 0; i < 4; ++i) s[m][j][i] = 0;
          }
        }
#pragma unroll
        for (int d = 0; d < kDimQk; d += 16) {
          uint32_t left[kRowTiles][4];
#pragma unroll
          for (int m = 0; m < kRowTiles; ++m) load_left(left[m], q + m * 16 * kQkStride + d, kQkStride);
#pragma unroll
          for (int j = 0; j < kKeys / 8; j += 2) {
            uint32_t b[4];
            load_keys(b, shared.k + j * 8 * kQkStride + d, kQkStride);
#pragma unroll
            for (int m = 0; m < kRowTiles; ++m) multiply_pair<T>(s[m][j], s[m][j + 1], left[m], b);
          }
        }
      }
      gpu::copy_async_wait<0>();
      __syncthreads();  // the values are there, and the keys are no longer used
      if (more) {
        load_tile<kDimQk>(shared.k, kQkStride, a.k, shared.offsets[turn ^ 1], &KeyOffsets::k, true, a.vector_kv);
        gpu::copy_async_commit();
      }
      if (busy) {
#pragma unroll
        for (int m = 0; m < kRowTiles; ++m) {
          softmax_step(a, t, row + m * 16, first, s[m], row_max[m], row_sum[m], acc[m]);
        }
#pragma unroll
        for (int j = 0; j < kKeys / 8; j += 2) {
          uint32_t weights[kRowTiles][4];
#pragma unroll
          for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              const float(&group)[4] = s[m][j + i / 2];
              weights[m][i] = gpu::pack<T>(group[i % 2 * 2], group[i % 2 * 2 + 1]);
            }
          }
#pragma unroll
          for (int c = 0; c < kDimV / 8; c += 2) {
            uint32_t b[4];
            load_values(b, shared.v + j * 8 * kVStride + c * 8, kVStride);
#pragma unroll
            for (int m = 0; m < kRowTiles; ++m) multiply_pair<T>(acc[m][c], acc[m][c + 1], weights[m], b);
          }
        }
      }
    }
    if (row >= t.rows) return;

      // Results go through the warp's own query rows, which nobody reads any more, to be written 16 bytes at a time.
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int here = m * 16 + half * 8 + lane / 4;
        float sum = row_sum[m][half];
        sum += gpu::shuffle_xor(sum, 1);
        sum += gpu::shuffle_xor(sum, 2);
        const float inverse = inverse_of(sum);
        if (lane % 4 == 0 && row + here < t.rows)
          store_lse(a, t, row + here, log_sum_exp(row_max[m][half] * a.factor, sum));
#pragma unroll
        for (int j = 0; j < kDimV / 8; ++j) {
          *reinterpret_cast<uint32_t*>(q + here * kQkStride + j * 8 + lane % 4 * 2) =
              gpu::pack<T>(acc[m][j][half * 2] * inverse, acc[m][j][half * 2 + 1] * inverse);
        }
      }
    }
    gpu::warp_sync();
    for (int x = lane; x < 16 * kRowTiles * kDimV / 8; x += 32) {
      const int here = x / (kDimV / 8);
      const int at = x % (kDimV / 8) * 8;
      if (row + here < t.rows) {
        store_packed8(output_row(a, t, row + here) + at,
                      gpu::load<4>(reinterpret_cast<const uint32_t*>(q + here * kQkStride + at)), a.vector_out);
      }
    }
  }

 private:
  // whole: none of the offsets is -1.
  template <int kDim>
  MUSABENCH_DEVICE static void load_tile(T* to, int stride, const T* from, const KeyOffsets* offsets,
                                         int64_t KeyOffsets::*which, bool whole, bool vector) {
    using Turns = Chunks<kThreads, kDim / 8>;
    constexpr int kTurns = kKeys * kDim / 8 / kThreads;
    static_assert(kTurns * kThreads == kKeys * kDim / 8, "every thread copies as much");
    const auto copy = [=](int i, auto as_vector, auto all_there) {
      const int key = Turns::row(i);
      const int at = Turns::column(i);
      const int64_t offset = offsets[key].*which;
      const bool wanted = decltype(all_there)::value || offset >= 0;
      copy8<decltype(as_vector)::value>(to + key * stride + at, from + (wanted ? offset : 0) + at, wanted);
    };
    if (vector && whole) {
#pragma unroll
      for (int i = 0; i < kTurns; ++i) copy(i, std::true_type(), std::true_type());
    } else if (vector) {
#pragma unroll
      for (int i = 0; i < kTurns; ++i) copy(i, std::true_type(), std::false_type());
    } else {
#pragma unroll 1
      for (int i = 0; i < kTurns; ++i) copy(i, std::false_type(), std::false_type());
    }
  }
};

// ---- few rows: each warp walks its own share of the keys, 16 at a time, and fetches them by itself

template <class T, int kDim>
struct MmaDecode {
  static constexpr int kRows = 16;
  static constexpr int kKeys = 16;
  static constexpr int kStride = kDim + kRowPadding;
  // One block of keys is computed with while the next is under way: with three thread blocks of four warps on a
  // multiprocessor some 100 KiB at head dim 128, where 4.8 TB/s over 132 of them need about 30 to cover the memory's
  // latency. Two blocks also fit where there are 160 KiB of shared memory, and one where a block gets 99.
  static constexpr int kStages = kDim <= 64 ? 3 : 2;
  static constexpr bool kQueriesInRegisters = kDim <= 128;
  static constexpr int kTurns = kKeys * kDim / 8 / 32;  // in which a warp copies a block of keys

  struct Stage {
    alignas(16) T k[kKeys * kStride];
    alignas(16) T v[kKeys * kStride];
  };
  struct Shared {
    alignas(16) T q[kRows * kStride];
    float row_max[kWarps][kRows];
    float row_sum[kWarps][kRows];
    union {
      Stage stages[kWarps][kStages];
      float acc[kWarps][kRows][kStride];
    };
  };

  MUSABENCH_DEVICE static void run(const AttentionArgs<T>& a) {
    Shared& shared = *reinterpret_cast<Shared*>(gpu::dynamic_shared());
    Tile t;
    if (!decode_tile(a, kRows, &t)) return;
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = gpu::lane();
    const int warp = gpu::shuffle(gpu::warp(), 0);  // known to be the same in all lanes
    if (t.split >= 0 && t.key_begin >= t.key_end) {
      if (thread < t.rows) store_lse(a, t, thread, negative_infinity());
      return;
    }

    const int32_t blocks = (t.key_end - t.key_begin + kKeys - 1) / kKeys;
    Stage* const stages = shared.stages[warp];
    int32_t fetched = warp;  // the next block of keys to fetch
    const auto key_to_fetch = [&] { return t.key_begin + fetched * kKeys + lane % kKeys; };
    int32_t page = fetched < blocks ? page_of(a, t, key_to_fetch()) : 0;
    const auto fetch = [&](Stage& stage) {
      if (fetched < blocks) {
        const KeyOffsets offsets = key_offsets(a, t, key_to_fetch(), page);
        const int64_t mine = lane < kKeys ? offsets.k : offsets.v;
        fetched += kWarps;
        // Asked for now, needed when the next block is fetched.
        page = fetched < blocks ? page_of(a, t, key_to_fetch()) : 0;
        if (a.vector_kv) {
#pragma unroll
          for (int i = 0; i < kTurns; ++i) copy_turn<true>(a, stage, mine, i);
        } else {
#pragma unroll 1
          for (int i = 0; i < kTurns; ++i) copy_turn<false>(a, stage, mine, i);
        }
      }
      gpu::copy_async_commit();
    };

    load_queries<kRows, kDim>(a, t, shared.q, kStride);
    gpu::copy_async_commit();
#pragma unroll 1
    for (int i = 0; i < kStages - 1; ++i) fetch(stages[i]);
    gpu::copy_async_wait<kStages - 1>();
    __syncthreads();
    uint32_t q[kQueriesInRegisters ? kDim / 16 : 1][4];
    if constexpr (kQueriesInRegisters) {
#pragma unroll
      for (int d = 0; d < kDim; d += 16) load_left(q[d / 16], shared.q + d, kStride);
    }

    float acc[kDim / 8][4];
#pragma unroll
    for (int j = 0; j < kDim / 8; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) acc[j][i] = 0;
    }
    float row_max[2] = {negative_infinity(), negative_infinity()};
    float row_sum[2] = {0, 0};
    int at = 0;
    for (int32_t block = warp; block < blocks; block += kWarps) {
      gpu::copy_async_wait<kStages - 2>();
      gpu::warp_sync();  // this stage is there, and the one before it no longer used
      fetch(stages[at == 0 ? kStages - 1 : at - 1]);
      const Stage& stage = stages[at];
      at = at + 1 == kStages ? 0 : at + 1;
      float s[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
#pragma unroll
      for (int d = 0; d < kDim; d += 16) {
        uint32_t b[4];
        load_keys(b, stage.k + d, kStride);
        if constexpr (kQueriesInRegisters) {
          multiply_pair<T>(s[0], s[1], q[d / 16], b);
        } else {
          uint32_t left[4];
          load_left(left, shared.q + d, kStride);
          multiply_pair<T>(s[0], s[1], left, b);
        }
      }
      softmax_step(a, t, 0, t.key_begin + block * kKeys, s, row_max, row_sum, acc);
      add_values<T>(s[0], s[1], stage.v, kStride, acc);
    }

    // The warps' shares become one.
    gpu::copy_async_wait<0>();
    __syncthreads();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = half * 8 + lane / 4;
      float sum = row_sum[half];
      sum += gpu::shuffle_xor(sum, 1);
      sum += gpu::shuffle_xor(sum, 2);
      if (lane % 4 == 0) {
        shared.row_max[warp][row] = row_max[half] * a.factor;
        shared.row_sum[warp][row] = sum;
      }
#pragma unroll
      for (int j = 0; j < kDim / 8; ++j) {
        gpu::store<2>(&shared.acc[warp][row][j * 8 + lane % 4 * 2],
                      gpu::Vec<float, 2>{{acc[j][half * 2], acc[j][half * 2 + 1]}});
      }
    }
    __syncthreads();
    for (int x = thread; x < t.rows * (kDim / 8); x += kThreads) {
      const int row = x / (kDim / 8);
      const int column = x % (kDim / 8) * 8;
      float top = shared.row_max[0][row];
#pragma unroll
      for (int w = 1; w < kWarps; ++w) top = fmaxf(top, shared.row_max[w][row]);
      const float base = softmax_base(top);
      float sum = 0;
      float values[8] = {0, 0, 0, 0, 0, 0, 0, 0};
#pragma unroll
      for (int w = 0; w < kWarps; ++w) {
        const float factor = gpu::fast_exp2(shared.row_max[w][row] - base);
        sum += shared.row_sum[w][row] * factor;
#pragma unroll
        for (int i = 0; i < 8; ++i) values[i] += shared.acc[w][row][column + i] * factor;
      }
      const float inverse = inverse_of(sum);
#pragma unroll
      for (int i = 0; i < 8; ++i) values[i] *= inverse;
      store_out8<T, kDim>(a, t, row, column, values);
      if (column == 0) store_lse(a, t, row, log_sum_exp(top, sum));
    }
  }

 private:
  // `mine`: lane i has where key i begins in a.k, lane 16 + i where in a.v.
  template <bool kVector>
  MUSABENCH_DEVICE static void copy_turn(const AttentionArgs<T>& a, Stage& stage, int64_t mine, int turn) {
    using Turns = Chunks<32, kDim / 8>;
    const int key = Turns::row(turn);
    const int at = Turns::column(turn);
    const int64_t k = shuffle64(mine, key);
    const int64_t v = shuffle64(mine, key + kKeys);
    copy8<kVector>(stage.k + key * kStride + at, a.k + k + at, true);
    copy8<kVector>(stage.v + key * kStride + at, a.v + (v < 0 ? 0 : v) + at, v >= 0);
  }
  MUSABENCH_DEVICE static int64_t shuffle64(int64_t value, int from) {
    const uint32_t low = gpu::shuffle(static_cast<uint32_t>(value), from);
    const uint32_t high = gpu::shuffle(static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32), from);
    return static_cast<int64_t>(static_cast<uint64_t>(high) << 32 | low);
  }
};

}  // namespace attention
}  // namespace musabench
