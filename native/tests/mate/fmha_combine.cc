// One combine kernel: CMake defines its name and its keys.
#include "double.h"

MATE_DOUBLE_EXPORT(MATE_NAME) {
  static constexpr musabench::mate::CombineConfig config = {MATE_is_fp16, MATE_has_cu_seqlens_q, MATE_has_seqused_q,
                                                            MATE_max_splits};
  return musabench::mate::run_combine(config, MATE_DOUBLE_TEXT(MATE_NAME), args, count, result);
}
