// Every kernel export with arguments that are right, slightly wrong or absurd: whatever the caller does, a call
// returns, its launch ends, and nothing outside the given tensors is touched. Tensors lie in blocks of exactly their
// size, so AddressSanitizer sees the first byte too far; without it the test still finds crashes, hangs and accepted
// nonsense.
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "abi/musa_runtime.h"
#include "abi/tvm_ffi.h"
#include "check.h"
#include "kernel_exports.h"
#include "kernels/exports/ffi_args.h"
#include "support/support.h"

#define DECLARE(name) extern "C" int __tvm_ffi_##name(void*, const TVMFFIAny* args, int32_t count, TVMFFIAny* result);
EXPORTS(DECLARE)

namespace musabench {
namespace {

constexpr DLDataType kInt32 = {kDLInt, 32, 1};
constexpr DLDataType kInt64 = {kDLInt, 64, 1};
constexpr DLDataType kFloat32 = {kDLFloat, 32, 1};
constexpr DLDataType kUInt8 = {kDLUInt, 8, 1};
// Larger tensors than this are not built; a call that got one is not made.
constexpr int64_t kMaxTensorBytes = 1 << 20;

std::mt19937_64 random_bits(7);
#if defined(MUSABENCH_TEST_EMULATED)
int rounds = 200;  // under emulation a call takes much longer
#else
int rounds = 2000;  // calls of each export
#endif

int64_t pick(std::initializer_list<int64_t> choices) { return choices.begin()[random_bits() % choices.size()]; }
int64_t between(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random_bits() % static_cast<uint64_t>(high - low + 1));
}
bool one_in(uint64_t n) { return random_bits() % n == 0; }

// A tensor to be built, or a scalar.
struct Argument {
  enum class Kind { kTensor, kNone, kInt, kFloat, kBool };

