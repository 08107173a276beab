// The kernels with fixed names: flash_atten_varlen_asm and those of mla_ops.
#include <algorithm>
#include <cstring>
#include <string>

#include "abi/musa_runtime.h"
#include "attention.h"
#include "checks.h"
#include "double.h"

extern "C" int __tvm_ffi_fmha_prefill(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);

namespace musabench::mate {
namespace {

constexpr int64_t kLatent = 512;
constexpr int64_t kRope = 64;
constexpr int64_t kPageSize = 64;
constexpr int64_t kMetadataColumns = 8;
constexpr int64_t kTileM = 128;
// flash_mla_asm reads latent and rope as one row of a cache.
constexpr int64_t kRowOfAsm = kLatent + kRope;
constexpr int kAttributeMultiProcessorCount = 16;

// ---- flash_atten_varlen_asm

void flash_atten_varlen_asm(Args& args) {
  const TensorArg q = musa(args.tensor("q"));
  const TensorArg k = musa(args.tensor("k"));
  const TensorArg v = musa(args.tensor("v"));
  const double softmax_scale = args.number("softmax_scale");
  const TensorArg out = musa(args.output("out"));
  const TensorArg lse = musa(args.output("out_lse"));
  const bool is_causal = args.boolean("is_causal");
  const auto cu_q = musa(args.optional_tensor("cu_seqlens_q"));
  const auto cu_k = musa(args.optional_tensor("cu_seqlens_k"));
  const auto max_q = args.optional_integer("max_seqlen_q", 1, INT32_MAX);
  const auto max_k = args.optional_integer("max_seqlen_kv", 1, INT32_MAX);
  args.finish();

  args.require(cu_q.has_value() == cu_k.has_value(), "one of cu_seqlens_q and cu_seqlens_k is None");
  const bool ragged = cu_q.has_value();
  const int32_t rank = ragged ? 3 : 4;
  q.require_rank(rank).require_dtype({Dtype::kBFloat16, Dtype::kFloat16});
  for (const TensorArg* t : {&k, &v, &out}) t->require_rank(rank).require_same_dtype(q);
  const int64_t heads = q.shape(rank - 2);
  const int64_t kv_heads = k.shape(rank - 2);
  const int64_t dim = q.shape(rank - 1);
  const int64_t dim_v = v.shape(rank - 1);
  args.require((dim == 192 && dim_v == 128) || (dim == dim_v && dim <= 128), "HeadDim unsupported");
  args.require(kv_heads > 0 && heads % kv_heads == 0, "nr_heads must be divisible by nr_heads_kv");
  out.require_contiguous();
  lse.require_dtype(Dtype::kFloat32).require_contiguous();
  if (ragged) {
    args.require(max_q.has_value() && max_k.has_value(), "max_seqlen_q and max_seqlen_kv must be provided for varlen");
    cu_q->require(cu_q->rank() == 1 && cu_q->shape(0) > 0, "is not [batch + 1]");
    require_index(*cu_q, cu_q->shape(0));
    require_index(*cu_k, cu_q->shape(0));
    k.require_shape({-1, kv_heads, dim});
    v.require_shape({k.shape(0), kv_heads, dim_v});
    out.require_shape({q.shape(0), heads, dim_v});
    lse.require_shape({heads, q.shape(0)});
  } else {
    k.require_shape({q.shape(0), -1, kv_heads, dim});
    v.require_shape({q.shape(0), k.shape(1), kv_heads, dim_v});
    out.require_shape({q.shape(0), q.shape(1), heads, dim_v});
    lse.require_shape({q.shape(0), heads, q.shape(1)});
  }
  if (host_has_head_dims(dim, dim_v)) {
    TVMFFIAny values[14];
    std::copy(current_call().args, current_call().args + 11, values);
    values[11] = any_int(-1);
    values[12] = any_int(-1);
    values[13] = any_float(0);
    return call_host(args, &__tvm_ffi_fmha_prefill, values, 14);
  }
  Attention a = {};
  set_inputs(a, q, k, v);
  a.queries = {index_of(cu_q), nullptr, ragged ? 0 : q.shape(1)};
  a.keys = {index_of(cu_k), nullptr, ragged ? 0 : k.shape(1)};
  a.batch = static_cast<int32_t>(ragged ? cu_q->shape(0) - 1 : q.shape(0));
  a.q_heads = static_cast<int32_t>(heads);
  a.kv_heads = static_cast<int32_t>(kv_heads);
  a.dim_qk = static_cast<int32_t>(dim);
  a.dim_v = static_cast<int32_t>(dim_v);
  a.softmax_scale = static_cast<float>(softmax_scale);
  a.left = INT32_MAX;
  a.right = is_causal ? 0 : INT32_MAX;
  set_results(a, out, lse);
  args.check_runtime(launch_attention(a, "flash_atten_varlen_asm", args.stream()), "launch");
}

// ---- multi-head latent attention

// The first arguments of each of them.
struct MlaInputs {
  TensorArg q_nope, q_pe, ckv, kpe;
};

// mla_with_kvcache has names of its own for the queries.
MlaInputs read_inputs(Args& args, const char* q_nope = "q_nope", const char* q_pe = "q_pe") {
  return {musa(args.tensor(q_nope)), musa(args.tensor(q_pe)), musa(args.tensor("ckv")), musa(args.tensor("kpe"))};
}

struct Mla : MlaInputs {
  TensorArg seqlens, page_table, out, lse;
  std::optional<TensorArg> cu_seqlens_q;
  std::optional<int64_t> max_seqlen_q;
  double softmax_scale;
  bool is_causal;
};

// Checks and launches. `accumulates`: allocates partial results as mate does, for so many parts.
void run_mla(Args& args, const char* name, const Mla& m, int64_t accumulated_parts) {
  const bool ragged = m.cu_seqlens_q.has_value();
  const int32_t rank = ragged ? 3 : 4;
  m.q_nope.require_rank(rank).require_dtype({Dtype::kBFloat16, Dtype::kFloat16});
  for (const TensorArg* t : {&m.q_pe, &m.ckv, &m.kpe, &m.out}) t->require_same_dtype(m.q_nope);
  const int64_t heads = m.q_nope.shape(rank - 2);
  const int64_t batch = m.seqlens.shape(0);
  require_index(m.seqlens, batch);
  m.page_table.require_rank(2).require_dtype(Dtype::kInt32).require_shape({batch, -1}, "[batch, pages]");
  args.require(!ragged || m.max_seqlen_q.has_value(), "max_seqlen_q must be provided when cu_seqlens_q is provided");
  if (ragged) {
    require_index(*m.cu_seqlens_q, batch + 1);
    const int64_t tokens = m.q_nope.shape(0);
    m.q_nope.require_shape({tokens, heads, kLatent});
    m.q_pe.require_shape({tokens, heads, kRope});
    m.out.require_shape({tokens, heads, kLatent});
    m.lse.require_shape({heads, tokens}, "[q heads, tokens]");
  } else {
    const int64_t tokens = m.q_nope.shape(1);
    m.q_nope.require_shape({batch, tokens, heads, kLatent});
    m.q_pe.require_shape({batch, tokens, heads, kRope});
    m.out.require_shape({batch, tokens, heads, kLatent});
    m.lse.require_shape({batch, tokens, heads}, "[batch, tokens, q heads]");
    m.out.require(tokens <= 1 || m.out.stride(1) == heads * m.out.stride(2), "has gaps between tokens");
    m.lse.require(tokens <= 1 || m.lse.stride(1) == heads * m.lse.stride(2), "has gaps between tokens");
  }
  const int64_t pages = m.ckv.shape(0);
  if (m.ckv.rank() == 3) {
    m.ckv.require_shape({pages, kPageSize, kLatent}, "[pages, 64, 512]");
    m.kpe.require_shape({pages, kPageSize, kRope}, "[pages, 64, 64]");
  } else {
    m.ckv.require_shape({pages, kPageSize, 1, kLatent}, "[pages, 64, 1, 512]");
    m.kpe.require_shape({pages, kPageSize, 1, kRope}, "[pages, 64, 1, 64]");
  }
  m.lse.require_dtype(Dtype::kFloat32);

  Attention a = {};
  set_inputs(a, m.q_nope, m.ckv, m.ckv);
  a.q_rope = m.q_pe.data();
  a.k_rope = m.kpe.data();
  a.q_rope_strides = strides_of(m.q_pe);
  // One head, with a dimension in the tensor or without.
  a.k_strides = {m.ckv.stride(0), m.ckv.stride(1), 0};
  a.k_rope_strides = {m.kpe.stride(0), m.kpe.stride(1), 0};
  a.v_strides = a.k_strides;
  a.queries = {index_of(m.cu_seqlens_q), nullptr, ragged ? 0 : m.q_nope.shape(1)};
  a.keys = {nullptr, m.seqlens.data_as<const int32_t>(), 0};
  a.page_table = m.page_table.data_as<const int32_t>();
  a.page_table_stride = m.page_table.stride(0);
  a.pages = pages;
  a.page_size = kPageSize;
  a.batch = static_cast<int32_t>(batch);
  a.q_heads = static_cast<int32_t>(heads);
  a.kv_heads = 1;
  a.dim_qk = kLatent;
  a.dim_rope = kRope;
  a.dim_v = kLatent;
  a.softmax_scale = static_cast<float>(m.softmax_scale);
  a.left = INT32_MAX;
  a.right = m.is_causal ? 0 : INT32_MAX;
  set_results(a, m.out, m.lse);
  // [batch, token, head], unlike that of the other kernels, or [head, token].
  if (!ragged) a.lse_strides = {m.lse.stride(0), m.lse.stride(1), m.lse.stride(2)};
  if (accumulated_parts > 0) {
    const int64_t rows = (ragged ? *m.max_seqlen_q : m.q_nope.shape(1)) * heads;
    const Scratch lse(allocate(args, Dtype::kFloat32, {batch + accumulated_parts, 1, rows}));
    const Scratch out(allocate(args, Dtype::kFloat32, {batch + accumulated_parts, 1, rows, kLatent}));
  }
  args.check_runtime(launch_attention(a, name, args.stream()), "launch");
}

void require_schedule(const TensorArg& metadata, const TensorArg& num_splits, int64_t batch) {
  metadata.require_dtype(Dtype::kInt32).require_shape({-1, kMetadataColumns}, "[parts, 8]").require_contiguous();
  require_index(num_splits, batch + 1);
}

void require_rows_of_asm(const MlaInputs& in) {
  for (const TensorArg* t : {&in.ckv, &in.kpe}) {
    t->require(t->stride(0) % kRowOfAsm == 0 && t->stride(1) % kRowOfAsm == 0,
               "has strides that are no multiple of 576");
  }
}

void mla(Args& args) {
  const MlaInputs in = read_inputs(args);
  const TensorArg page_table = musa(args.tensor("page_table"));
  const TensorArg kv_len = musa(args.tensor("kv_len"));
  const TensorArg out = musa(args.output("out"));
  const TensorArg lse = musa(args.output("lse"));
  const double scale = args.number("sm_scale");
  const bool causal = args.boolean("is_causal");
  args.finish();
  run_mla(args, "mla", {in, kv_len, page_table, out, lse, {}, {}, scale, causal}, 0);
}

void mla_with_kvcache(Args& args) {
  const MlaInputs in = read_inputs(args, "q_latent", "q_rope");
  const TensorArg seqlens = musa(args.tensor("seqlens_k"));
  const auto cu_q = musa(args.optional_tensor("cu_seqlens_q"));
  const auto max_q = args.optional_integer("max_seqlen_q", 1, INT32_MAX);
  const TensorArg table = musa(args.tensor("block_table"));
  const TensorArg metadata = musa(args.tensor("tile_scheduler_metadata"));
  const TensorArg num_splits = musa(args.tensor("num_splits"));
  const TensorArg out = musa(args.output("out"));
  const TensorArg lse = musa(args.output("softmax_lse"));
  const double scale = args.number("softmax_scale");
  const bool causal = args.boolean("is_causal");
  args.finish();
  require_schedule(metadata, num_splits, seqlens.shape(0));
  if (!cu_q) {
    const TensorArg& q = in.q_nope;
    q.require_rank(4).require(q.shape(1) <= 1 || q.stride(1) == q.shape(2) * q.stride(2), "has gaps between tokens");
  }
  run_mla(args, "mla_with_kvcache", {in, seqlens, table, out, lse, cu_q, max_q, scale, causal}, metadata.shape(0));
}

void flash_mla_asm(Args& args) {
  const MlaInputs in = read_inputs(args);
  const TensorArg seqlens = musa(args.tensor("seqlens_k"));
  const TensorArg table = musa(args.tensor("block_table"));
  const TensorArg metadata = musa(args.tensor("tile_scheduler_metadata"));
  const TensorArg num_splits = musa(args.tensor("num_splits"));
  const TensorArg out = musa(args.output("out"));
  const TensorArg lse = musa(args.output("out_lse"));
  const double scale = args.number("softmax_scale");
  const bool causal = args.boolean("is_causal");
  const auto cu_q = musa(args.optional_tensor("cu_seqlens_q"));
  const auto max_q = args.optional_integer("max_seqlen_q", 1, INT32_MAX);
  args.finish();
  require_schedule(metadata, num_splits, seqlens.shape(0));
  require_rows_of_asm(in);
  run_mla(args, "flash_mla_asm", {in, seqlens, table, out, lse, cu_q, max_q, scale, causal}, metadata.shape(0));
}

int64_t parts_of(Args& args, int64_t rows_of_kv_head, int64_t kv_heads) {
  int multiprocessors = 0;
  args.check_runtime(musaDeviceGetAttribute(&multiprocessors, kAttributeMultiProcessorCount, args.device().device_id),
                     "musaDeviceGetAttribute");
  return std::max<int64_t>(multiprocessors / kv_heads / ceil_div(rows_of_kv_head, kTileM), 1);
}

void schedule_mla(Args& args, const char* name, int32_t* metadata, int64_t parts, int32_t* num_splits, int64_t batch) {
  // One part a sequence, whatever the real kernel decides: callers pass both on unread.
  args.check_runtime(launch_fill({metadata, parts * kMetadataColumns, 0, 0}, name, args.stream()), "launch");
  args.check_runtime(launch_fill({num_splits, batch + 1, 0, 1}, name, args.stream()), "launch");
}

void get_mla_decoding_metadata(Args& args) {
  const auto seqlens = musa(args.optional_tensor("seqlens_k"));
  const int64_t rows = args.integer("num_q_tokens_per_head_k", 1, INT32_MAX);
  const int64_t kv_heads = args.integer("h_k", 1, INT32_MAX);
  args.optional_integer("h_q", 1, INT32_MAX);
  const bool is_fp8 = args.boolean("is_fp8_kvcache");
  const auto topk = args.optional_integer("topk");
  const auto metadata = musa(args.optional_output("tile_scheduler_metadata"));
  const auto num_splits = musa(args.optional_output("num_splits"));
  musa(args.optional_tensor("q"));
  args.optional_integer("bs");
  const auto topk_length = args.optional_tensor("topk_length");
  const auto extra_topk_length = args.optional_tensor("extra_topk_length");
  const auto extra_topk = args.optional_integer("extra_topk");
  args.finish();

  args.require(!is_fp8, "Dense FP8 MLA is not supported on MP31");
  args.require(!topk && !topk_length && !extra_topk_length && !extra_topk, "Sparse BF16 MLA is not supported on MP31");
  args.require(seqlens.has_value(), "seqlens_k must be provided when topk is not provided");
  args.require(metadata.has_value() == num_splits.has_value(),
               "tile_scheduler_metadata and num_splits must be both provided or both omitted");
  // These are returned, so they must be objects: a DLTensor pointer does not convert.
  for (const int32_t position : {6, 7}) {
    const TVMFFIAny& value = current_call().args[position];
    if (value.type_index != kTVMFFINone && value.type_index != kTVMFFITensor) {
      throw ExportError("TypeError", std::string(args.kernel()) + ": argument " + std::to_string(position + 1) +
                                         " is a DLTensor pointer, wanted a Tensor object or None");
    }
  }
  const int64_t batch = seqlens->shape(0);
  require_index(*seqlens, batch);
  const int64_t parts = parts_of(args, rows, kv_heads);
  return_pair(args, [&](TVMFFIAny* returned) {
    if (metadata) {
      metadata->require_dtype(Dtype::kInt32).require_shape({parts, kMetadataColumns}).require_contiguous();
      require_index(*num_splits, batch + 1);
      for (const int32_t i : {0, 1}) {
        void* object = current_call().args[6 + i].v_ptr;
        TVMFFIObjectIncRef(object);
        set_object(&returned[i], object);
      }
    } else {
      set_object(&returned[0], allocate(args, Dtype::kInt32, {parts, kMetadataColumns}));
      set_object(&returned[1], allocate(args, Dtype::kInt32, {batch + 1}));
    }
    schedule_mla(args, "get_mla_decoding_metadata", static_cast<int32_t*>(tensor_of(returned[0].v_ptr).data), parts,
                 static_cast<int32_t*>(tensor_of(returned[1].v_ptr).data), batch);
  });
}

void dispatch_mla_impl_for_fa_interface(Args& args) {
  const MlaInputs in = read_inputs(args);
  const TensorArg seqlens = musa(args.tensor("seqlens_k"));
  const TensorArg table = musa(args.tensor("block_table"));
  const double scale = args.number("softmax_scale");
  const bool causal = args.boolean("is_causal");
  const auto cu_q = musa(args.optional_tensor("cu_seqlens_q"));
  const auto max_q = args.optional_integer("max_seqlen_q", 1, INT32_MAX);
  const TensorArg out = musa(args.output("out"));
  const TensorArg lse = musa(args.output("softmax_lse"));
  const auto workspace = musa(args.optional_output("workspace"));
  const bool is_inited = args.boolean("is_inited");
  args.finish();

  args.require(workspace.has_value(), "workspace must be provided");
  args.require(!cu_q || max_q, "max_seqlen_q must be provided when cu_seqlens_q is provided");
  const int64_t heads = in.q_nope.shape(in.q_nope.rank() - 2);
  const int64_t batch = seqlens.shape(0);
  const int64_t parts = parts_of(args, (cu_q ? *max_q : in.q_nope.shape(1)) * heads, 1);
  const int64_t metadata_bytes = parts * kMetadataColumns * static_cast<int64_t>(sizeof(int32_t));
  workspace->require_rank(1).require_dtype(Dtype::kUInt8).require_contiguous().require_alignment(sizeof(int32_t));
  workspace->require(workspace->shape(0) >= metadata_bytes + (batch + 1) * static_cast<int64_t>(sizeof(int32_t)),
                     "is too small for MLA scheduler metadata");
  auto* metadata = workspace->data_as<int32_t>();
  if (!is_inited) {
    schedule_mla(args, "get_mla_decoding_metadata", metadata, parts, metadata + parts * kMetadataColumns, batch);
  }
  if (heads == kTileM) require_rows_of_asm(in);
  run_mla(args, heads == kTileM ? "flash_mla_asm" : "mla_with_kvcache",
          {in, seqlens, table, out, lse, cu_q, max_q, scale, causal}, parts);
}

struct Named {
  const char* name;
  void (*body)(Args&);
};

constexpr Named kNamed[] = {{"flash_atten_varlen_asm", &flash_atten_varlen_asm},
                            {"mla", &mla},
                            {"mla_with_kvcache", &mla_with_kvcache},
                            {"flash_mla_asm", &flash_mla_asm},
                            {"get_mla_decoding_metadata", &get_mla_decoding_metadata},
                            {"dispatch_mla_impl_for_fa_interface", &dispatch_mla_impl_for_fa_interface}};

}  // namespace

int run_named(const char* name, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  for (const Named& named : kNamed) {
    if (std::strcmp(named.name, name) == 0) return run({named.name, args, count, nullptr}, named.body, result);
  }
  TVMFFIErrorSetRaisedFromCStr("InternalError", name);
  return -1;
}

}  // namespace musabench::mate
