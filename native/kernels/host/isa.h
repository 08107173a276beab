// Which instruction set the host kernels use.
#pragma once

namespace musabench {

enum class Isa { kScalar, kAvx2 };

// The best instruction set of this CPU, or the one forced by MUSABENCH_ISA=scalar|avx2 (read once). Throws
// EnvironmentError where it names one that this CPU, or this library, does not have: no kernel runs then.
Isa host_isa();

const char* isa_name(Isa isa);

}  // namespace musabench

// Calls `function` in the namespace of the chosen instruction set. Each kernel is written once, against
// simd.h, and compiled once an instruction set: <file>_scalar.cc, <file>_avx2.cc (and _neon.cc one day).
#ifdef MUSABENCH_HAVE_AVX2
#define MUSABENCH_DISPATCH(function) \
  (::musabench::host_isa() == ::musabench::Isa::kAvx2 ? ::musabench::avx2::function : ::musabench::scalar::function)
#else
#define MUSABENCH_DISPATCH(function) (::musabench::scalar::function)
#endif