  Kind kind = Kind::kNone;
  int64_t integer = 0;
  double number = 0;
  DLDataType dtype = {};
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // empty: NULL
  uint64_t byte_offset = 0;
  DLDevice device = {kDLCPU, 0};
  bool null_data = false;
  // Integer tensors: values in [low, high], ascending if they are offsets of sequences.
  int64_t low = 0;
  int64_t high = 0;
  bool ascending = false;
  // Integers that say how long the kernel runs keep to small values.
  bool is_duration = false;
};

Argument tensor(DLDataType dtype, std::vector<int64_t> shape) {
  Argument argument;
  argument.kind = Argument::Kind::kTensor;
  argument.dtype = dtype;
  argument.shape = std::move(shape);
  return argument;
}
Argument indices(DLDataType dtype, std::vector<int64_t> shape, int64_t low, int64_t high, bool ascending = false) {
  Argument argument = tensor(dtype, std::move(shape));
  argument.low = low;
  argument.high = std::max(low, high);
  argument.ascending = ascending;
  return argument;
}
Argument integer(int64_t value) {
  Argument argument;
  argument.kind = Argument::Kind::kInt;
  argument.integer = value;
  return argument;
}
Argument duration(int64_t value) {
  Argument argument = integer(value);
  argument.is_duration = true;
  return argument;
}
Argument number(double value) {
  Argument argument;
  argument.kind = Argument::Kind::kFloat;
  argument.number = value;
  return argument;
}
Argument boolean(bool value) {
  Argument argument;
  argument.kind = Argument::Kind::kBool;
  argument.integer = value ? 1 : 0;
  return argument;
}
Argument none_or(Argument argument) { return one_in(2) ? Argument() : argument; }

DLDataType half_type() { return one_in(2) ? DLDataType{kDLBfloat, 16, 1} : DLDataType{kDLFloat, 16, 1}; }

// ---- Right calls of small shapes, a function of the export's name for each

std::vector<Argument> fmha_prefill() {
  const DLDataType x = half_type();
  const int64_t batch = between(0, 3);
  const int64_t q_tokens = between(0, 9);
  const int64_t k_tokens = between(0, 40);
  const int64_t kv_heads = between(1, 2);
  const int64_t heads = kv_heads * between(1, 3);
  const int64_t dim = pick({64, 80, 96, 128, 192, 256});
  const int64_t dim_v = dim == 192 ? 128 : dim;
  const bool varlen = one_in(2);
  const auto shape = [&](int64_t tokens, int64_t h, int64_t d) {
    return varlen ? std::vector<int64_t>{tokens, h, d} : std::vector<int64_t>{batch, tokens, h, d};
  };
  return {tensor(x, shape(q_tokens, heads, dim)),
          tensor(x, shape(k_tokens, kv_heads, dim)),
          tensor(x, shape(k_tokens, kv_heads, dim_v)),
          number(0.1),
          tensor(x, shape(q_tokens, heads, dim_v)),
          none_or(tensor(
              kFloat32, varlen ? std::vector<int64_t>{heads, q_tokens} : std::vector<int64_t>{batch, heads, q_tokens})),
          boolean(one_in(2)),
          varlen ? indices(kInt32, {batch + 1}, 0, q_tokens, true) : Argument(),
          varlen ? indices(kInt32, {batch + 1}, 0, k_tokens, true) : Argument(),
          none_or(integer(q_tokens)),
          none_or(integer(k_tokens)),
          integer(pick({-1, 0, 3})),
          integer(pick({-1, 0, 3})),
          number(one_in(2) ? 0 : 20)};
}

std::vector<Argument> paged_attention() {
  const DLDataType x = half_type();
  const int64_t batch = between(0, 3);
  const bool varlen = one_in(2);
  const int64_t tokens = varlen ? between(0, 20) : batch;
  const int64_t kv_heads = between(1, 2);
  const int64_t heads = kv_heads * between(1, 3);
  const int64_t dim = pick({64, 80, 96, 128, 256});
  const int64_t pages = between(1, 4);
  const int64_t page_size = pick({1, 3, 16});
  const int64_t columns = between(0, 4);
  const auto cache = tensor(x, {pages, page_size, kv_heads, dim});
  return {tensor(x, {tokens, heads, dim}),
          cache,
          cache,
          indices(kInt32, {batch, columns}, 0, pages - 1),
          indices(kInt32, {batch}, 0, columns * page_size),
          varlen ? indices(kInt32, {batch + 1}, 0, tokens, true) : Argument(),
          integer(varlen ? between(1, 20) : 1),
          number(0.1),
          tensor(x, {tokens, heads, dim}),
          none_or(tensor(kFloat32, {heads, tokens})),
          boolean(one_in(2)),
          integer(pick({-1, 0, 3})),
          integer(pick({-1, 0, 3})),
          number(one_in(2) ? 0 : 20),
          integer(between(0, 3)),
          none_or(tensor(kUInt8, {pick({0, 1000, 200000})}))};
}

std::vector<Argument> paged_attention_workspace() {
  return {integer(between(0, 8)),   integer(between(1, 8)),        integer(between(0, 64)),   integer(8),
          integer(pick({1, 2, 8})), integer(pick({64, 128, 256})), integer(between(0, 5000)), integer(between(0, 4))};
}

std::vector<Argument> gemm() {
  const DLDataType x = half_type();
  const int64_t m = between(0, 20);
  const int64_t n = between(0, 70);
  const int64_t k = between(0, 70);
  return {tensor(x, {m, k}), tensor(x, {n, k}), tensor(one_in(2) ? kFloat32 : x, {m, n}), none_or(tensor(x, {n}))};
}

std::vector<Argument> rms_norm() {
  const DLDataType x = half_type();
  const int64_t tokens = between(0, 5);
  const int64_t hidden = between(0, 70);
  return {tensor(x, {tokens, hidden}), tensor(x, {hidden}), tensor(x, {tokens, hidden}), number(1e-6)};
}

std::vector<Argument> fused_add_rms_norm() {
  const DLDataType x = half_type();
  const Argument rows = tensor(x, {between(0, 5), between(0, 70)});
  return {rows, rows, tensor(x, {rows.shape[1]}), rows, rows, number(1e-6)};
}

std::vector<Argument> qk_norm_rope() {
  const DLDataType x = half_type();
  const int64_t tokens = between(0, 5);
  const int64_t heads = between(0, 3);
  const int64_t kv_heads = between(0, 2);
  const int64_t dim = pick({2, 6, 64, 128});
  const int64_t positions = between(1, 9);
  return {tensor(x, {tokens, (heads + 2 * kv_heads) * dim}),
          none_or(tensor(x, {dim})),
          none_or(tensor(x, {dim})),
          tensor(kFloat32, {positions, dim}),
          indices(kInt32, {tokens}, 0, positions - 1),
          tensor(x, {tokens, heads, dim}),
          tensor(x, {tokens, kv_heads, dim}),
          number(1e-6)};
}

std::vector<Argument> kv_cache_write() {
  const DLDataType x = half_type();
  const int64_t tokens = between(0, 9);
  const int64_t heads = between(1, 3);
  const int64_t dim = pick({1, 64, 80});
  const int64_t dim_v = one_in(2) ? dim : 32;
  const int64_t pages = between(1, 4);
  const int64_t page_size = between(1, 8);
  return {tensor(x, {tokens, heads, dim}), tensor(x, {tokens, heads, dim_v}), tensor(x, {pages, page_size, heads, dim}),
          tensor(x, {pages, page_size, heads, dim_v}), indices(kInt64, {tokens}, -1, pages * page_size - 1)};
}

std::vector<Argument> silu_and_mul() {
  const DLDataType x = half_type();
  const int64_t tokens = between(0, 5);
  const int64_t features = between(0, 70);
  return {tensor(x, {tokens, 2 * features}), tensor(x, {tokens, features})};
}

std::vector<Argument> embedding() {
  const DLDataType x = half_type();
  const int64_t tokens = between(0, 9);
  const int64_t rows = between(1, 9);
  const int64_t hidden = between(0, 70);
  return {indices(kInt32, {tokens}, 0, rows - 1), tensor(x, {rows, hidden}), tensor(x, {tokens, hidden})};
}

std::vector<Argument> argmax() {
  const int64_t tokens = between(0, 5);
  return {tensor(one_in(2) ? kFloat32 : half_type(), {tokens, between(1, 300)}), tensor(kInt32, {tokens})};
}

std::vector<Argument> random_fill() {
  return {tensor(one_in(2) ? kFloat32 : half_type(), {between(0, 9), between(0, 99)}), integer(5), number(0.5)};
}

std::vector<Argument> read_bandwidth() {
  return {tensor(kUInt8, {between(0, 70000)}), integer(between(1, 4)), tensor(kFloat32, {between(1, 3)})};
}

std::vector<Argument> copy_bandwidth() {
  const Argument bytes = tensor(kUInt8, {between(0, 70000)});
  return {bytes, bytes};
}

std::vector<Argument> peak_flops() { return {duration(between(1, 100)), tensor(kFloat32, {between(1, 3)})}; }
std::vector<Argument> peak_flops_per_iteration() { return {}; }
std::vector<Argument> empty() { return {}; }

// ---- What can be wrong with them

void mutate_tensor(Argument* argument) {
  const auto any_extent = [] { return pick({0, 1, 2, 3, 5, 64, 128, 1000, -1, 1LL << 32, INT64_MAX, INT64_MIN}); };
  auto& shape = argument->shape;
  switch (random_bits() % 9) {
    case 0:
      if (!shape.empty()) shape[random_bits() % shape.size()] = any_extent();
      break;
    case 1:
      if (!shape.empty()) {
        int64_t& extent = shape[random_bits() % shape.size()];
        if (extent >= 0 && extent < kMaxTensorBytes) extent += one_in(2) ? 1 : -1;
      }
      break;
    case 2:
      if (!shape.empty()) shape.pop_back();
      break;
    case 3:
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(random_bits() % (shape.size() + 1)), any_extent());
      break;
    case 4:
      argument->dtype = {static_cast<uint8_t>(pick({kDLInt, kDLUInt, kDLFloat, kDLBfloat, 77})),
                         static_cast<uint8_t>(pick({8, 16, 32, 64})), static_cast<uint16_t>(pick({1, 1, 2, 0}))};
      break;
    case 5: {
      // Rows further apart, as in a view; or something odd in one dimension.
      argument->strides.assign(shape.size(), 1);
      int64_t stride = 1;
      for (size_t i = shape.size(); i-- > 0;) {
        argument->strides[i] = stride;
        if (__builtin_mul_overflow(stride, std::max<int64_t>(1, shape[i]), &stride)) stride = 1;
        if (stride < kMaxTensorBytes) stride += pick({0, 1, 8});
      }
      if (!shape.empty() && one_in(2)) {
        argument->strides[random_bits() % shape.size()] = pick({0, 1, 2, 7, 1000, -1, INT64_MAX, INT64_MIN});
      }
      break;
    }
    case 6:
      argument->byte_offset = static_cast<uint64_t>(pick({1, 2, 4, 6, 64, -1}));
      break;
    case 7:
      argument->device = {static_cast<int32_t>(pick({kDLCPU, kDLCUDA, -1})), static_cast<int32_t>(pick({0, 1, -1}))};
      break;
    default:
      argument->null_data = true;
  }
}

