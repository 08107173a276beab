// A stand-in for mate 0.2.2 (commit 3f58cc3), for tests of whoever calls it: shared objects with its file names, export
// names and argument lists, which check every argument and then compute on the host device. Written from a reading of
// mate's sources, never compared with mate itself: it holds callers to that reading and nothing more. In particular its
// choice of splits and the content of scheduler metadata are its own, as callers must treat both as opaque.
//
// Tensors must be of device type 12 (MUSA). As in mate, a failed check raises InternalError, a wrong number or type of
// argument TypeError, a missing allocator RuntimeError; errors carry a backtrace. MATE_DOUBLE_RAISE=fmha_fwd_:3 makes
// the third call of a kernel whose name begins so raise an error.
#pragma once

#include <cstdint>

#include "abi/tvm_ffi.h"

namespace musabench::mate {

// The keys of a generated forward kernel that this double distinguishes, by mate's names.
struct ForwardConfig {
  bool is_fp16;
  bool force_lsu_kv;
  bool has_attention_chunk;
  bool has_cu_seqlens_k;
  bool has_cu_seqlens_q;
  bool has_metadata;
  bool has_seqused_k;
  bool has_seqused_q;
  bool has_softcap;
  bool is_causal;
  bool is_even_headdim;
  bool is_local;
  bool is_packgqa;
  bool paged_kv;
  int32_t head_dim_qk;
  int32_t head_dim_vo;
  int32_t head_ratio;
  int32_t tile_m;
  int32_t tile_n;
};

struct MetadataConfig {
  bool has_cu_seqlens_k;
  bool has_cu_seqlens_q;
  bool has_seqused_k;
  bool has_seqused_q;
  bool is_causal;
  bool is_local;
  bool is_packgqa;
  int32_t head_ratio;
  int32_t num_warps;
};

struct CombineConfig {
  bool is_fp16;
  bool has_cu_seqlens_q;
  bool has_seqused_q;
  int32_t max_splits;
};

#pragma GCC visibility push(default)
int run_forward(const ForwardConfig& config, const char* name, const TVMFFIAny* args, int32_t count, TVMFFIAny* result);
int run_metadata(const MetadataConfig& config, const char* name, const TVMFFIAny* args, int32_t count,
                 TVMFFIAny* result);
int run_combine(const CombineConfig& config, const char* name, const TVMFFIAny* args, int32_t count, TVMFFIAny* result);
int run_named(const char* name, const TVMFFIAny* args, int32_t count, TVMFFIAny* result);
#pragma GCC visibility pop

}  // namespace musabench::mate

#define MATE_DOUBLE_TEXT_(x) #x
#define MATE_DOUBLE_TEXT(x) MATE_DOUBLE_TEXT_(x)
#define MATE_DOUBLE_SYMBOL_(name) __tvm_ffi_##name
#define MATE_DOUBLE_SYMBOL(name) MATE_DOUBLE_SYMBOL_(name)
#define MATE_DOUBLE_EXPORT(name)                                                                               \
  extern "C" __attribute__((visibility("default"))) int MATE_DOUBLE_SYMBOL(name)(void*, const TVMFFIAny* args, \
                                                                                 int32_t count, TVMFFIAny* result)
