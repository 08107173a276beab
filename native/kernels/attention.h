// Attention: parameters as every implementation takes them.
//
// All strides are in elements, the innermost dimension has stride 1. Query head h reads key/value head
// h / (q_heads / kv_heads). Key j of a sequence is visible to its query i (of q queries and k keys) iff
//   i + (k - q) - window_left <= j <= i + (k - q) + window_right,
// where a negative window is unlimited: a causal mask is window_right = 0, aligned at the bottom right. A score is
// softmax_scale * (query . key), or with softcap c > 0: c * tanh(softmax_scale * (query . key) / c), as accurate for
// large c, where it is almost the score itself, as for small. A query that sees no key gives zeros, and -infinity as
// its log-sum-exp (natural logarithm).
#pragma once

#include <cstddef>
#include <cstdint>

#include "dtype.h"

namespace musabench {

constexpr int32_t kMaxHeadDim = 256;

// Of a [outer, token, head, dim] tensor; `outer` is the sequence or the page and 0 where there is none.
struct AttentionStrides {
  int64_t outer;
  int64_t token;
  int64_t head;
};

struct AttentionMask {
  int32_t window_left;   // < 0: unlimited
  int32_t window_right;  // < 0: unlimited
};

// Attention over contiguous keys. Dense: sequence b of [batch, seqlen, heads, dim]. Varlen: tokens cu[b] to cu[b + 1]
// of [tokens, heads, dim]; cu_seqlens_q and cu_seqlens_k are device memory of batch + 1 int32, read by the kernel.
struct FmhaParams {
  const void* q;
  const void* k;
  const void* v;
  void* out;
  float* lse;                   // [.., q_heads, token], or NULL
  const int32_t* cu_seqlens_q;  // both NULL: dense
  const int32_t* cu_seqlens_k;
  AttentionStrides q_strides;
  AttentionStrides k_strides;
  AttentionStrides v_strides;
  AttentionStrides out_strides;
  AttentionStrides lse_strides;
  int64_t seqlen_q;  // dense: of every sequence; varlen: not used
  int64_t seqlen_k;
  int64_t total_q;  // query tokens of all sequences
  int64_t total_k;
  size_t out_bytes;  // from out to the end of its last element
  int32_t batch;
  int32_t q_heads;
  int32_t kv_heads;
  int32_t head_dim_qk;
  int32_t head_dim_v;
  float softmax_scale;
  float softcap;  // 0: none
  AttentionMask mask;
  Dtype dtype;  // bf16 or fp16: q, k, v and out
};

// Queues the kernel on `stream`. 0, or the runtime's error code.
int launch_fmha_prefill(const FmhaParams& params, void* stream);

// What the launch of a paged attention is planned from: nothing that lies in device memory.
struct PagedShape {
  int32_t batch;
  int64_t max_seqlen_q;
  int64_t total_q;
  int32_t q_heads;
  int32_t kv_heads;
  int32_t head_dim;
  int64_t max_seqlen_k;  // pages of a table row * page size
  int32_t num_splits;    // > 0: every sequence in so many parts of equal length; 0: the implementation's choice
};

// Attention over a paged cache, decode and chunked prefill. Token t of sequence b lies in page
// page_table[b, t / page_size] at t % page_size. seqused_k, page_table and cu_seqlens_q are device memory and read by
// the kernel: a replayed graph sees their new contents.
struct PagedParams {
  PagedShape shape;
  const void* q;  // [total_q, q_heads, head_dim]
  const void* k_cache;
  const void* v_cache;
  void* out;
  float* lse;                   // [q_heads, total_q], or NULL
  const int32_t* page_table;    // [batch, max_pages]
  const int32_t* seqused_k;     // [batch], keys of a sequence, its query tokens included
  const int32_t* cu_seqlens_q;  // [batch + 1]; NULL: one query token a sequence
  void* workspace;              // at least paged_attention_workspace_bytes, 16-byte aligned
  AttentionStrides q_strides;   // outer: 0
  AttentionStrides k_strides;   // outer: page
  AttentionStrides v_strides;
  AttentionStrides out_strides;  // outer: 0
  AttentionStrides lse_strides;  // outer: 0
  int64_t page_table_stride;     // of a row
  int64_t pages;
  int64_t max_pages;
  int64_t page_size;
  size_t out_bytes;
  float softmax_scale;
  float softcap;  // 0: none
  AttentionMask mask;
  Dtype dtype;  // bf16 or fp16: q, caches and out
};

// Scratch that launch_paged_attention needs in device memory; 0 if none.
int64_t paged_attention_workspace_bytes(const PagedShape& shape);

// Queues the kernels on `stream`. 0, or the runtime's error code.
int launch_paged_attention(const PagedParams& params, void* stream);

}  // namespace musabench
