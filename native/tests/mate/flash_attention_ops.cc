#include "double.h"

MATE_DOUBLE_EXPORT(flash_atten_varlen_asm) {
  return musabench::mate::run_named("flash_atten_varlen_asm", args, count, result);
}