void mutate(std::vector<Argument>* arguments) {
  if (arguments->empty() || one_in(20)) {
    if (one_in(2) || arguments->empty()) {
      arguments->push_back(one_in(2) ? integer(1) : Argument());
    } else {
      arguments->pop_back();
    }
    return;
  }
  Argument& argument = (*arguments)[random_bits() % arguments->size()];
  if (one_in(8) && !argument.is_duration) {
    argument = std::array<Argument, 5>{Argument(), integer(3), number(0.5), boolean(true),
                                       tensor(kFloat32, {2, 2})}[random_bits() % 5];
    return;
  }
  switch (argument.kind) {
    case Argument::Kind::kTensor:
      return mutate_tensor(&argument);
    case Argument::Kind::kInt:
      argument.integer =
          argument.is_duration
              ? pick({-1, 0, 1, INT64_MIN})
              : pick({-1, 0, 1, 2, 7, 1024, 1 << 20, INT32_MAX, 1LL << 40, INT64_MAX, INT32_MIN, INT64_MIN});
      return;
    case Argument::Kind::kFloat:
      argument.number = std::array<double, 6>{0,
                                              -1,
                                              1e300,
                                              1e-30,
                                              std::numeric_limits<double>::quiet_NaN(),
                                              std::numeric_limits<double>::infinity()}[random_bits() % 6];
      return;
    default:
      return;
  }
}

