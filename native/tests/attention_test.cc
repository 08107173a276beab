// fmha_prefill and paged_attention against a double-precision reference: random shapes over every head dim, type, mask
// and page size, odd lengths, strided views, graph replay, wrong arguments.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "abi/musa_runtime.h"
#include "abi/tvm_ffi.h"
#include "kernel_test.h"

extern "C" {
int __tvm_ffi_fmha_prefill(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_paged_attention(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_paged_attention_workspace(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
}

namespace musabench {
namespace {

std::mt19937_64 generator(20240731);

int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(generator); }
template <class T>
T one_of(std::initializer_list<T> values) {
  return values.begin()[pick(0, static_cast<int64_t>(values.size()) - 1)];
}
bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(generator) < p; }

// All values of a 16-bit type, and normally distributed ones: the reference reads too many to decode each.
struct HalfValues {
  explicit HalfValues(DLDataType type) : decoded(1 << 16), normal(1 << 12) {
    for (size_t i = 0; i < decoded.size(); ++i) {
      decoded[i] = static_cast<float>(decode_bits(static_cast<uint16_t>(i), type));
    }
    std::normal_distribution<double> draw;
    for (uint16_t& bits : normal) bits = encode_bits(draw(generator), type);
  }
  static const HalfValues& of(DLDataType type) {
    static const HalfValues bf16(kBf16Type);
    static const HalfValues fp16(kFp16Type);
    return type.code == kDLBfloat ? bf16 : fp16;
  }

  std::vector<float> decoded;
  std::vector<uint16_t> normal;
};

// ---- tensors --------------------------------------------------------------------------------------------

constexpr size_t kGuard = 64;
constexpr uint8_t kGuardByte = 0xA5;
// Memory between guards, all bytes 0xff (NaN in every float type) until filled. Gaps between strided rows are guards.
class Tensor {
 public:
  Tensor(DLDataType dtype, std::vector<int64_t> shape, std::vector<int64_t> padding = {})
      : shape_(std::move(shape)), strides_(shape_.size()) {
    int64_t stride = 1;
    for (size_t i = shape_.size(); i-- > 0;) {
      strides_[i] = stride;
      stride *= std::max<int64_t>(1, shape_[i]);
      if (i < padding.size()) stride += padding[i];  // behind every row of dimension i
    }
    element_ = dtype.bits / 8;
    bytes_.assign(static_cast<size_t>(stride) * element_ + 2 * kGuard, kGuardByte);
    dl_.data = bytes_.data() + kGuard;
    dl_.device = {kDLCPU, 0};
    dl_.ndim = static_cast<int32_t>(shape_.size());
    dl_.dtype = dtype;
    dl_.shape = shape_.data();
    dl_.strides = strides_.data();
    dl_.byte_offset = 0;
    poison();
  }
  Tensor(const Tensor&) = delete;

  void poison() {
    each([&](int64_t offset) { std::memset(bytes_.data() + kGuard + offset * element_, 0xff, element_); });
  }
  void fill_normal() {
    const std::vector<uint16_t>& values = HalfValues::of(dl_.dtype).normal;
    each([&](int64_t offset) { half(offset) = values[generator() % values.size()]; });
  }
  // Whether no byte but the elements' was written.
  bool guards_intact() const {
    std::vector<bool> owned(bytes_.size());
    each([&](int64_t offset) {
      for (size_t i = 0; i < element_; ++i) owned[kGuard + offset * element_ + i] = true;
    });
    for (size_t i = 0; i < bytes_.size(); ++i) {
      if (!owned[i] && bytes_[i] != kGuardByte) return false;
    }
    return true;
  }
  int64_t at(std::initializer_list<int64_t> index) const {
    int64_t offset = 0;
    size_t d = 0;
    for (const int64_t i : index) offset += i * strides_[d++];
    return offset;
  }
  uint16_t& half(int64_t offset) { return reinterpret_cast<uint16_t*>(bytes_.data() + kGuard)[offset]; }
  float value(int64_t offset) const {
    const uint8_t* p = bytes_.data() + kGuard + offset * element_;
    if (element_ == 4) {
      float f;
      std::memcpy(&f, p, 4);
      return f;
    }
    uint16_t h;
    std::memcpy(&h, p, 2);
    return HalfValues::of(dl_.dtype).decoded[h];
  }
  int32_t& int_at(int64_t offset) { return reinterpret_cast<int32_t*>(bytes_.data() + kGuard)[offset]; }
  DLTensor* dl() { return &dl_; }
  int64_t shape(size_t i) const { return shape_[i]; }
  int64_t stride(size_t i) const { return strides_[i]; }

 private:
  template <class F>
  void each(F f) const {
    each(f, 0, 0);
  }
  template <class F>
  void each(F f, size_t d, int64_t offset) const {
    if (d == shape_.size()) return f(offset);
    for (int64_t i = 0; i < shape_[d]; ++i) each(f, d + 1, offset + i * strides_[d]);
  }

  std::vector<int64_t> shape_;
  std::vector<int64_t> strides_;
  std::vector<uint8_t> bytes_;
  size_t element_;
  DLTensor dl_;
};
using TensorPtr = std::unique_ptr<Tensor>;

template <class... A>
TensorPtr make(A&&... a) {
  return std::make_unique<Tensor>(std::forward<A>(a)...);
}

TensorPtr ints(const std::vector<int32_t>& values) {
  TensorPtr t = make(kInt32Type, std::vector<int64_t>{static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) t->int_at(static_cast<int64_t>(i)) = values[i];
  return t;
}

// ---- calls ----------------------------------------------------------------------------------------------

class Call {
 public:
  Call& operator<<(const TensorPtr& t) {
    TVMFFIAny a = {};
    a.type_index = t ? kTVMFFIDLTensorPtr : kTVMFFINone;
    if (t) a.v_ptr = t->dl();
    args_.push_back(a);
    return *this;
  }
  template <class Value>
  Call& operator<<(Value value) {
    args_.push_back(arg(value));
    return *this;
  }
  Call& none() { return *this << nullptr; }

  // The error's text; empty when it went well.
  std::string run(TVMFFISafeCallType function, int64_t* result = nullptr) const {
    TVMFFIAny value = {};
    if (function(nullptr, args_.data(), static_cast<int32_t>(args_.size()), &value) == 0) {
      if (result != nullptr) *result = value.v_int64;
      return "";
    }
    TVMFFIObjectHandle error = nullptr;
    TVMFFIErrorMoveFromRaised(&error);
    const auto* cell = reinterpret_cast<const TVMFFIErrorCell*>(static_cast<char*>(error) + sizeof(TVMFFIObject));
    const std::string text =
        std::string(cell->kind.data, cell->kind.size) + ": " + std::string(cell->message.data, cell->message.size);
    TVMFFIObjectDecRef(error);
    return text;
  }

 private:
  std::vector<TVMFFIAny> args_;
};

// The environment's allocator: blocks outlive the tensors that name them, until the device has drained.
std::vector<std::vector<float>> allocated;

int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void*, void (*)(void*, const char*, const char*)) {
  // Shape and strides live behind the tensor, as its deleter frees one block.
  auto* tensor = static_cast<DLManagedTensorVersioned*>(std::calloc(1, sizeof(DLManagedTensorVersioned) + 16));
  auto* shape = reinterpret_cast<int64_t*>(tensor + 1);
  shape[0] = prototype->shape[0];
  shape[1] = 1;
  allocated.emplace_back(static_cast<size_t>(shape[0]) / 4 + 1, NAN);
  tensor->version = {1, 0};
  tensor->dl_tensor = *prototype;
  tensor->dl_tensor.data = allocated.back().data();
  tensor->dl_tensor.shape = shape;
  tensor->dl_tensor.strides = shape + 1;
  tensor->deleter = [](DLManagedTensorVersioned* self) { std::free(self); };
  *out = tensor;
  return 0;
}

void check_run(const Call& call, TVMFFISafeCallType function) {
  CHECK_EQ(call.run(function), std::string());
  CHECK_EQ(musaDeviceSynchronize(), musaSuccess);
  allocated.clear();
}

#ifdef __SANITIZE_THREAD__
// The reference is ten times slower, and races do not show in its numbers: it looks at some of the rows.
constexpr int kRounds = 1;
constexpr int64_t kCheckedRows = 16;
#else
constexpr int kRounds = kEmulated ? 1 : 2;
constexpr int64_t kCheckedRows = 1;
#endif

// ---- reference ------------------------------------------------------------------------------------------

struct Options {
  double scale = 0.1;
  bool causal = true;
  int64_t left = -1;
  int64_t right = -1;
  double softcap = 0;
};

Options random_options(int64_t dim, int64_t k_len) {
  Options o;
  o.scale = chance(0.8) ? 1 / std::sqrt(static_cast<double>(dim)) : 0.3;
  o.causal = chance(0.5);
  if (chance(0.3)) o.left = pick(0, k_len + 2);
  if (chance(0.2)) o.right = pick(0, k_len + 2);
  if (chance(0.25)) o.softcap = one_of({0.5, 5.0, 30.0, 1e6});
  return o;
}

// A row's result and, of each element, what the values' magnitudes would make: the scale of an error of the weights.
struct Wanted {
  std::vector<double> out;
  std::vector<double> magnitude;
  double lse;
};

// One query row. `k_row(j)` and `v_row(j)` are where in k and v key j begins.
template <class KRow, class VRow>
void attend(const std::vector<double>& query, int64_t i, int64_t q_len, int64_t k_len, int64_t dim_v, const Options& o,
            const Tensor& k, KRow k_row, const Tensor& v, VRow v_row, Wanted* wanted) {
  const int64_t right = o.causal ? 0 : o.right;
  std::vector<std::pair<int64_t, double>> scores;
  double top = -std::numeric_limits<double>::infinity();
  for (int64_t j = 0; j < k_len; ++j) {
    const int64_t diagonal = i + k_len - q_len;
    if (right >= 0 && j > diagonal + right) continue;
    if (o.left >= 0 && j < diagonal - o.left) continue;
    double s = 0;
    const int64_t row = k_row(j);
    for (size_t d = 0; d < query.size(); ++d) s += query[d] * k.value(row + static_cast<int64_t>(d));
    s *= o.scale;
    if (o.softcap > 0) s = o.softcap * std::tanh(s / o.softcap);
    scores.emplace_back(j, s);
    top = std::max(top, s);
  }
  wanted->out.assign(static_cast<size_t>(dim_v), 0.0);
  wanted->magnitude.assign(static_cast<size_t>(dim_v), 0.0);
  double sum = 0;
  for (const auto& [j, s] : scores) {
    const double w = std::exp(s - top);
    sum += w;
    const int64_t row = v_row(j);
    for (int64_t d = 0; d < dim_v; ++d) {
      const double x = w * v.value(row + d);
      wanted->out[static_cast<size_t>(d)] += x;
      wanted->magnitude[static_cast<size_t>(d)] += std::abs(x);
    }
  }
  wanted->lse = sum == 0 ? -std::numeric_limits<double>::infinity() : top + std::log(sum);
  if (sum == 0) return;
  for (double& x : wanted->out) x /= sum;
  for (double& x : wanted->magnitude) x /= sum;
}

// Far below the 1.5e-2 + 1e-2 |wanted| that users are promised: half a unit in the last place and fp32 noise.
bool close(double actual, double wanted, double magnitude, bool bf16) {
  const double rounding = bf16 ? 1e-3 + 4.5e-3 * std::abs(wanted) : 2e-4 + 8e-4 * std::abs(wanted);
  // Tensor cores take the weights in the type of the values: half a unit in the last place of each.
  const double weights = kEmulated ? magnitude * (bf16 ? 1.0 / 256 : 1.0 / 2048) : 0;
  return std::abs(actual - wanted) <= rounding + weights;
}
bool lse_close(double actual, double wanted) {
  if (std::isinf(wanted)) return actual == wanted;
  return std::abs(actual - wanted) <= 2e-5 * (1 + std::abs(wanted));
}

struct Mismatches {
  int64_t count = 0;
  void add(const char* what, int64_t b, int64_t head, int64_t i, double actual, double wanted) {
    if (count++ < 3) {
      std::fprintf(stderr, "    %s: sequence %ld head %ld query %ld: %g, wanted %g\n", what, static_cast<long>(b),
                   static_cast<long>(head), static_cast<long>(i), actual, wanted);
    }
  }
};

// ---- fmha_prefill ---------------------------------------------------------------------------------------

struct Dims {
  int64_t qk;
  int64_t v;
};
const Dims kAllDims[] = {{64, 64}, {80, 80}, {96, 96}, {128, 128}, {192, 128}, {256, 256}};

struct FmhaCase {
  bool bf16 = true;
  bool varlen = false;
  bool views = false;  // inputs and outputs are views with gaps
  bool with_lse = true;
  Dims dims = {128, 128};
  int64_t kv_heads = 1;
  int64_t group = 1;
  std::vector<int64_t> q_lens;
  std::vector<int64_t> k_lens;
  Options options;
};

void run_fmha(const FmhaCase& c) {
  const auto batch = static_cast<int64_t>(c.q_lens.size());
  const int64_t q_heads = c.kv_heads * c.group;
  const DLDataType dtype = c.bf16 ? kBf16Type : kFp16Type;
  std::vector<int32_t> cu_q(1, 0);
  std::vector<int32_t> cu_k(1, 0);
  for (int64_t b = 0; b < batch; ++b) {
    cu_q.push_back(cu_q.back() + static_cast<int32_t>(c.q_lens[static_cast<size_t>(b)]));
    cu_k.push_back(cu_k.back() + static_cast<int32_t>(c.k_lens[static_cast<size_t>(b)]));
  }
  const auto shaped = [&](int64_t tokens, int64_t len, int64_t heads, int64_t dim) {
    std::vector<int64_t> shape =
        c.varlen ? std::vector<int64_t>{tokens, heads, dim} : std::vector<int64_t>{batch, len, heads, dim};
    std::vector<int64_t> padding;
    if (c.views) {
      padding.assign(shape.size(), 0);
      padding[shape.size() - 1] = 8 * pick(0, 2);
      padding[shape.size() - 2] = pick(0, 40);
    }
    return make(dtype, shape, padding);
  };
  const int64_t q_len0 = batch > 0 ? c.q_lens[0] : 0;
  const int64_t k_len0 = batch > 0 ? c.k_lens[0] : 0;
  const TensorPtr q = shaped(cu_q.back(), q_len0, q_heads, c.dims.qk);
  const TensorPtr k = shaped(cu_k.back(), k_len0, c.kv_heads, c.dims.qk);
  const TensorPtr v = shaped(cu_k.back(), k_len0, c.kv_heads, c.dims.v);
  const TensorPtr out = shaped(cu_q.back(), q_len0, q_heads, c.dims.v);
  const TensorPtr lse = !c.with_lse ? nullptr
                        : c.varlen  ? make(kFp32Type, std::vector<int64_t>{q_heads, cu_q.back()})
                                    : make(kFp32Type, std::vector<int64_t>{batch, q_heads, q_len0});
  q->fill_normal();
  k->fill_normal();
  v->fill_normal();
  Call call;
  const TensorPtr cu_q_tensor = c.varlen ? ints(cu_q) : nullptr;
  const TensorPtr cu_k_tensor = c.varlen ? ints(cu_k) : nullptr;
  call << q << k << v << c.options.scale << out << lse << c.options.causal << cu_q_tensor << cu_k_tensor;
  call.none().none() << c.options.left << c.options.right << c.options.softcap;
  check_run(call, __tvm_ffi_fmha_prefill);

  Mismatches bad;
  std::vector<double> query(static_cast<size_t>(c.dims.qk));
  Wanted wanted;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t q0 = cu_q[static_cast<size_t>(b)];
    const int64_t k0 = cu_k[static_cast<size_t>(b)];
    const auto at = [&](const TensorPtr& t, int64_t begin, int64_t i, int64_t head) {
      return c.varlen ? t->at({begin + i, head, 0}) : t->at({b, i, head, 0});
    };
    for (int64_t head = 0; head < q_heads; ++head) {
      for (int64_t i = 0; i < c.q_lens[static_cast<size_t>(b)]; ++i) {
        if ((i + head) % kCheckedRows != 0) continue;
        for (int64_t d = 0; d < c.dims.qk; ++d) query[static_cast<size_t>(d)] = q->value(at(q, q0, i, head) + d);
        attend(
            query, i, c.q_lens[static_cast<size_t>(b)], c.k_lens[static_cast<size_t>(b)], c.dims.v, c.options, *k,
            [&](int64_t j) { return at(k, k0, j, head / c.group); }, *v,
            [&](int64_t j) { return at(v, k0, j, head / c.group); }, &wanted);
        for (int64_t d = 0; d < c.dims.v; ++d) {
          const double actual = out->value(at(out, q0, i, head) + d);
          const auto at_d = static_cast<size_t>(d);
          if (!close(actual, wanted.out[at_d], wanted.magnitude[at_d], c.bf16)) {
            bad.add("out", b, head, i, actual, wanted.out[at_d]);
          }
        }
        if (lse) {
          const double actual = lse->value(c.varlen ? lse->at({head, q0 + i}) : lse->at({b, head, i}));
          if (!lse_close(actual, wanted.lse)) bad.add("lse", b, head, i, actual, wanted.lse);
        }
      }
    }
  }
  CHECK_EQ(bad.count, 0);
  CHECK(out->guards_intact());
  if (lse) CHECK(lse->guards_intact());
  if (bad.count > 0) {
    std::fprintf(stderr,
                 "    fmha %s %s dims %ld/%ld heads %ld:%ld causal %d left %ld right %ld cap %g first %ld x %ld\n",
                 c.bf16 ? "bf16" : "fp16", c.varlen ? "varlen" : "dense", static_cast<long>(c.dims.qk),
                 static_cast<long>(c.dims.v), static_cast<long>(q_heads), static_cast<long>(c.kv_heads),
                 c.options.causal, static_cast<long>(c.options.left), static_cast<long>(c.options.right),
                 c.options.softcap, static_cast<long>(q_len0), static_cast<long>(k_len0));
  }
}

void fmha_random_shapes() {
  for (int round = 0; round < kRounds; ++round) {
    for (const Dims dims : kAllDims) {
      for (const bool bf16 : {true, false}) {
        FmhaCase c;
        c.bf16 = bf16;
        c.dims = dims;
        c.varlen = chance(0.5);
        c.views = chance(0.4);
        c.with_lse = chance(0.8);
        c.kv_heads = one_of<int64_t>({1, 2, 3});
        c.group = one_of<int64_t>({1, 1, 2, 3, 4, 8});
        const int64_t batch = pick(1, 3);
        for (int64_t b = 0; b < batch; ++b) {
          if (b > 0 && !c.varlen) {
            c.q_lens.push_back(c.q_lens[0]);
            c.k_lens.push_back(c.k_lens[0]);
          } else {
            c.q_lens.push_back(one_of<int64_t>({0, 1, 5, 17, 48, pick(1, 60), pick(1, 150)}));
            c.k_lens.push_back(one_of<int64_t>({c.q_lens.back(), 0, 1, 16, 128, pick(1, 300), pick(1, 150)}));
          }
        }
        c.options = random_options(dims.qk, c.k_lens[0]);
        run_fmha(c);
      }
    }
  }
}

void fmha_odd_lengths() {
  for (const int64_t len : {1, 257, 1025}) {
    FmhaCase c;
    c.dims = {64, 64};
    c.q_lens = {len};
    c.k_lens = {len};
    c.options.scale = 0.125;
    run_fmha(c);
    c.options.causal = false;
    run_fmha(c);
  }
  // The end of a long context.
  FmhaCase c;
  c.q_lens = {7};
  c.k_lens = {8190};
  c.group = 2;
  run_fmha(c);
}

void fmha_more_queries_than_keys() {
  FmhaCase c;
  c.q_lens = {100};
  c.k_lens = {30};
  run_fmha(c);
  c.options.left = 10;
  run_fmha(c);
}

void fmha_many_sequences() {
  FmhaCase c;
  c.varlen = true;
  c.dims = {64, 64};
  c.group = 2;
  for (int b = 0; b < 300; ++b) {
    c.q_lens.push_back(pick(0, 3) == 0 ? 0 : pick(1, 9));
    c.k_lens.push_back(c.q_lens.back() + pick(0, 9));
  }
  c.q_lens[150] = 140;
  c.k_lens[150] = 150;
  run_fmha(c);
}

void fmha_nothing_to_do() {
  FmhaCase c;
  c.varlen = true;
  c.q_lens = {0, 0};
  c.k_lens = {5, 0};
  run_fmha(c);
  c.q_lens.clear();
  c.k_lens.clear();
  run_fmha(c);
  // Tokens that belong to no sequence are left alone.
  const TensorPtr q = make(kBf16Type, std::vector<int64_t>{5, 1, 64});
  const TensorPtr out = make(kBf16Type, std::vector<int64_t>{5, 1, 64});
  const TensorPtr no_sequence = ints({0});
  Call call;
  call << q << q << q << 0.1 << out;
  call.none() << true << no_sequence << no_sequence;
  call.none().none() << -1 << -1 << 0.0;
  check_run(call, __tvm_ffi_fmha_prefill);
  CHECK_EQ(out->half(0), 0xffff);
}

// What is no number, or gives none, may not be lost: a benchmark's check would then pass on broken inputs.
void fmha_keeps_nan() {
  for (const double softcap : {0.0, 5.0}) {
    for (const uint16_t bits : {0x7fc0, 0x7f80}) {  // NaN, infinity
      if (bits == 0x7f80 && softcap > 0) continue;  // the cap makes a number of it
      const TensorPtr q = make(kBf16Type, std::vector<int64_t>{1, 40, 1, 64});
      const TensorPtr k = make(kBf16Type, std::vector<int64_t>{1, 40, 1, 64});
      const TensorPtr v = make(kBf16Type, std::vector<int64_t>{1, 40, 1, 64});
      const TensorPtr out = make(kBf16Type, std::vector<int64_t>{1, 40, 1, 64});
      const TensorPtr lse = make(kFp32Type, std::vector<int64_t>{1, 1, 40});
      q->fill_normal();
      k->fill_normal();
      v->fill_normal();
      for (int64_t i = 0; i < 40; ++i) q->half(q->at({0, i, 0, 3})) = 0x3f80;  // 1
      k->half(k->at({0, 17, 0, 3})) = bits;
      Call call;
      call << q << k << v << 0.1 << out << lse << true;
      call.none().none().none().none() << -1 << -1 << softcap;
      check_run(call, __tvm_ffi_fmha_prefill);
      for (int64_t i = 0; i < 40; ++i) {
        CHECK_EQ(std::isnan(out->value(out->at({0, i, 0, 5}))), i >= 17);
        CHECK_EQ(std::isnan(lse->value(i)), i >= 17);
      }
    }
  }
}

// ---- paged_attention ------------------------------------------------------------------------------------

struct PagedCase {
  bool bf16 = true;
  bool views = false;
  bool with_cu = true;
  bool with_workspace = true;
  bool with_lse = true;
  int64_t dim = 128;
  int64_t kv_heads = 1;
  int64_t group = 1;
  int64_t page_size = 16;
  int64_t spare_pages = 3;  // of a page table row
  int64_t num_splits = 0;
  std::vector<int64_t> q_lens;
  std::vector<int64_t> k_lens;
  Options options;
};

// The tensors of a case; pages are handed out in random order, unused table entries are out of range.
struct Paged {
  explicit Paged(const PagedCase& paged_case) : c(paged_case) {
    const auto batch = static_cast<int64_t>(c.q_lens.size());
    const int64_t q_heads = c.kv_heads * c.group;
    const DLDataType dtype = c.bf16 ? kBf16Type : kFp16Type;
    cu.assign(1, 0);
    for (const int64_t len : c.q_lens) cu.push_back(cu.back() + static_cast<int32_t>(len));
    for (const int64_t len : c.k_lens) max_k = std::max(max_k, len);
    max_pages = (max_k + c.page_size - 1) / c.page_size + c.spare_pages;
    pages = 2;
    for (const int64_t len : c.k_lens) pages += (len + c.page_size - 1) / c.page_size;
    std::vector<int64_t> gaps;
    if (c.views) gaps = {pick(0, 9), pick(0, 40), 8 * pick(0, 2), 8 * pick(0, 1)};
    k = make(dtype, std::vector<int64_t>{pages, c.page_size, c.kv_heads, c.dim}, gaps);
    v = make(dtype, std::vector<int64_t>{pages, c.page_size, c.kv_heads, c.dim}, gaps);
    std::vector<int64_t> q_gaps;
    if (c.views) q_gaps = {0, pick(0, 40), 8 * pick(0, 2)};
    q = make(dtype, std::vector<int64_t>{cu.back(), q_heads, c.dim}, q_gaps);
    out = make(dtype, std::vector<int64_t>{cu.back(), q_heads, c.dim}, q_gaps);
    if (c.with_lse) lse = make(kFp32Type, std::vector<int64_t>{q_heads, cu.back()});
    table = make(kInt32Type, std::vector<int64_t>{batch, max_pages});
    seqused = make(kInt32Type, std::vector<int64_t>{batch});
    if (c.with_cu) cu_tensor = ints(cu);
    q->fill_normal();
    k->fill_normal();
    v->fill_normal();
    set_lengths(c.k_lens);
    for (const int64_t len : c.q_lens) max_q = std::max(max_q, len);
    if (c.with_workspace) {
      Call call;
      call << batch << max_q << static_cast<int64_t>(cu.back()) << q_heads << c.kv_heads << c.dim
           << max_pages * c.page_size << c.num_splits;
      int64_t bytes = -1;
      CHECK_EQ(call.run(__tvm_ffi_paged_attention_workspace, &bytes), std::string());
      CHECK(bytes >= 0);
      workspace = make(kUint8Type, std::vector<int64_t>{std::max<int64_t>(bytes, 0)});
    }
  }

  // A new page table for these lengths, which need no more pages than the first.
  void set_lengths(const std::vector<int64_t>& lens) {
    k_lens = lens;
    std::vector<int32_t> order(static_cast<size_t>(pages));
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
    std::shuffle(order.begin(), order.end(), generator);
    size_t next = 0;
    for (int64_t b = 0; b < static_cast<int64_t>(lens.size()); ++b) {
      seqused->int_at(b) = static_cast<int32_t>(lens[static_cast<size_t>(b)]);
      for (int64_t i = 0; i < max_pages; ++i) {
        table->int_at(table->at({b, i})) = i * c.page_size < lens[static_cast<size_t>(b)] ? order[next++] : -7;
      }
    }
  }

  Call call() const {
    Call call;
    call << q << k << v << table << seqused << cu_tensor << max_q << c.options.scale << out << lse << c.options.causal
         << c.options.left << c.options.right << c.options.softcap << c.num_splits << workspace;
    return call;
  }

  void check() {
    Mismatches bad;
    std::vector<double> query(static_cast<size_t>(c.dim));
    Wanted wanted;
    for (size_t b = 0; b < c.q_lens.size(); ++b) {
      const auto row_of = [&](const TensorPtr& t, int64_t j, int64_t head) {
        const int64_t page = table->int_at(table->at({static_cast<int64_t>(b), j / c.page_size}));
        return t->at({page, j % c.page_size, head, 0});
      };
      for (int64_t head = 0; head < c.kv_heads * c.group; ++head) {
        for (int64_t i = 0; i < c.q_lens[b]; ++i) {
          if ((i + head) % kCheckedRows != 0) continue;
          for (int64_t d = 0; d < c.dim; ++d) {
            query[static_cast<size_t>(d)] = q->value(q->at({cu[b] + i, head, d}));
          }
          attend(
              query, i, c.q_lens[b], k_lens[b], c.dim, c.options, *k,
              [&](int64_t j) { return row_of(k, j, head / c.group); }, *v,
              [&](int64_t j) { return row_of(v, j, head / c.group); }, &wanted);
          for (int64_t d = 0; d < c.dim; ++d) {
            const double actual = out->value(out->at({cu[b] + i, head, d}));
            const auto at_d = static_cast<size_t>(d);
            if (!close(actual, wanted.out[at_d], wanted.magnitude[at_d], c.bf16)) {
              bad.add("out", static_cast<int64_t>(b), head, i, actual, wanted.out[at_d]);
            }
          }
          if (lse) {
            const double actual = lse->value(lse->at({head, cu[b] + i}));
            if (!lse_close(actual, wanted.lse)) bad.add("lse", static_cast<int64_t>(b), head, i, actual, wanted.lse);
          }
        }
      }
    }
    CHECK_EQ(bad.count, 0);
    CHECK(out->guards_intact());
    if (lse) CHECK(lse->guards_intact());
    if (workspace) CHECK(workspace->guards_intact());
    if (bad.count > 0) {
      std::fprintf(
          stderr, "    paged %s dim %ld heads %ld:%ld page %ld splits %ld causal %d left %ld right %ld cap %g lengths",
          c.bf16 ? "bf16" : "fp16", static_cast<long>(c.dim), static_cast<long>(c.kv_heads * c.group),
          static_cast<long>(c.kv_heads), static_cast<long>(c.page_size), static_cast<long>(c.num_splits),
          c.options.causal, static_cast<long>(c.options.left), static_cast<long>(c.options.right), c.options.softcap);
      for (size_t b = 0; b < c.q_lens.size(); ++b) {
        std::fprintf(stderr, " %ldx%ld", static_cast<long>(c.q_lens[b]), static_cast<long>(k_lens[b]));
      }
      std::fprintf(stderr, "\n");
    }
  }

  PagedCase c;
  std::vector<int32_t> cu;
  std::vector<int64_t> k_lens;
  int64_t max_k = 0;
  int64_t max_q = 1;
  int64_t max_pages = 0;
  int64_t pages = 0;
  TensorPtr q, k, v, table, seqused, cu_tensor, out, lse, workspace;
};

void run_paged(const PagedCase& c) {
  Paged paged(c);
  check_run(paged.call(), __tvm_ffi_paged_attention);
  paged.check();
}

void paged_random_shapes() {
  for (int round = 0; round < kRounds; ++round) {
    for (const int64_t dim : {64, 80, 96, 128, 256}) {
      for (const int64_t page_size : {1, 7, 16, 64, 256}) {
        PagedCase c;
        c.bf16 = chance(0.5);
        c.views = chance(0.3);
        c.with_workspace = chance(0.7);
        c.with_lse = chance(0.8);
        c.dim = dim;
        c.page_size = page_size;
        c.kv_heads = one_of<int64_t>({1, 2, 3, 8});
        c.group = one_of<int64_t>({1, 2, 3, 4, 5, 7, 8, 16});
        c.num_splits = one_of<int64_t>({0, 0, 0, 1, 2, 3, 7});
        c.spare_pages = pick(0, 3);
        const int64_t batch = pick(1, 4);
        // Decode, speculative decode, chunked prefill, all of them.
        const int64_t kind = pick(0, 3);
        c.with_cu = kind != 0 || chance(0.3);
        for (int64_t b = 0; b < batch; ++b) {
          const int64_t of = kind == 3 ? pick(0, 2) : kind;
          c.q_lens.push_back(of == 0 ? 1 : of == 1 ? pick(c.with_cu ? 0 : 1, 6) : pick(1, 60));
          c.k_lens.push_back(one_of<int64_t>(
              {c.q_lens.back(), c.q_lens.back() + pick(0, 200), pick(0, 40), 0, pick(1, 600), page_size}));
        }
        c.options = random_options(dim, c.k_lens[0]);
        run_paged(c);
      }
    }
  }
}

void paged_odd_lengths() {
  PagedCase c;
  c.kv_heads = 2;
  c.group = 2;
  for (const int64_t page_size : {16, 64}) {
    c.page_size = page_size;
    c.q_lens = {1, 1, 1, 1};
    c.k_lens = {1, 257, 0, 8190};
    for (const int64_t splits : {0, 1, 5}) {
      c.num_splits = splits;
      run_paged(c);
    }
    c.q_lens = {300, 1, 2, 40};
    c.k_lens = {300, 2049, 2, 100};
    c.num_splits = 0;
    run_paged(c);
  }
}

// A few queries under many heads: as many rows as a device's tile has and more, in parts and whole.
void paged_drafts() {
  for (const int64_t group : {3, 8, 16, 64}) {
    for (const int64_t num_splits : {0, 1, 2, 5}) {
      PagedCase c;
      c.dim = 64;
      c.kv_heads = 2;
      c.group = group;
      c.num_splits = num_splits;
      for (int b = 0; b < 3; ++b) {
        c.q_lens.push_back(pick(1, 5));
        c.k_lens.push_back(c.q_lens.back() + pick(0, 150));
      }
      if (chance(0.5)) c.options.left = pick(0, 60);
      run_paged(c);
    }
  }
}

void paged_many_sequences() {
  PagedCase c;
  c.dim = 64;
  for (int b = 0; b < 300; ++b) {
    c.q_lens.push_back(1);
    c.k_lens.push_back(pick(0, 3) == 0 ? 0 : pick(1, 120));
  }
  run_paged(c);
  c.with_cu = false;
  c.num_splits = 2;
  run_paged(c);
}

void paged_one_head_and_many_heads() {
  PagedCase c;
  c.q_lens = {1};
  c.k_lens = {999};
  run_paged(c);
  c.group = 64;
  run_paged(c);
  c.group = 1;
  c.kv_heads = 40;
  c.dim = 256;
  run_paged(c);
}

void paged_needs_no_queries() {
  PagedCase c;
  c.q_lens = {0, 0};
  c.k_lens = {40, 0};
  run_paged(c);
}

// A captured launch reads lengths and table when it is replayed.
void graph_replay_sees_new_pages() {
  for (const bool prefill : {false, true}) {
    PagedCase c;
    c.q_lens = prefill ? std::vector<int64_t>{20, 1, 33} : std::vector<int64_t>{1, 1, 1};
    c.k_lens = {500, 300, 900};
    c.kv_heads = 2;
    c.group = 2;
    Paged paged(c);
    musaStream_t stream = nullptr;
    musaGraph_t graph = nullptr;
    musaGraphExec_t exec = nullptr;
    REQUIRE(musaStreamCreate(&stream) == musaSuccess);
    REQUIRE(musaStreamBeginCapture(stream, musaStreamCaptureModeGlobal) == musaSuccess);
    void* before = nullptr;
    TVMFFIEnvSetStream(kDLCPU, 0, stream, &before);
    CHECK_EQ(paged.call().run(__tvm_ffi_paged_attention), std::string());
    TVMFFIEnvSetStream(kDLCPU, 0, before, nullptr);
    REQUIRE(musaStreamEndCapture(stream, &graph) == musaSuccess);
    REQUIRE(musaGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == musaSuccess);
    for (const std::vector<int64_t>& lens :
         {std::vector<int64_t>{500, 300, 900}, {100, 1, 40}, {499, 0, 899}, {20, 257, 33}}) {
      paged.set_lengths(lens);
      paged.out->poison();
      paged.lse->poison();
      CHECK_EQ(musaGraphLaunch(exec, stream), musaSuccess);
      CHECK_EQ(musaStreamSynchronize(stream), musaSuccess);
      paged.check();
    }
    CHECK_EQ(musaGraphExecDestroy(exec), musaSuccess);
    CHECK_EQ(musaGraphDestroy(graph), musaSuccess);
    CHECK_EQ(musaStreamDestroy(stream), musaSuccess);
  }
}

// ---- errors ---------------------------------------------------------------------------------------------

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

void wrong_arguments_are_named() {
  PagedCase c;
  c.q_lens = {1};
  c.k_lens = {64};
  c.group = 4;
  {
    Paged paged(c);
    paged.workspace = make(kUint8Type, std::vector<int64_t>{1});
    paged.c.num_splits = 2;
    const std::string text = paged.call().run(__tvm_ffi_paged_attention);
    CHECK(contains(text, "ValueError") && contains(text, "workspace"));
  }
  for (const double softcap : {-1.0, 1e39, 1e-300}) {
    Paged paged(c);
    paged.c.options.softcap = softcap;
    const std::string text = paged.call().run(__tvm_ffi_paged_attention);
    CHECK(contains(text, "ValueError") && contains(text, "softcap"));
  }
  {
    Paged paged(c);
    paged.seqused = ints({1, 2});
    const std::string text = paged.call().run(__tvm_ffi_paged_attention);
    CHECK(contains(text, "ValueError") && contains(text, "seqused_k"));
  }
  {
    Paged paged(c);
    paged.v = make(kFp16Type, std::vector<int64_t>{paged.pages, c.page_size, 1, 128});
    const std::string text = paged.call().run(__tvm_ffi_paged_attention);
    CHECK(contains(text, "ValueError") && contains(text, "v_cache"));
  }
  {
    Paged paged(c);
    paged.q = make(kBf16Type, std::vector<int64_t>{1, 4, 64});
    const std::string text = paged.call().run(__tvm_ffi_paged_attention);
    CHECK(contains(text, "ValueError") && contains(text, "k_cache"));
  }
  {
    c.dim = 48;
    Paged paged(c);
    const std::string text = paged.call().run(__tvm_ffi_paged_attention);
    CHECK(contains(text, "48/48") && contains(text, "192/128"));
  }
  const TensorPtr q = make(kBf16Type, std::vector<int64_t>{1, 4, 3, 64});
  const TensorPtr k = make(kBf16Type, std::vector<int64_t>{1, 4, 2, 64});
  const TensorPtr out = make(kBf16Type, std::vector<int64_t>{1, 4, 3, 64});
  Call call;
  call << q << k << k << 1.0 << out << TensorPtr() << true;
  call.none().none().none().none() << int64_t{-1} << int64_t{-1} << 0.0;
  const std::string text = call.run(__tvm_ffi_fmha_prefill);
  CHECK(contains(text, "fmha_prefill") && contains(text, "3 heads") && contains(text, "2"));
}

// Scores that fall as the product grows, and scores that are all the same.
void scales_of_every_sign() {
  for (const double scale : {-0.2, 0.0, 1.0}) {
    for (const double softcap : {0.0, 3.0}) {
      FmhaCase fmha;
      fmha.q_lens.assign(1, 30);
      fmha.k_lens.assign(1, 90);
      fmha.options.scale = scale;
      fmha.options.softcap = softcap;
      run_fmha(fmha);
      PagedCase paged;
      paged.q_lens.assign(1, 1);
      paged.k_lens.assign(1, 90);
      paged.options.scale = scale;
      paged.options.softcap = softcap;
      run_paged(paged);
    }
  }
}

void softcaps_of_every_size() {
  for (const double softcap : {1e-38, 0.01, 1.0, 1e6, 1e30}) {
    for (const int64_t q_len : {1, 40}) {
      PagedCase paged;
      paged.q_lens.assign(1, q_len);
      paged.k_lens.assign(1, 70);
      paged.group = 2;
      paged.options.softcap = softcap;
      paged.options.scale = 0.3;
      run_paged(paged);
    }
    FmhaCase fmha;
    fmha.q_lens.assign(1, 20);
    fmha.k_lens.assign(1, 70);
    fmha.options.softcap = softcap;
    fmha.options.scale = 0.3;
    run_fmha(fmha);
  }
}

// Leaves the device with a sticky error: last.
void paged_keeps_nan() {
  for (const int64_t q_len : {1, 40}) {
    for (const int64_t num_splits : {0, 1, 3}) {
      for (const double softcap : {0.0, 5.0}) {
        PagedCase c;
        c.q_lens.assign(1, q_len);
        c.k_lens.assign(1, 300);
        c.num_splits = num_splits;
        c.options.softcap = softcap;
        Paged paged(c);
        const int64_t page = paged.table->int_at(3);
        paged.k->half(paged.k->at({page, 5, 0, 7})) = 0x7fc0;
        check_run(paged.call(), __tvm_ffi_paged_attention);
        CHECK(std::isnan(paged.out->value(0)));
        CHECK(std::isnan(paged.lse->value(0)));
      }
    }
  }
}

void bad_page_is_an_illegal_address() {
  PagedCase c;
  c.q_lens = {1};
  c.k_lens = {64};
  Paged paged(c);
  paged.table->int_at(2) = static_cast<int32_t>(paged.pages);
  CHECK_EQ(paged.call().run(__tvm_ffi_paged_attention), std::string());
  CHECK_EQ(musaDeviceSynchronize(), musaErrorIllegalAddress);
}

int run_all() {
  TVMFFIEnvSetDLPackManagedTensorAllocator(allocate, 1, nullptr);
  RUN_TEST(fmha_random_shapes);
  RUN_TEST(fmha_odd_lengths);
  RUN_TEST(fmha_more_queries_than_keys);
  RUN_TEST(fmha_many_sequences);
  RUN_TEST(fmha_nothing_to_do);
  RUN_TEST(fmha_keeps_nan);
  RUN_TEST(paged_random_shapes);
  RUN_TEST(paged_odd_lengths);
  RUN_TEST(paged_drafts);
  RUN_TEST(paged_many_sequences);
  RUN_TEST(paged_one_head_and_many_heads);
  RUN_TEST(paged_needs_no_queries);
  RUN_TEST(graph_replay_sees_new_pages);
  RUN_TEST(scales_of_every_sign);
  RUN_TEST(softcaps_of_every_size);
  RUN_TEST(wrong_arguments_are_named);
  RUN_TEST(paged_keeps_nan);
  RUN_TEST(bad_page_is_an_illegal_address);
  return test_status();
}

}  // namespace
}  // namespace musabench

int main(int argc, char** argv) {
  if (musabench::kEmulated && argc == 1) return musabench::run_variant(argv[0], "", "3", "");
  const int status = musabench::run_variants(argc, argv);
  return status >= 0 ? status : musabench::run_all();
}
