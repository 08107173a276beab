#include "double.h"

MATE_DOUBLE_EXPORT(mla) { return musabench::mate::run_named("mla", args, count, result); }

MATE_DOUBLE_EXPORT(mla_with_kvcache) { return musabench::mate::run_named("mla_with_kvcache", args, count, result); }

MATE_DOUBLE_EXPORT(flash_mla_asm) { return musabench::mate::run_named("flash_mla_asm", args, count, result); }

MATE_DOUBLE_EXPORT(get_mla_decoding_metadata) {
  return musabench::mate::run_named("get_mla_decoding_metadata", args, count, result);
}

MATE_DOUBLE_EXPORT(dispatch_mla_impl_for_fa_interface) {
  return musabench::mate::run_named("dispatch_mla_impl_for_fa_interface", args, count, result);
}