// ---- Calls

// What an Argument becomes. The memory starts at an element's alignment and not at a vector's.
struct Built {
  TVMFFIAny value = {};
  DLTensor tensor = {};
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::unique_ptr<char[]> memory;
};

void fill(const Argument& argument, char* memory, int64_t bytes) {
  for (int64_t i = 0; i < bytes; ++i) memory[i] = static_cast<char>(random_bits());
  if (argument.dtype.code != kDLInt) return;
  const int64_t size = argument.dtype.bits / 8;
  int64_t value = argument.low;
  for (int64_t i = 0; i + size <= bytes; i += size) {
    value = argument.ascending ? between(value, argument.high) : between(argument.low, argument.high);
    int64_t stored = value;
    if (one_in(200)) stored = pick({-1, argument.high + 1, INT32_MAX, INT32_MIN, 1000000});
    std::memcpy(memory + i, &stored, static_cast<size_t>(size));  // the low bytes: the machine is little-endian
  }
}

// False if the tensor is sound but too large to build.
bool build(const Argument& argument, Built* built) {
  TVMFFIAny& value = built->value;
  switch (argument.kind) {
    case Argument::Kind::kNone:
      return true;
    case Argument::Kind::kInt:
      value.type_index = kTVMFFIInt;
      value.v_int64 = argument.integer;
      return true;
    case Argument::Kind::kBool:
      value.type_index = kTVMFFIBool;
      value.v_int64 = argument.integer;
      return true;
    case Argument::Kind::kFloat:
      value.type_index = kTVMFFIFloat;
      value.v_float64 = argument.number;
      return true;
    case Argument::Kind::kTensor:
      break;
  }
  static char unused[64];
  built->shape = argument.shape;
  built->strides = argument.strides;
  built->strides.resize(built->shape.size());
  DLTensor& tensor = built->tensor;
  tensor.data = unused;
  tensor.device = argument.device;
  tensor.ndim = static_cast<int32_t>(built->shape.size());
  tensor.dtype = argument.dtype;
  tensor.shape = built->shape.data();
  tensor.strides = argument.strides.empty() ? nullptr : built->strides.data();
  value.type_index = kTVMFFIDLTensorPtr;
  value.v_ptr = &tensor;
  int64_t bytes = 0;
  try {
    Args args("build", &value, 1, nullptr);
    bytes = args.tensor("tensor").extent_bytes();
  } catch (const ExportError&) {
    tensor.byte_offset = argument.byte_offset;
    return true;  // refused whatever its memory is
  }
  if (bytes > kMaxTensorBytes) return false;
  const int64_t offset = argument.byte_offset <= 64 ? static_cast<int64_t>(argument.byte_offset) : 0;
  const int64_t lead = 8 + offset;
  built->memory.reset(new char[static_cast<size_t>(lead + bytes)]);
  fill(argument, built->memory.get() + lead, bytes);
  tensor.data = argument.null_data ? nullptr : built->memory.get() + 8;
  tensor.byte_offset = argument.byte_offset;
  return true;
}

