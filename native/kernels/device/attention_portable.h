// Attention without tensor cores, for warps of any width: threads meet at barriers only. A block's queries, one tile of
// keys or values (one after the other in the same place), scores and the rest fit into the shared memory that a block
// gets on any device. While the block computes, what comes next is on its way to registers.
#pragma once

#include "attention_device.h"

namespace musabench {
namespace attention {

template <class T, int kDimQk, int kDimV, int kRows_>
struct Portable {
  static constexpr int kRows = kRows_;
  static constexpr int kKeys = 32;
  static constexpr int kDim = kDimQk > kDimV ? kDimQk : kDimV;
  // Rows are an odd number of 16-byte units, so that those of neighbouring keys lie in different banks.
  static constexpr int kStride = kDim + 8;
  static constexpr int kChunks = (kKeys * kDim / 8 + kThreads - 1) / kThreads;  // of eight elements, each thread's

  // q * k: a thread has kScoreRows rows and kScoreKeys keys, kThreads / kRowGroups apart.
  static constexpr int kScoreRows = kRows / 8;
  static constexpr int kScoreKeys = 2;
  static_assert(kRows / kScoreRows * (kKeys / kScoreKeys) == kThreads, "every score has one thread");
  // The softmax: a row has so many threads.
  static constexpr int kRowThreads = kThreads / kRows;
  // p * v: a thread has eight columns of rows kValueRowStep apart.
  static constexpr int kColumns = kDimV / 8;
  static constexpr int kValueRowStep = kThreads / kColumns;
  static constexpr int kValueRows = (kRows + kValueRowStep - 1) / kValueRowStep;

  struct Shared {
    alignas(16) T q[kRows * kStride];
    alignas(16) T kv[kKeys * kStride];
    union {
      float scores[kRows][kKeys + 1];
      int32_t tiles_of_part[kThreads];
    };
    KeyOffsets offsets[kKeys];
    float tops[kRows][kRowThreads];
    float factor[kRows];
  };
  static_assert(sizeof(Shared) <= gpu::kLeastSharedBytes, "fits on every device");

  // The tile's keys; the result is final or one split's.
  MUSABENCH_DEVICE static void run(const AttentionArgs<T>& a, const Tile& t, Shared& shared) {
    const int thread = static_cast<int>(threadIdx.x);
    float acc[kValueRows][8];
#pragma unroll
    for (int r = 0; r < kValueRows; ++r) {
#pragma unroll
      for (int i = 0; i < 8; ++i) acc[r][i] = 0;
    }
    // Of the thread's row; the sum is of its own columns.
    const int softmax_row = thread / kRowThreads;
    const int softmax_part = thread % kRowThreads;
    float row_max = negative_infinity();
    float row_sum = 0;
    KeyRange range = {0, 0};
    if (softmax_row < t.rows) {
      range = visible_keys(a, t.sequence, a.group.quotient(t.first_row + softmax_row));
      if (range.high > t.key_end) range.high = t.key_end;
    }
    const int column = thread % kColumns * 8;
    const int value_row = thread / kColumns;

    for (int x = thread; x < kRows * kDimQk / 8; x += kThreads) {
      const int row = x / (kDimQk / 8);
      const int at = x % (kDimQk / 8) * 8;
      gpu::Vec<uint32_t, 4> values = {{0, 0, 0, 0}};
      if (row < t.rows) values = load8(query_row(a, t, row) + at, a.vector_q);
      gpu::store<4>(reinterpret_cast<uint32_t*>(shared.q + row * kStride + at), values);
    }

    gpu::Vec<uint32_t, 4> ahead[kChunks];
    if (thread < kKeys) {
      shared.offsets[thread] = key_offsets(a, t, t.key_begin + thread, page_of(a, t, t.key_begin + thread));
    }
    __syncthreads();
    if (t.key_begin < t.key_end) fetch<kDimQk>(a.k, shared.offsets, &KeyOffsets::k, a.vector_kv, ahead);
    for (int32_t first = t.key_begin; first < t.key_end; first += kKeys) {
      const bool more = t.key_end - first > kKeys;
      put<kDimQk>(ahead, shared.kv);
      __syncthreads();
      fetch<kDimV>(a.v, shared.offsets, &KeyOffsets::v, a.vector_kv, ahead);
      score(shared);
      __syncthreads();

      put<kDimV>(ahead, shared.kv);
      if (more && thread < kKeys) {
        const int32_t key = first + kKeys + thread;
        shared.offsets[thread] = key_offsets(a, t, key, page_of(a, t, key));
      }
      float own[kKeys / kRowThreads];
      float top = negative_infinity();
#pragma unroll
      for (int i = 0; i < kKeys / kRowThreads; ++i) {
        const int key = i * kRowThreads + softmax_part;
        const bool seen = first + key >= range.low && first + key < range.high;
        own[i] = seen ? score_of(a, shared.scores[softmax_row][key]) : negative_infinity();
        top = fmaxf(top, own[i]);
      }
      shared.tops[softmax_row][softmax_part] = top;
      __syncthreads();
      top = row_max;
#pragma unroll
      for (int i = 0; i < kRowThreads; ++i) top = fmaxf(top, shared.tops[softmax_row][i]);
      const float base = softmax_base(top);
      const float factor = gpu::fast_exp2(row_max - base);
      row_max = top;
      row_sum *= factor;
#pragma unroll
      for (int i = 0; i < kKeys / kRowThreads; ++i) {
        const float weight = gpu::fast_exp2(own[i] - base);
        row_sum += weight;
        shared.scores[softmax_row][i * kRowThreads + softmax_part] = weight;
      }
      if (softmax_part == 0) shared.factor[softmax_row] = factor;
      __syncthreads();

      if (more) fetch<kDimQk>(a.k, shared.offsets, &KeyOffsets::k, a.vector_kv, ahead);
      add_values(shared, value_row, column, acc);
      __syncthreads();
    }

    shared.tops[softmax_row][softmax_part] = row_sum;
    __syncthreads();
    if (softmax_part == 0) {
      float sum = 0;
      for (int i = 0; i < kRowThreads; ++i) sum += shared.tops[softmax_row][i];
      shared.factor[softmax_row] = inverse_of(sum);
      if (softmax_row < t.rows) store_lse(a, t, softmax_row, log_sum_exp(row_max, sum));
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kValueRows; ++r) {
      const int row = value_row + r * kValueRowStep;
      if (value_row >= kValueRowStep || row >= t.rows) continue;
#pragma unroll
      for (int i = 0; i < 8; ++i) acc[r][i] *= shared.factor[row];
      store_out8<T, kDimV>(a, t, row, column, acc[r]);
    }
  }

