#include "attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "abi/musart_host.h"
#include "kernels/host/simd.h"

namespace musabench::mate {
namespace {

using musabench::scalar::Bf16;
using musabench::scalar::Fp16;

struct Sequence {
  int64_t outer;  // index of the outer dimension
  int64_t first;  // token at which it begins there
  int64_t length;
};

Sequence sequence_of(const Lengths& lengths, int64_t index) {
  const int64_t first = lengths.cu != nullptr ? lengths.cu[index] : 0;
  const int64_t length = lengths.used != nullptr ? lengths.used[index]
                         : lengths.cu != nullptr ? lengths.cu[index + 1] - first
                                                 : lengths.most;
  return {lengths.cu != nullptr ? 0 : index, first, length};
}

int64_t offset_of(const AttentionStrides& strides, int64_t outer, int64_t token, int64_t head) {
  return outer * strides.outer + token * strides.token + head * strides.head;
}

// Outer index and token of key `index`; false when the page table points outside the cache.
bool locate(const Attention& a, const Sequence& keys, int64_t sequence, int64_t index, int64_t* outer, int64_t* token) {
  *outer = keys.outer;
  *token = keys.first + index;
  if (a.page_table == nullptr) return true;
  *outer = a.page_table[sequence * a.page_table_stride + index / a.page_size];
  *token = index % a.page_size;
  return *outer >= 0 && *outer < a.pages;
}

template <class T>
bool score_of(const Attention& a, const Sequence& q, int64_t query, int64_t head, const Sequence& keys,
              int64_t sequence, int64_t key, double* score) {
  int64_t outer = 0;
  int64_t token = 0;
  if (!locate(a, keys, sequence, key, &outer, &token)) return false;
  const int64_t kv_head = head / (a.q_heads / a.kv_heads);
  const auto dot = [&](const void* left, const AttentionStrides& left_strides, const void* right,
                       const AttentionStrides& right_strides, int32_t dim) {
    const T* x = static_cast<const T*>(left) + offset_of(left_strides, q.outer, q.first + query, head);
    const T* y = static_cast<const T*>(right) + offset_of(right_strides, outer, token, kv_head);
    double sum = 0;
    for (int32_t d = 0; d < dim; ++d) sum += static_cast<double>(to_float(x[d])) * to_float(y[d]);
    return sum;
  };
  double sum = dot(a.q, a.q_strides, a.k, a.k_strides, a.dim_qk);
  if (a.q_rope != nullptr) sum += dot(a.q_rope, a.q_rope_strides, a.k_rope, a.k_rope_strides, a.dim_rope);
  sum *= a.softmax_scale;
  *score = a.softcap > 0 ? a.softcap * std::tanh(sum / a.softcap) : sum;
  return true;
}

struct Row {
  std::vector<double> out;
  double lse;
};

// Query `query` over its visible keys in [begin, end); false for a wrong page.
template <class T>
bool row_of(const Attention& a, const Sequence& q, const Sequence& keys, int64_t sequence, int64_t head, int64_t query,
            int64_t begin, int64_t end, Row* row) {
  const int64_t position = query + keys.length - q.length;
  begin = std::max(begin, position - a.left);
  end = std::min(end, position + a.right + 1);
  if (a.chunk > 0) {
    const int64_t first = std::max<int64_t>(position, 0) / a.chunk * a.chunk;
    begin = std::max(begin, first);
    end = std::min(end, first + a.chunk);
  }
  row->out.assign(static_cast<size_t>(a.dim_v), 0);
  row->lse = -std::numeric_limits<double>::infinity();
  if (begin >= end) return true;
  std::vector<double> scores(static_cast<size_t>(end - begin));
  for (int64_t j = begin; j < end; ++j) {
    if (!score_of<T>(a, q, query, head, keys, sequence, j, &scores[static_cast<size_t>(j - begin)])) return false;
  }
  const double greatest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (int64_t j = begin; j < end; ++j) {
    const double weight = std::exp(scores[static_cast<size_t>(j - begin)] - greatest);
    sum += weight;
    int64_t outer = 0;
    int64_t token = 0;
    locate(a, keys, sequence, j, &outer, &token);
    const T* value = static_cast<const T*>(a.v) + offset_of(a.v_strides, outer, token, head / (a.q_heads / a.kv_heads));
    for (int32_t d = 0; d < a.dim_v; ++d) row->out[static_cast<size_t>(d)] += weight * to_float(value[d]);
  }
  for (double& x : row->out) x /= sum;
  row->lse = greatest + std::log(sum);
  return true;
}

template <class T>
void store(const Attention& a, const Sequence& q, int64_t head, int64_t query, const Row& row) {
  T* out = static_cast<T*>(a.out) + offset_of(a.out_strides, q.outer, q.first + query, head);
  for (int32_t d = 0; d < a.dim_v; ++d) {
    out[d] = musabench::scalar::from_float<T>(static_cast<float>(row.out[static_cast<size_t>(d)]));
  }
  a.lse[offset_of(a.lse_strides, q.outer, q.first + query, head)] = static_cast<float>(row.lse);
}

// Place of a part's row in splits.lse; times dim_v, in splits.out.
int64_t part_of(const Attention& a, const Sequence& q, int64_t head, int64_t query, int64_t split) {
  return ((q.outer * a.q_heads + head) * a.splits.most + split) * a.splits.tokens + q.first + query;
}

// What a block computes.
struct Work {
  int64_t head;
  int64_t sequence;
  int64_t parts;
};

// By the block's place in the schedule; false, and the kernel has failed, if the launch has no room for what is there.
bool scheduled(const Attention& a, uint32_t block, Work* work) {
  const auto heads = static_cast<uint32_t>(a.q_heads);
  const int64_t place = block / heads;
  work->head = block % heads;
  work->sequence = a.is_split ? a.splits.batch_table[place] : place;
  work->parts = a.is_split ? a.splits.num_splits[place] : 1;
  if (work->sequence >= 0 && work->sequence < a.batch && work->parts >= 1 &&
      (!a.is_split || work->parts <= a.splits.most)) {
    return true;
  }
  musaHostKernelFail(musaErrorIllegalAddress);
  return false;
}

template <class T>
void attention_block(const Attention& a, uint32_t block) {
  Work work = {};
  if (!scheduled(a, block, &work)) return;
  const auto [head, sequence, parts] = work;
  const Sequence q = sequence_of(a.queries, sequence);
  const Sequence keys = sequence_of(a.keys, sequence);
  const int64_t tile_n = a.is_split ? a.splits.tile_n : 1;
  const int64_t part = std::max<int64_t>(1, ceil_div(ceil_div(keys.length, tile_n), parts)) * tile_n;
  Row row;
  for (int64_t query = 0; query < q.length; ++query) {
    for (int64_t split = 0; split < parts; ++split) {
      if (!row_of<T>(a, q, keys, sequence, head, query, split * part, std::min(keys.length, (split + 1) * part),
                     &row)) {
        return musaHostKernelFail(musaErrorIllegalAddress);
      }
      if (!a.is_split) {
        store<T>(a, q, head, query, row);
        continue;
      }
      const int64_t place = part_of(a, q, head, query, split);
      for (int32_t d = 0; d < a.dim_v; ++d) {
        a.splits.out[place * a.dim_v + d] = static_cast<float>(row.out[static_cast<size_t>(d)]);
      }
      a.splits.lse[place] = static_cast<float>(row.lse);
    }
  }
}

template <class T>
void combine_block(const Attention& a, uint32_t block) {
  Work work = {};
  if (!scheduled(a, block, &work)) return;
  const auto [head, sequence, parts] = work;
  const Sequence q = sequence_of(a.queries, sequence);
  Row row;
  for (int64_t query = 0; query < q.length; ++query) {
    double greatest = -std::numeric_limits<double>::infinity();
    for (int64_t split = 0; split < parts; ++split) {
      greatest = std::max<double>(greatest, a.splits.lse[part_of(a, q, head, query, split)]);
    }
    row.out.assign(static_cast<size_t>(a.dim_v), 0);
    row.lse = greatest;
    if (greatest > -std::numeric_limits<double>::infinity()) {
      double sum = 0;
      for (int64_t split = 0; split < parts; ++split) {
        const int64_t place = part_of(a, q, head, query, split);
        const double weight = std::exp(a.splits.lse[place] - greatest);
        sum += weight;
        for (int32_t d = 0; d < a.dim_v; ++d) {
          row.out[static_cast<size_t>(d)] += weight * a.splits.out[place * a.dim_v + d];
        }
      }
      for (double& x : row.out) x /= sum;
      row.lse = greatest + std::log(sum);
    }
    store<T>(a, q, head, query, row);
  }
}

void run_attention(const void* params, uint32_t block, uint32_t) {
  const auto& a = *static_cast<const Attention*>(params);
  a.is_fp16 ? attention_block<Fp16>(a, block) : attention_block<Bf16>(a, block);
}

void run_combine_block(const void* params, uint32_t block, uint32_t) {
  const auto& a = *static_cast<const Attention*>(params);
  a.is_fp16 ? combine_block<Fp16>(a, block) : combine_block<Bf16>(a, block);
}

void run_schedule(const void* params, uint32_t, uint32_t) {
  const auto& s = *static_cast<const Schedule*>(params);
  std::vector<int32_t> order(static_cast<size_t>(s.batch));
  for (int32_t i = 0; i < s.batch; ++i) order[static_cast<size_t>(i)] = i;
  const auto tiles = [&s](int32_t i) { return ceil_div(sequence_of(s.keys, i).length, s.tile_n); };
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return tiles(a) > tiles(b); });
  for (int32_t place = 0; place < s.batch; ++place) {
    const int32_t sequence = order[static_cast<size_t>(place)];
    s.batch_table[place] = sequence;
    s.num_splits[place] = static_cast<int32_t>(std::max<int64_t>(1, std::min<int64_t>(s.most_splits, tiles(sequence))));
    s.num_m_blocks[place] =
        static_cast<int32_t>(ceil_div(sequence_of(s.queries, sequence).length * s.rows_of_query, s.tile_m));
    s.num_nheads_in_l2[place] = 1;
  }
}

