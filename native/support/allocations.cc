#include "common.h"

namespace {

using musabench::now_ns;

constexpr int32_t kMostTensors = 64;

int run_round(DLTensor* prototype, int32_t tensors) {
  TVMFFIObjectHandle made[kMostTensors];
  int32_t count = 0;
  int code = 0;
  while (count < tensors && (code = TVMFFIEnvTensorAlloc(prototype, &made[count])) == 0) ++count;
  while (count > 0) TVMFFIObjectDecRef(made[--count]);
  return code;
}

}  // namespace

int mb_allocations_measure(DLTensor* prototype, int32_t tensors, int32_t rounds, int64_t* nanos) {
  if (prototype == nullptr || nanos == nullptr || tensors < 1 || tensors > kMostTensors || rounds < 0) {
    return MB_ERROR_ARGUMENT;
  }
  int code = run_round(prototype, tensors);
  for (int32_t i = 0; i < rounds && code == 0; ++i) {
    const int64_t begin = now_ns();
    code = run_round(prototype, tensors);
    nanos[i] = now_ns() - begin;
  }
  return code;
}