 private:
  template <int kDimOf>
  MUSABENCH_DEVICE static void fetch(const T* from, const KeyOffsets* offsets, int64_t KeyOffsets::*which, bool vector,
                                     gpu::Vec<uint32_t, 4> (&to)[kChunks]) {
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const int x = static_cast<int>(threadIdx.x) + i * kThreads;
      if (x >= kKeys * kDimOf / 8) break;
      const int64_t offset = offsets[x / (kDimOf / 8)].*which;
      to[i] = {{0, 0, 0, 0}};
      if (offset >= 0) to[i] = load8(from + offset + x % (kDimOf / 8) * 8, vector);
    }
  }
  template <int kDimOf>
  MUSABENCH_DEVICE static void put(const gpu::Vec<uint32_t, 4> (&from)[kChunks], T* to) {
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const int x = static_cast<int>(threadIdx.x) + i * kThreads;
      if (x >= kKeys * kDimOf / 8) break;
      gpu::store<4>(reinterpret_cast<uint32_t*>(to + x / (kDimOf / 8) * kStride + x % (kDimOf / 8) * 8), from[i]);
    }
  }

  MUSABENCH_DEVICE static void score(Shared& shared) {
    const int thread = static_cast<int>(threadIdx.x);
    constexpr int kKeyThreads = kKeys / kScoreKeys;
    const int key = thread % kKeyThreads;
    const int row = thread / kKeyThreads;
    float sum[kScoreRows][kScoreKeys];
#pragma unroll
    for (int r = 0; r < kScoreRows; ++r) {
#pragma unroll
      for (int j = 0; j < kScoreKeys; ++j) sum[r][j] = 0;
    }
    for (int d = 0; d < kDimQk; d += 8) {
      gpu::Vec<uint32_t, 4> k[kScoreKeys];
#pragma unroll
      for (int j = 0; j < kScoreKeys; ++j) {
        k[j] = gpu::load<4>(reinterpret_cast<const uint32_t*>(shared.kv + (key + j * kKeyThreads) * kStride + d));
      }
#pragma unroll
      for (int r = 0; r < kScoreRows; ++r) {
        const auto q =
            gpu::load<4>(reinterpret_cast<const uint32_t*>(shared.q + (row + r * (kRows / kScoreRows)) * kStride + d));
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int j = 0; j < kScoreKeys; ++j) {
            sum[r][j] += low_half<T>(q.at[i]) * low_half<T>(k[j].at[i]);
            sum[r][j] += high_half<T>(q.at[i]) * high_half<T>(k[j].at[i]);
          }
        }
      }
    }
#pragma unroll
    for (int r = 0; r < kScoreRows; ++r) {
#pragma unroll
      for (int j = 0; j < kScoreKeys; ++j) {
        shared.scores[row + r * (kRows / kScoreRows)][key + j * kKeyThreads] = sum[r][j];
      }
    }
  }

  MUSABENCH_DEVICE static void add_values(const Shared& shared, int value_row, int column,
                                          float (&acc)[kValueRows][8]) {
    if (value_row >= kValueRowStep) return;
#pragma unroll
    for (int r = 0; r < kValueRows; ++r) {
      const int row = value_row + r * kValueRowStep;
      const float factor = row < kRows ? shared.factor[row] : 0;
#pragma unroll
      for (int i = 0; i < 8; ++i) acc[r][i] *= factor;
    }
#pragma unroll 4
    for (int key = 0; key < kKeys; ++key) {
      const auto v = gpu::load<4>(reinterpret_cast<const uint32_t*>(shared.kv + key * kStride + column));
      float values[8];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        values[2 * i] = low_half<T>(v.at[i]);
        values[2 * i + 1] = high_half<T>(v.at[i]);
      }
#pragma unroll
      for (int r = 0; r < kValueRows; ++r) {
        const int row = value_row + r * kValueRowStep;
        const float weight = row < kRows ? shared.scores[row][key] : 0;
#pragma unroll
        for (int i = 0; i < 8; ++i) acc[r][i] += weight * values[i];
      }
    }
  }
};

}  // namespace attention
}  // namespace musabench
