#include "isa.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "../environment_error.h"

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
  throw EnvironmentError(std::string("MUSABENCH_ISA is '") + forced + "', wanted scalar" +
                         (best == Isa::kAvx2 ? " or avx2" : ", the only instruction set for this CPU") +
                         " (unset: the best of this CPU)");
}

}  // namespace

Isa host_isa() {
  static const Isa isa = choose();
  return isa;
}

const char* isa_name(Isa isa) { return isa == Isa::kAvx2 ? "avx2" : "scalar"; }

}  // namespace musabench