struct Counts {
  int accepted = 0;
  int refused = 0;
  int faulted = 0;
  int skipped = 0;
};

void call(const char* name, TVMFFISafeCallType kernel, const std::vector<Argument>& arguments, Counts* counts) {
  std::vector<Built> built(arguments.size());
  std::vector<TVMFFIAny> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!build(arguments[i], &built[i])) {
      ++counts->skipped;
      return;
    }
    values.push_back(built[i].value);
  }
  TVMFFIAny result = {};
  const int code = kernel(nullptr, values.data(), static_cast<int32_t>(values.size()), &result);
  const musaError_t error = musaDeviceSynchronize();
  if (code != 0) {
    ++counts->refused;
    CHECK_EQ(code, -1);
    TVMFFIObjectHandle raised = nullptr;
    TVMFFIErrorMoveFromRaised(&raised);
    REQUIRE(raised != nullptr);
    const auto* cell =
        reinterpret_cast<const TVMFFIErrorCell*>(static_cast<const char*>(raised) + sizeof(TVMFFIObject));
    const std::string kind(cell->kind.data, cell->kind.size);
    const std::string message(cell->message.data, cell->message.size);
    // A refused call tells which kernel it was, and is never the kernel's own fault.
    const bool told = message.find(name) == 0 || kind == "MemoryError";
    if (!told || kind == "InternalError") std::fprintf(stderr, "%s: %s: %s\n", name, kind.c_str(), message.c_str());
    CHECK(told && kind != "InternalError");
    TVMFFIObjectDecRef(raised);
  } else if (error != musaSuccess) {
    ++counts->faulted;
    CHECK_EQ(error, musaErrorIllegalAddress + 0);
  } else {
    ++counts->accepted;
  }
  if (error != musaSuccess) {
    musaDeviceReset();
    musaGetLastError();
  }
}

void run(const char* name, TVMFFISafeCallType kernel, std::vector<Argument> (*right)()) {
  Counts counts;
  for (int i = 0; i < rounds; ++i) {
    std::vector<Argument> arguments = right();
    // Most calls differ in one respect from a right one: several differences mostly hide each other.
    if (!one_in(4)) mutate(&arguments);
    if (one_in(8)) mutate(&arguments);
    call(name, kernel, arguments, &counts);
  }
  std::fprintf(stderr, "    %-26s %6d accepted %6d refused %6d faulted %6d too large to build\n", name, counts.accepted,
               counts.refused, counts.faulted, counts.skipped);
  CHECK(counts.accepted > rounds / 10);
  CHECK(counts.refused > rounds / 20);
}

int host_malloc(void** memory, size_t bytes) {
  if (bytes > size_t{1} << 30) return musaErrorMemoryAllocation;
  *memory = std::malloc(bytes);
  return *memory != nullptr ? musaSuccess : musaErrorMemoryAllocation;
}

int host_free(void* memory) {
  std::free(memory);
  return 0;
}

void no_call_of_an_export_does_harm() {
  mb_pool* pool = nullptr;
  REQUIRE(mb_pool_create(&host_malloc, &host_free, nullptr, &pool) == 0);
  mb_pool_use(pool, nullptr);
  TVMFFIEnvSetDLPackManagedTensorAllocator(&mb_pool_allocate, 0, nullptr);
#define RUN_EXPORT(name) run(#name, &__tvm_ffi_##name, &name);
  EXPORTS(RUN_EXPORT)
  TVMFFIEnvSetDLPackManagedTensorAllocator(nullptr, 0, nullptr);
  CHECK_EQ(mb_pool_destroy(pool), 0);
}

}  // namespace
}  // namespace musabench

// exports_fuzz_test [rounds [seed]]
int main(int argc, char** argv) {
  using namespace musabench;
  if (argc > 1) rounds = std::atoi(argv[1]);
  if (argc > 2) random_bits.seed(std::strtoull(argv[2], nullptr, 10));
  RUN_TEST(no_call_of_an_export_does_harm);
  return test_status();
}
