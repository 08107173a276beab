// One metadata kernel: CMake defines its name and its keys.
#include "double.h"

MATE_DOUBLE_EXPORT(MATE_NAME) {
  static constexpr musabench::mate::MetadataConfig config = {
      MATE_has_cu_seqlens_k, MATE_has_cu_seqlens_q, MATE_has_seqused_k, MATE_has_seqused_q, MATE_is_causal,
      MATE_is_local,         MATE_is_packgqa,       MATE_head_ratio,    MATE_num_warps};
  return musabench::mate::run_metadata(config, MATE_DOUBLE_TEXT(MATE_NAME), args, count, result);
}