void run_fill(const void* params, uint32_t, uint32_t) {
  const auto& f = *static_cast<const Fill*>(params);
  for (int64_t i = 0; i < f.count; ++i) f.out[i] = f.first + static_cast<int32_t>(i) * f.step;
}

template <class Params>
int launch(const Params& params, const char* name, musaHostKernelFn run, int64_t blocks, void* out, size_t out_bytes,
           void* stream) {
  const musaHostLaunch launch = {name, run, static_cast<uint32_t>(blocks), 0, &params, sizeof params, out, out_bytes};
  return musaHostLaunchKernel(&launch, static_cast<musaStream_t>(stream));
}

size_t parts_bytes(const Attention& a) {
  const int64_t outer = a.queries.cu != nullptr ? 1 : a.batch;
  return static_cast<size_t>(outer * a.q_heads * a.splits.most * a.splits.tokens * a.dim_v) * sizeof(float);
}

}  // namespace

int launch_attention(const Attention& a, const char* name, void* stream) {
  return launch(a, name, &run_attention, static_cast<int64_t>(a.batch) * a.q_heads, a.is_split ? a.splits.out : a.out,
                a.is_split ? parts_bytes(a) : a.out_bytes, stream);
}

int launch_combine(const Attention& a, const char* name, void* stream) {
  return launch(a, name, &run_combine_block, static_cast<int64_t>(a.batch) * a.q_heads, a.out, a.out_bytes, stream);
}

int launch_schedule(const Schedule& s, const char* name, void* stream) {
  return launch(s, name, &run_schedule, 1, s.num_splits, static_cast<size_t>(s.batch) * sizeof(int32_t), stream);
}

int launch_fill(const Fill& f, const char* name, void* stream) {
  return launch(f, name, &run_fill, 1, f.out, static_cast<size_t>(f.count) * sizeof(int32_t), stream);
}

}  // namespace musabench::mate
