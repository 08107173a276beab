// Attention in plain C++, for what the host kernels do not have: parts of split sequences, lengths by seqused without
// pages, multi-head latent attention. One block a sequence and query head.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention.h"

namespace musabench::mate {

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Where the partial results of split sequences are and how they are split: [outer, head, split, token, dim] and
// [outer, head, split, token]. The parts of the sequence at place p of `batch_table` are num_splits[p].
struct Splits {
  float* out;
  float* lse;
  const int32_t* num_splits;
  const int32_t* batch_table;
  int64_t tokens;  // of the token dimension
  int32_t most;    // of the split dimension
  int32_t tile_n;  // a part is a whole number of tiles
};

struct Lengths {
  const int32_t* cu;    // first token of a sequence, or NULL: [outer, token]
  const int32_t* used;  // tokens of a sequence, or NULL
  int64_t most;
};

struct Attention {
  const void* q;
  const void* k;
  const void* v;
  const void* q_rope;  // a second part of the head dimension, or NULL
  const void* k_rope;
  AttentionStrides q_strides;
  AttentionStrides k_strides;  // outer: sequence or page
  AttentionStrides v_strides;
  AttentionStrides q_rope_strides;
  AttentionStrides k_rope_strides;
  Lengths queries;
  Lengths keys;
  const int32_t* page_table;  // or NULL
  int64_t page_table_stride;
  int64_t pages;
  int64_t page_size;
  int32_t batch;
  int32_t q_heads;
  int32_t kv_heads;
  int32_t dim_qk;
  int32_t dim_rope;
  int32_t dim_v;
  float softmax_scale;
  float softcap;
  int64_t left;  // never unlimited: large enough instead
  int64_t right;
  int64_t chunk;  // 0: none
  bool is_fp16;
  bool is_split;
  void* out;
  float* lse;
  AttentionStrides out_strides;
  AttentionStrides lse_strides;
  size_t out_bytes;
  Splits splits;  // is_split only: out and lse are not written
};

// Merges the parts into out and lse; reads of the rest only layouts, lengths and heads.
int launch_attention(const Attention& attention, const char* name, void* stream);
int launch_combine(const Attention& attention, const char* name, void* stream);

struct Schedule {
  Lengths queries;
  Lengths keys;
  int32_t batch;
  int32_t rows_of_query;
  int32_t tile_m;
  int32_t tile_n;
  int32_t most_splits;
  int32_t* num_splits;
  int32_t* batch_table;
  int32_t* num_m_blocks;
  int32_t* num_nheads_in_l2;
};

// Sequences by falling length, each with as many parts as it has tiles, at most most_splits.
int launch_schedule(const Schedule& schedule, const char* name, void* stream);

// int32 values to device memory, `count` <= 1024.
struct Fill {
  int32_t* out;
  int64_t count;
  int32_t first;
  int32_t step;
};
int launch_fill(const Fill& fill, const char* name, void* stream);

}  // namespace musabench::mate
