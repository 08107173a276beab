// One forward kernel: CMake defines its name and its keys.
#include "double.h"

MATE_DOUBLE_EXPORT(MATE_NAME) {
  static constexpr musabench::mate::ForwardConfig config = {MATE_is_fp16,
                                                            MATE_force_lsu_kv,
                                                            MATE_has_attention_chunk,
                                                            MATE_has_cu_seqlens_k,
                                                            MATE_has_cu_seqlens_q,
                                                            MATE_has_metadata,
                                                            MATE_has_seqused_k,
                                                            MATE_has_seqused_q,
                                                            MATE_has_softcap,
                                                            MATE_is_causal,
                                                            MATE_is_even_headdim,
                                                            MATE_is_local,
                                                            MATE_is_packgqa,
                                                            MATE_paged_kv,
                                                            MATE_head_dim_qk,
                                                            MATE_head_dim_vo,
                                                            MATE_head_ratio,
                                                            MATE_tile_m,
                                                            MATE_tile_n};
  return musabench::mate::run_forward(config, MATE_DOUBLE_TEXT(MATE_NAME), args, count, result);
}
