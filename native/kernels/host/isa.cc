#include "isa.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace musabench {
namespace {

bool cpu_has_avx2() {
#ifdef MUSABENCH_HAVE_AVX2
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
#else
  return false;
#endif
}

Isa choose() {
  const Isa best = cpu_has_avx2() ? Isa::kAvx2 : Isa::kScalar;
  const char* forced = std::getenv("MUSABENCH_ISA");
  if (forced == nullptr || *forced == '\0') return best;
  if (std::strcmp(forced, "scalar") == 0) return Isa::kScalar;
  if (std::strcmp(forced, "avx2") == 0 && best == Isa::kAvx2) return Isa::kAvx2;
  std::fprintf(stderr, "musabench: MUSABENCH_ISA=%s is not an instruction set of this CPU (scalar%s); using %s\n",
               forced, best == Isa::kAvx2 ? ", avx2" : "", isa_name(best));
  return best;
}

}  // namespace

Isa host_isa() {
  static const Isa isa = choose();
  return isa;
}

const char* isa_name(Isa isa) { return isa == Isa::kAvx2 ? "avx2" : "scalar"; }

}  // namespace musabench
