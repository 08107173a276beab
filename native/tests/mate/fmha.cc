// The generated attention kernels: fmha_fwd_*, fmha_get_metadata_*, fmha_fwd_combine_*.
#include <algorithm>
#include <string>
#include <vector>

#include "attention.h"
#include "checks.h"
#include "double.h"

extern "C" int __tvm_ffi_fmha_prefill(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
extern "C" int __tvm_ffi_paged_attention(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);

namespace musabench::mate {
namespace {

constexpr int32_t kMostSplits = 128;
constexpr int32_t kSequencesOfWarp = 31;
constexpr int32_t kFastPageSize = 64;
// This double's own choice of splits: one for so many tiles.
constexpr int64_t kTilesOfSplit = 2;

int32_t choose_splits(int64_t num_splits, int64_t seqlen_k, int32_t tile_n) {
  if (num_splits > 0) return static_cast<int32_t>(num_splits);
  return static_cast<int32_t>(std::clamp<int64_t>(ceil_div(seqlen_k, kTilesOfSplit * tile_n), 1, kMostSplits));
}

int32_t rounded_dim(int64_t dim) {
  for (const int32_t known : {64, 128, 192, 256, 384, 512}) {
    if (dim <= known) return known;
  }
  return 0;
}

// ---- forward

struct Forward {
  TensorArg q, k, v, out, lse;
  std::optional<TensorArg> cu_seqlens_q, cu_seqlens_k, seqused_q, seqused_k, page_table;
  std::optional<TensorArg> num_splits_dynamic, batch_table, num_m_blocks;
  std::optional<int64_t> max_seqlen_q, max_seqlen_kv;
  double softmax_scale, softcap;
  bool is_causal;
  int64_t window_left, window_right, attention_chunk, num_splits;

  bool ragged_q() const { return cu_seqlens_q.has_value(); }
  bool ragged_k() const { return cu_seqlens_k.has_value(); }
};

Forward read_forward(const ForwardConfig& c, Args& args) {
  const TensorArg q = musa(args.tensor("q"));
  const TensorArg k = musa(args.tensor("k"));
  const TensorArg v = musa(args.tensor("v"));
  for (const char* name : {"k_new", "v_new", "q_v"}) compiled(args, name, false);
  const auto cu_seqlens_q = compiled(args, "cu_seqlens_q", c.has_cu_seqlens_q);
  const auto cu_seqlens_k = compiled(args, "cu_seqlens_k", c.has_cu_seqlens_k);
  compiled(args, "cu_seqlens_k_new", false);
  const auto seqused_q = compiled(args, "seqused_q", c.has_seqused_q);
  const auto seqused_k = compiled(args, "seqused_k", c.has_seqused_k);
  const auto max_seqlen_q = args.optional_integer("max_seqlen_q", 1, INT32_MAX);
  const auto max_seqlen_kv = args.optional_integer("max_seqlen_kv", 1, INT32_MAX);
  const auto page_table = compiled(args, "page_table", c.paged_kv);
  for (const char* name : {"kv_batch_idx", "leftpad_k", "rotary_cos", "rotary_sin", "seqlens_rotary", "q_descale",
                           "k_descale", "v_descale"}) {
    compiled(args, name, false);
  }
  const double softmax_scale = args.number("softmax_scale");
  const bool is_causal = args.boolean("is_causal");
  const int64_t window_left = args.integer("window_left", 0, INT32_MAX);
  const int64_t window_right = args.integer("window_right", 0, INT32_MAX);
  const int64_t attention_chunk = args.integer("attention_chunk", 0, INT32_MAX);
  const double softcap = args.number("softcap");
  args.integer("mp_margin", 0, INT32_MAX);
  const int64_t num_splits = args.integer("num_splits", INT32_MIN, kMostSplits);
  const auto num_splits_dynamic = compiled(args, "num_splits_dynamic", c.has_metadata);
  const auto batch_table = compiled(args, "batch_table", c.has_metadata);
  const auto num_m_blocks = compiled(args, "num_m_blocks", c.has_metadata);
  compiled(args, "learnable_sink", false);
  const TensorArg out = musa(args.output("out"));
  const TensorArg lse = musa(args.output("lse"));
  args.integer("cp_world_size", 1, 1);
  args.integer("cp_rank", 0, 0);
  compiled(args, "cp_tot_seqused_k", false);
  args.finish();
  return {q,
          k,
          v,
          out,
          lse,
          cu_seqlens_q,
          cu_seqlens_k,
          seqused_q,
          seqused_k,
          page_table,
          num_splits_dynamic,
          batch_table,
          num_m_blocks,
          max_seqlen_q,
          max_seqlen_kv,
          softmax_scale,
          softcap,
          is_causal,
          window_left,
          window_right,
          attention_chunk,
          num_splits};
}

// Sizes that follow from the tensors, as the kernel derives them.
struct Sizes {
  int64_t batch, q_heads, kv_heads, dim_qk, dim_v, seqlen_q, seqlen_k;
};

Sizes check_forward(const ForwardConfig& c, const Args& args, const Forward& f) {
  Sizes s = {};
  f.q.require_rank(f.ragged_q() ? 3 : 4).require_dtype(c.is_fp16 ? Dtype::kFloat16 : Dtype::kBFloat16);
  const int32_t rank_q = f.q.rank();
  const int32_t rank_k = f.ragged_k() ? 3 : 4;
  f.k.require_rank(rank_k).require_same_dtype(f.q);
  f.v.require_rank(rank_k).require_same_dtype(f.q);
  s.q_heads = f.q.shape(rank_q - 2);
  s.kv_heads = f.k.shape(rank_k - 2);
  s.dim_qk = f.q.shape(rank_q - 1);
  s.dim_v = f.v.shape(rank_k - 1);
  args.require(s.kv_heads > 0 && s.q_heads == s.kv_heads * c.head_ratio,
               "the heads have another ratio than this kernel is compiled for");
  f.q.require(rounded_dim(s.dim_qk) == c.head_dim_qk, "has a head dim that this kernel is not compiled for");
  f.v.require(rounded_dim(s.dim_v) == c.head_dim_vo, "has a head dim that this kernel is not compiled for");
  f.v.require((s.dim_v == c.head_dim_vo) == c.is_even_headdim, "has a head dim that is_even_headdim does not fit");
  args.require(f.max_seqlen_q.has_value(), "max_seqlen_q is None");
  s.seqlen_q = f.ragged_q() ? *f.max_seqlen_q : f.q.shape(1);
  args.require(*f.max_seqlen_q == s.seqlen_q, "max_seqlen_q is not the length of q");
  s.batch = f.ragged_q() ? f.cu_seqlens_q->shape(0) - 1 : f.q.shape(0);
  args.require(s.batch > 0, "there is no sequence");
  if (f.ragged_q()) require_index(*f.cu_seqlens_q, s.batch + 1);
  if (f.seqused_q) require_index(*f.seqused_q, s.batch);
  if (f.seqused_k) require_index(*f.seqused_k, s.batch);
  if (f.page_table) {
    f.page_table->require_dtype(Dtype::kInt32).require_rank(2).require_shape({s.batch, -1}, "[batch, pages]");
    f.k.require_shape({-1, -1, s.kv_heads, s.dim_qk}, "[pages, page size, kv heads, head dim]");
    f.v.require_shape({f.k.shape(0), f.k.shape(1), s.kv_heads, s.dim_v}, "[pages, page size, kv heads, head dim of v]");
    f.k.require(c.force_lsu_kv == (f.k.shape(1) != kFastPageSize), "has a page size that force_lsu_kv does not fit");
    s.seqlen_k = f.page_table->shape(1) * f.k.shape(1);
    args.require(!f.max_seqlen_kv.has_value(), "max_seqlen_kv is given with a page table");
  } else if (f.ragged_k()) {
    require_index(*f.cu_seqlens_k, s.batch + 1);
    f.k.require_shape({-1, s.kv_heads, s.dim_qk}, "[tokens, kv heads, head dim]");
    f.v.require_shape({f.k.shape(0), s.kv_heads, s.dim_v}, "[tokens, kv heads, head dim of v]");
    args.require(f.max_seqlen_kv.has_value(), "max_seqlen_kv is None with cu_seqlens_k");
    s.seqlen_k = *f.max_seqlen_kv;
  } else {
    f.k.require_shape({s.batch, -1, s.kv_heads, s.dim_qk}, "[batch, tokens, kv heads, head dim]");
    f.v.require_shape({s.batch, f.k.shape(1), s.kv_heads, s.dim_v}, "[batch, tokens, kv heads, head dim of v]");
    s.seqlen_k = f.k.shape(1);
  }
  f.out.require_same_dtype(f.q);
  f.lse.require_dtype(Dtype::kFloat32);
  if (f.ragged_q()) {
    f.out.require_shape({f.q.shape(0), s.q_heads, s.dim_v}, "[tokens, q heads, head dim of v]");
    f.lse.require_shape({s.q_heads, f.q.shape(0)}, "[q heads, tokens]");
  } else {
    f.out.require_shape({s.batch, s.seqlen_q, s.q_heads, s.dim_v}, "[batch, tokens, q heads, head dim of v]");
    f.lse.require_shape({s.batch, s.q_heads, s.seqlen_q}, "[batch, q heads, tokens]");
  }
  // The masks that the kernel is compiled for, and windows that are resolved.
  args.require(f.is_causal == c.is_causal, "is_causal is not what this kernel is compiled for");
  args.require((f.attention_chunk > 0) == c.has_attention_chunk, "attention_chunk does not fit has_attention_chunk");
  if (!c.is_local) {
    args.require(f.window_left == s.seqlen_k - 1, "window_left does not reach over all keys");
    args.require(f.window_right == (c.is_causal ? 0 : s.seqlen_q - 1), "window_right does not fit the mask");
  }
  args.require((f.softcap != 0) == c.has_softcap, "softcap does not fit has_softcap");
  for (const auto* t : {&f.num_splits_dynamic, &f.batch_table, &f.num_m_blocks}) {
    if (*t) require_index(**t, s.batch);
  }
  return s;
}

TVMFFIAny argument(int32_t index) { return current_call().args[index]; }

bool run_on_host_kernels(const Args& args, const Forward& f, const Sizes& s) {
  if (f.seqused_q || f.attention_chunk > 0 || !host_has_head_dims(s.dim_qk, s.dim_v)) return false;
  const TVMFFIAny none = {};
  TVMFFIAny causal = any_int(f.is_causal);
  if (f.page_table && f.ragged_q() && s.dim_qk == s.dim_v) {
    const TVMFFIAny values[] = {argument(0),
                                argument(1),
                                argument(2),
                                argument(13),
                                argument(10),
                                argument(6),
                                any_int(s.seqlen_q),
                                any_float(f.softmax_scale),
                                argument(34),
                                argument(35),
                                causal,
                                any_int(f.window_left),
                                any_int(f.window_right),
                                any_float(f.softcap),
                                any_int(1),
                                none};
    call_host(args, &__tvm_ffi_paged_attention, values, 16);
    return true;
  }
  if (f.page_table || f.seqused_k || f.ragged_q() != f.ragged_k()) return false;
  const TVMFFIAny values[] = {argument(0),
                              argument(1),
                              argument(2),
                              any_float(f.softmax_scale),
                              argument(34),
                              argument(35),
                              causal,
                              argument(6),
                              argument(7),
                              any_int(s.seqlen_q),
                              any_int(s.seqlen_k),
                              any_int(f.window_left),
                              any_int(f.window_right),
                              any_float(f.softcap)};
  call_host(args, &__tvm_ffi_fmha_prefill, values, 14);
  return true;
}

void forward(Args& args) {
  const auto& c = *static_cast<const ForwardConfig*>(current_call().config);
  const Forward f = read_forward(c, args);
  const Sizes s = check_forward(c, args, f);
  const int32_t splits = c.has_metadata ? choose_splits(f.num_splits, s.seqlen_k, c.tile_n) : 1;
  // As in mate they are allocated in every call, used or not.
  const int64_t tokens = f.ragged_q() ? f.q.shape(0) : s.seqlen_q;
  const int64_t outer = f.ragged_q() ? 1 : s.batch;
  return_pair(args, [&](TVMFFIAny* returned) {
    ArrayObject* array = new_array(2);
    set_object(&returned[0], array);
    set(&returned[1], kTVMFFIInt, splits);
    TVMFFIAny* accumulators = array->elements();
    set_object(&accumulators[0], allocate(args, Dtype::kFloat32, {outer, s.q_heads, splits, tokens, s.dim_v}));
    set_object(&accumulators[1], allocate(args, Dtype::kFloat32, {outer, s.q_heads, splits, tokens}));
    if (c.has_metadata || !run_on_host_kernels(args, f, s)) {
      Attention a = {};
      set_inputs(a, f.q, f.k, f.v);
      a.queries = {index_of(f.cu_seqlens_q), index_of(f.seqused_q), s.seqlen_q};
      a.keys = {index_of(f.cu_seqlens_k), index_of(f.seqused_k), s.seqlen_k};
      if (f.page_table) {
        a.page_table = index_of(f.page_table);
        a.page_table_stride = f.page_table->stride(0);
        a.pages = f.k.shape(0);
        a.page_size = f.k.shape(1);
      }
      a.batch = static_cast<int32_t>(s.batch);
      a.q_heads = static_cast<int32_t>(s.q_heads);
      a.kv_heads = static_cast<int32_t>(s.kv_heads);
      a.dim_qk = static_cast<int32_t>(s.dim_qk);
      a.dim_v = static_cast<int32_t>(s.dim_v);
      a.softmax_scale = static_cast<float>(f.softmax_scale);
      a.softcap = static_cast<float>(f.softcap);
      a.left = f.window_left;
      a.right = f.window_right;
      a.chunk = f.attention_chunk;
      set_results(a, f.out, f.lse);
      a.is_split = c.has_metadata;
      if (a.is_split) {
        a.splits = {static_cast<float*>(tensor_of(accumulators[0].v_ptr).data),
                    static_cast<float*>(tensor_of(accumulators[1].v_ptr).data),
                    index_of(f.num_splits_dynamic),
                    index_of(f.batch_table),
                    tokens,
                    splits,
                    c.tile_n};
      }
      args.check_runtime(launch_attention(a, "fmha_fwd", args.stream()), "launch");
    }
  });
}

// ---- metadata

void metadata(Args& args) {
  const auto& c = *static_cast<const MetadataConfig*>(current_call().config);
  const int64_t batch = args.integer("batch_size", 1, INT32_MAX);
  const int64_t q_heads = args.integer("num_heads_q", 1, INT32_MAX);
  const int64_t kv_heads = args.integer("num_heads_kv", 1, INT32_MAX);
  args.integer("headdim", 1, 512);
  args.integer("headdim_v", 1, 512);
  const int64_t max_seqlen_q = args.integer("max_seqlen_q", 1, INT32_MAX);
  const int64_t max_seqlen_k = args.integer("max_seqlen_k", 1, INT32_MAX);
  args.integer("max_seqlen_k_new", 0, 0);
  const auto cu_seqlens_q = compiled(args, "cu_seqlens_q", c.has_cu_seqlens_q);
  const auto cu_seqlens_k = compiled(args, "cu_seqlens_k", c.has_cu_seqlens_k);
  const auto seqused_q = compiled(args, "seqused_q", c.has_seqused_q);
  const auto seqused_k = compiled(args, "seqused_k", c.has_seqused_k);
  compiled(args, "cu_seqlens_k_new", false);
  const int64_t window_left = args.integer("window_size_left", 0, INT32_MAX);
  const int64_t window_right = args.integer("window_size_right", 0, INT32_MAX);
  compiled(args, "leftpad_k", false);
  const TensorArg num_splits_dynamic = musa(args.output("num_splits_dynamic"));
  const TensorArg batch_table = musa(args.output("batch_table"));
  const TensorArg num_m_blocks = musa(args.output("num_m_blocks"));
  const TensorArg num_nheads_in_l2 = musa(args.output("num_nheads_in_l2"));
  const int64_t num_splits = args.integer("num_splits", INT32_MIN, kMostSplits);
  const int64_t tile_m = args.integer("TileM", 32, 256);
  const int64_t tile_n = args.integer("TileN", 64, 64);
  args.integer("mp_margin", 0, INT32_MAX);
  args.finish();

  args.require(q_heads == kv_heads * c.head_ratio, "the heads have another ratio than this kernel is compiled for");
  args.require(std::min<int64_t>(ceil_div(batch, kSequencesOfWarp), 32) == c.num_warps,
               "the batch takes another number of warps than this kernel is compiled for");
  args.require(tile_m == 32 || tile_m % 64 == 0, "TileM is no tile of mate's");
  if (cu_seqlens_q) require_index(*cu_seqlens_q, batch + 1);
  if (cu_seqlens_k) require_index(*cu_seqlens_k, batch + 1);
  if (seqused_q) require_index(*seqused_q, batch);
  if (seqused_k) require_index(*seqused_k, batch);
  for (const auto* t : {&num_splits_dynamic, &batch_table, &num_m_blocks, &num_nheads_in_l2}) require_index(*t, batch);
  if (!c.is_local) {
    args.require(window_left == max_seqlen_k - 1, "window_size_left does not reach over all keys");
    args.require(window_right == (c.is_causal ? 0 : max_seqlen_q - 1), "window_size_right does not fit the mask");
  }
  Schedule s = {};
  s.queries = {index_of(cu_seqlens_q), index_of(seqused_q), max_seqlen_q};
  s.keys = {index_of(cu_seqlens_k), index_of(seqused_k), max_seqlen_k};
  s.batch = static_cast<int32_t>(batch);
  s.rows_of_query = c.is_packgqa ? c.head_ratio : 1;
  s.tile_m = static_cast<int32_t>(tile_m);
  s.tile_n = static_cast<int32_t>(tile_n);
  s.most_splits = choose_splits(num_splits, max_seqlen_k, s.tile_n);
  s.num_splits = num_splits_dynamic.data_as<int32_t>();
  s.batch_table = batch_table.data_as<int32_t>();
  s.num_m_blocks = num_m_blocks.data_as<int32_t>();
  s.num_nheads_in_l2 = num_nheads_in_l2.data_as<int32_t>();
  args.check_runtime(launch_schedule(s, "fmha_get_metadata", args.stream()), "launch");
}

// ---- combine

void combine(Args& args) {
  const auto& c = *static_cast<const CombineConfig*>(current_call().config);
  const auto cu_seqlens_q = compiled(args, "cu_seqlens_q", c.has_cu_seqlens_q);
  const auto seqused_q = compiled(args, "seqused_q", c.has_seqused_q);
  const auto max_seqlen_q = args.optional_integer("max_seqlen_q", 1, INT32_MAX);
  const TensorArg out = musa(args.output("out"));
  const TensorArg lse = musa(args.output("lse"));
  const TensorArg out_accum = musa(args.tensor("out_accum"));
  const TensorArg lse_accum = musa(args.tensor("lse_accum"));
  const TensorArg num_splits_dynamic = musa(args.tensor("num_splits_dynamic"));
  const TensorArg batch_table = musa(args.tensor("batch_table"));
  const int64_t num_split = args.integer("num_split", 1, c.max_splits);
  args.finish();

  const bool ragged = cu_seqlens_q.has_value();
  out_accum.require_rank(5).require_dtype(Dtype::kFloat32).require_contiguous();
  const int64_t outer = out_accum.shape(0);
  const int64_t heads = out_accum.shape(1);
  const int64_t tokens = out_accum.shape(3);
  const int64_t dim_v = out_accum.shape(4);
  args.require(out_accum.shape(2) == num_split, "out_accum has another number of splits than num_split");
  lse_accum.require_shape({outer, heads, num_split, tokens}, "that of out_accum")
      .require_dtype(Dtype::kFloat32)
      .require_contiguous();
  const int64_t batch = ragged ? cu_seqlens_q->shape(0) - 1 : outer;
  if (ragged) {
    require_index(*cu_seqlens_q, batch + 1);
    args.require(outer == 1, "out_accum of ragged queries has an outer dimension");
    args.require(max_seqlen_q.has_value(), "max_seqlen_q is None with cu_seqlens_q");
    out.require_shape({tokens, heads, dim_v}, "[tokens, q heads, head dim of v]");
    lse.require_shape({heads, tokens}, "[q heads, tokens]");
  } else {
    out.require_shape({batch, tokens, heads, dim_v}, "[batch, tokens, q heads, head dim of v]");
    lse.require_shape({batch, heads, tokens}, "[batch, q heads, tokens]");
  }
  if (seqused_q) require_index(*seqused_q, batch);
  out.require_dtype(c.is_fp16 ? Dtype::kFloat16 : Dtype::kBFloat16);
  lse.require_dtype(Dtype::kFloat32).require_contiguous();
  require_index(num_splits_dynamic, batch);
  require_index(batch_table, batch);

  Attention a = {};
  a.queries = {index_of(cu_seqlens_q), index_of(seqused_q), tokens};
  a.batch = static_cast<int32_t>(batch);
  a.q_heads = static_cast<int32_t>(heads);
  a.kv_heads = a.q_heads;
  a.dim_v = static_cast<int32_t>(dim_v);
  a.is_split = true;
  set_results(a, out, lse);
  a.splits = {out_accum.data_as<float>(),
              lse_accum.data_as<float>(),
              num_splits_dynamic.data_as<const int32_t>(),
              batch_table.data_as<const int32_t>(),
              tokens,
              static_cast<int32_t>(num_split),
              0};
  args.check_runtime(launch_combine(a, "fmha_fwd_combine", args.stream()), "launch");
}

}  // namespace

int run_forward(const ForwardConfig& config, const char* name, const TVMFFIAny* args, int32_t count,
                TVMFFIAny* result) {
  return run({name, args, count, &config}, &forward, result);
}

int run_metadata(const MetadataConfig& config, const char* name, const TVMFFIAny* args, int32_t count,
                 TVMFFIAny* result) {
  return run({name, args, count, &config}, &metadata, result);
}

int run_combine(const CombineConfig& config, const char* name, const TVMFFIAny* args, int32_t count,
                TVMFFIAny* result) {
  return run({name, args, count, &config}, &combine, result);
}

}  // namespace musabench::mate
