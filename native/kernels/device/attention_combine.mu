// Adds up what the splits of a sequence left in the workspace:
//   out = sum of out_i 2^lse_i / sum of 2^lse_i, lse = log2 of that sum.
#include "attention_launch.h"

namespace musabench {
namespace attention {
namespace {

template <class T>
struct CombineArgs {
  AttentionArgs<T> attention;
  int32_t dim;
  int32_t rows;  // of the workspace, each split
};

// A thread has four neighbours of a row; a block as many rows as that makes.
template <class T>
__global__ void __launch_bounds__(kThreads) combine_kernel(CombineArgs<T> args) {
  const AttentionArgs<T>& a = args.attention;
  const int32_t row_threads = args.dim / 4;
  const int32_t rows = kThreads / row_threads;
  const int32_t thread = static_cast<int32_t>(threadIdx.x);
  if (thread >= rows * row_threads) return;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * rows + thread / row_threads;
  if (row >= args.rows) return;
  const int32_t at = thread % row_threads * 4;
  const int32_t head = static_cast<int32_t>(row % a.q_heads);
  const int32_t query = static_cast<int32_t>(row / a.q_heads % a.decode_queries);
  Tile t;
  t.b = static_cast<int32_t>(row / a.q_heads / a.decode_queries);
  t.kv_head = a.group.quotient(head);
  t.first_row = query * static_cast<int32_t>(a.group.divisor) + a.group.remainder(head, t.kv_head);
  t.split = -1;
  // What is wrong with the sequence the decode kernel has reported.
  if (!read_sequence(a, t.b, &t.sequence)) return;
  if (t.sequence.q_len > a.decode_queries || query >= t.sequence.q_len) return;

  const float* lse = a.partial_lse + row;
  float top = negative_infinity();
  for (int32_t i = 0; i < a.splits; ++i) top = fmaxf(top, lse[static_cast<int64_t>(i) * args.rows]);
  const float base = softmax_base(top);
  float sum = 0;
  float values[4] = {0, 0, 0, 0};
#pragma unroll 4
  for (int32_t i = 0; i < a.splits; ++i) {
    const int64_t from = static_cast<int64_t>(i) * args.rows;
    const float part = lse[from];
    // A split without keys has no result.
    if (part == negative_infinity()) continue;
    const float weight = gpu::fast_exp2(part - base);
    const auto partial = gpu::load<4>(a.partial + (from + row) * args.dim + at);
    sum += weight;
#pragma unroll
    for (int j = 0; j < 4; ++j) values[j] += partial.at[j] * weight;
  }
  const float inverse = inverse_of(sum);
  const gpu::Vec<uint32_t, 2> packed = {
      {gpu::pack<T>(values[0] * inverse, values[1] * inverse), gpu::pack<T>(values[2] * inverse, values[3] * inverse)}};
  T* const to = output_row(a, t, 0) + at;
  if (a.vector_out) {
    gpu::store<2>(reinterpret_cast<uint32_t*>(to), packed);
  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j) to[j].bits = static_cast<uint16_t>(packed.at[j / 2] >> (16 * (j % 2)));
  }
  if (at == 0) store_lse(a, t, 0, log_sum_exp(top, sum));
}

}  // namespace

template <class T>
int launch_combine(const char* name, const AttentionArgs<T>& args, int32_t dim, gpu::Output output, void* stream) {
  const int64_t rows = static_cast<int64_t>(args.batch) * args.decode_queries * args.q_heads;
  const int64_t blocks = gpu::ceil_div(rows, kThreads / (dim / 4));
  if (rows > INT32_MAX) return gpu::kInvalidConfiguration;
  const CombineArgs<T> combine = {args, dim, static_cast<int32_t>(rows)};
  return gpu::launch<combine_kernel<T>>(name, {static_cast<uint32_t>(blocks)}, kThreads, combine, output, stream);
}

template int launch_combine(const char*, const AttentionArgs<gpu::Bf16>&, int32_t, gpu::Output, void*);
template int launch_combine(const char*, const AttentionArgs<gpu::Fp16>&, int32_t, gpu::Output, void*);

}  // namespace attention
}  // namespace musabench
