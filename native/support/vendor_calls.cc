// Functions of vendors' libraries as TVM-FFI calls: prepared, launched and captured as kernels are.
#include <climits>
#include <string>

#include "common.h"

namespace {

using musabench::fail;

const DLTensor* tensor(const TVMFFIAny& any) {
  if (any.type_index == kTVMFFIDLTensorPtr) return static_cast<const DLTensor*>(any.v_ptr);
  if (any.type_index == kTVMFFITensor) return reinterpret_cast<const DLTensor*>(any.v_obj + 1);
  return nullptr;
}

char* data(const DLTensor& t) { return static_cast<char*>(t.data) + t.byte_offset; }

bool is_matrix(const DLTensor* t) {
  return t != nullptr && t->ndim == 2 && (t->shape[1] <= 1 || t->strides[1] == 1) && t->shape[0] <= INT_MAX &&
         t->shape[1] <= INT_MAX && t->strides[0] <= INT_MAX;
}

// Elements from one row to the next. Of a single row it says nothing, and BLAS wants at least the columns.
int row(const DLTensor& t) {
  const int64_t columns = t.shape[1];
  return static_cast<int>(t.shape[0] <= 1 && t.strides[0] < columns ? columns : t.strides[0]);
}

constexpr int32_t kGemmArguments = 11;
constexpr int32_t kFixedReduceArguments = 5;
constexpr int32_t kArgumentsOfRank = 4;

}  // namespace

int mb_gemm_ex(void*, const TVMFFIAny* args, int32_t num_args, TVMFFIAny*) {
  using GemmEx = int (*)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                         const void*, void*, int, int, int, int);
  if (num_args != kGemmArguments) return fail("TypeError", "gemm_ex: wanted 11 arguments");
  const auto gemm_ex = reinterpret_cast<GemmEx>(args[0].v_ptr);
  const DLTensor* a = tensor(args[2]);
  const DLTensor* b = tensor(args[3]);
  const DLTensor* out = tensor(args[4]);
  if (!is_matrix(a) || !is_matrix(b) || !is_matrix(out)) {
    return fail("TypeError", "gemm_ex: wanted matrices a, b and out with contiguous rows");
  }
  if (a->shape[1] != b->shape[1] || out->shape[0] != a->shape[0] || out->shape[1] != b->shape[0]) {
    return fail("ValueError", "gemm_ex: the shapes of a [M, K], b [N, K] and out [M, N] do not fit");
  }
  const auto value = [&](int32_t i) { return static_cast<int>(args[i].v_int64); };
  // Read by the host while the call is queued: the pointer mode of a new handle is the host's.
  static const float alpha = 1;
  static const float beta = 0;
  // BLAS stores columns: what is [M, N] by rows is [N, M] to it. So it is asked for b . a^T, with b^T stored.
  const int status =
      gemm_ex(args[1].v_ptr, value(6), value(5), static_cast<int>(out->shape[1]), static_cast<int>(out->shape[0]),
              static_cast<int>(a->shape[1]), &alpha, data(*b), value(7), row(*b), data(*a), value(7), row(*a), &beta,
              data(*out), value(8), row(*out), value(9), value(10));
  return status == 0 ? 0 : fail("RuntimeError", "returned status " + std::to_string(status));
}

int mb_all_reduce(void*, const TVMFFIAny* args, int32_t num_args, TVMFFIAny*) {
  using Group = int (*)();
  using AllReduce = int (*)(const void*, void*, size_t, int, int, void*, void*);
  const int32_t ranks = (num_args - kFixedReduceArguments) / kArgumentsOfRank;
  if (ranks < 1 || num_args != kFixedReduceArguments + ranks * kArgumentsOfRank) {
    return fail("TypeError", "all_reduce: wanted 5 arguments and 4 for each rank");
  }
  const auto group_start = reinterpret_cast<Group>(args[0].v_ptr);
  const auto all_reduce = reinterpret_cast<AllReduce>(args[1].v_ptr);
  const auto group_end = reinterpret_cast<Group>(args[2].v_ptr);
  int status = group_start();
  if (status != 0) return fail("RuntimeError", "GroupStart returned status " + std::to_string(status));
  for (int32_t rank = 0; rank < ranks && status == 0; ++rank) {
    const TVMFFIAny* own = args + kFixedReduceArguments + rank * kArgumentsOfRank;
    const DLTensor* send = tensor(own[0]);
    const DLTensor* receive = tensor(own[1]);
    if (send == nullptr || receive == nullptr) {
      group_end();
      return fail("TypeError", "all_reduce: wanted a tensor to send and one to receive");
    }
    size_t count = 1;
    for (int32_t i = 0; i < send->ndim; ++i) count *= static_cast<size_t>(send->shape[i]);
    status = all_reduce(data(*send), data(*receive), count, static_cast<int>(args[3].v_int64),
                        static_cast<int>(args[4].v_int64), own[2].v_ptr, own[3].v_ptr);
  }
  const int ended = group_end();  // also after an error: an open group would swallow whatever comes next
  if (status == 0) status = ended;
  return status == 0 ? 0 : fail("RuntimeError", "returned status " + std::to_string(status));
}
