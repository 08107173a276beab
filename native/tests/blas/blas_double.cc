// A stand-in for mublasGemmEx and cublasGemmEx and what they need, for tests of whoever calls them: the exported names,
// argument lists and enum values of each library. It checks every argument and computes on the host device. Values are
// those of cuBLAS 12's headers and, for muBLAS, of muBLAS 1.10 (MUSA 5.1) as users of it have written them down; the
// real libraries were never called.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "abi/musart_host.h"
#include "kernels/host/launch.h"
#include "tests/elements.h"

namespace {

#ifdef BLAS_DOUBLE_IS_mublas
constexpr int kOpN = 111;
constexpr int kOpT = 112;
constexpr int kAlgorithm = 0;
#define EXPORTED(name) mublas##name
#define EXPORTED_V2(name) mublas##name
#else
constexpr int kOpN = 0;
constexpr int kOpT = 1;
constexpr int kAlgorithm = -1;
#define EXPORTED(name) cublas##name
#define EXPORTED_V2(name) cublas##name##_v2
#endif

constexpr int kF32 = 0;
constexpr int kF16 = 2;
constexpr int kBf16 = 14;
constexpr int kCompute32F = 68;
using Elements = musabench::Elements<kF32, kF16, kBf16>;

enum Status { kSuccess = 0, kNotInitialized = 1, kInvalidValue = 7, kExecutionFailed = 13, kNotSupported = 15 };

constexpr uint32_t kMagic = 0xb1a5b1a5;
struct Handle {
  uint32_t magic;
  void* stream;
  void* workspace;
  size_t workspace_bytes;
};

std::atomic<int> live_handles{0};

// c[i, j] = sum over p of a[p, i] b[p, j], all of them stored by columns: a transposed, b not.
struct Gemm {
  const void* a;
  const void* b;
  void* c;
  int m, n, k, lda, ldb, ldc, type, c_type;
};

void run_column(const void* params, uint32_t column, uint32_t) {
  const Gemm& g = *static_cast<const Gemm*>(params);
  const int64_t j = column;
  for (int64_t i = 0; i < g.m; ++i) {
    float sum = 0;
    for (int64_t p = 0; p < g.k; ++p) {
      sum += Elements::read(g.a, g.type, i * g.lda + p) * Elements::read(g.b, g.type, j * g.ldb + p);
    }
    Elements::write(g.c, g.c_type, j * g.ldc + i, sum);
  }
}

Handle* valid(void* handle) {
  auto* h = static_cast<Handle*>(handle);
  return h != nullptr && h->magic == kMagic ? h : nullptr;
}

int refuse(int status, const char* why) {
  std::fprintf(stderr, "blas test double: %s\n", why);
  return status;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int EXPORTED_V2(Create)(void** handle) {
  if (handle == nullptr) return kInvalidValue;
  *handle = new Handle{kMagic, nullptr, nullptr, 0};
  ++live_handles;
  return kSuccess;
}

int EXPORTED_V2(Destroy)(void* handle) {
  Handle* h = valid(handle);
  if (h == nullptr) return kNotInitialized;
  h->magic = 0;
  delete h;
  --live_handles;
  return kSuccess;
}

int EXPORTED_V2(GetVersion)(void* handle, int* version) {
  if (valid(handle) == nullptr || version == nullptr) return kInvalidValue;
  *version = 11006;
  return kSuccess;
}

int EXPORTED_V2(SetStream)(void* handle, void* stream) {
  Handle* h = valid(handle);
  if (h == nullptr) return kNotInitialized;
  h->stream = stream;
  h->workspace = nullptr;  // as cuBLAS: back to its own
  h->workspace_bytes = 0;
  return kSuccess;
}

int EXPORTED_V2(SetWorkspace)(void* handle, void* workspace, size_t bytes) {
  Handle* h = valid(handle);
  if (h == nullptr) return kNotInitialized;
  if (workspace == nullptr && bytes > 0) return kInvalidValue;
  if (reinterpret_cast<uintptr_t>(workspace) % 256 != 0) return refuse(kInvalidValue, "the workspace is not aligned");
  h->workspace = workspace;
  h->workspace_bytes = bytes;
  return kSuccess;
}

int EXPORTED(GemmEx)(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a,
                     int a_type, int lda, const void* b, int b_type, int ldb, const void* beta, void* c, int c_type,
                     int ldc, int compute_type, int algorithm) {
  Handle* h = valid(handle);
  if (h == nullptr) return kNotInitialized;
  if (op_a != kOpT || op_b != kOpN) return refuse(kNotSupported, "only a transposed and b as it is are computed here");
  if (m < 1 || n < 1 || k < 1) return refuse(kInvalidValue, "m, n or k is below 1");
  if (alpha == nullptr || *static_cast<const float*>(alpha) != 1) return refuse(kInvalidValue, "alpha is not 1");
  if (beta == nullptr || *static_cast<const float*>(beta) != 0) return refuse(kInvalidValue, "beta is not 0");
  if (a == nullptr || b == nullptr || c == nullptr) return refuse(kInvalidValue, "a matrix is null");
  if (a_type != b_type || (a_type != kF16 && a_type != kBf16)) return refuse(kNotSupported, "the type of a and b");
  if (c_type != a_type && c_type != kF32) return refuse(kNotSupported, "the type of c");
  if (lda < k || ldb < k || ldc < m) return refuse(kInvalidValue, "a leading dimension is too small");
  if (compute_type != kCompute32F) return refuse(kNotSupported, "the compute type is not 32F");
  if (algorithm != kAlgorithm) return refuse(kInvalidValue, "the algorithm is not the default");
  if (h->workspace == nullptr) return refuse(kExecutionFailed, "no workspace is set: a capture would allocate one");
  const Gemm gemm = {a, b, c, m, n, k, lda, ldb, ldc, a_type, c_type};
  const int64_t bytes = int64_t{n} * ldc * Elements::bytes(c_type);
  const int code = musabench::launch_blocks("gemm_ex", run_column, n, gemm, c, bytes, h->stream);
  return code == 0 ? kSuccess : kExecutionFailed;
}

// For leak tests.
int blas_double_live_handles() { return live_handles; }

}  // extern "C"
#pragma GCC visibility pop
