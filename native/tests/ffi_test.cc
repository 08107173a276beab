// libtvm_ffi_host, the argument readers of kernel exports (ffi_args.h), and both together through the test kernels.
// With the real libtvm_ffi preloaded (LD_PRELOAD) the same tests run on that one, but for checks that only ours makes.
#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "abi/tvm_ffi.h"
#include "check.h"
#include "kernels/exports/ffi_args.h"

#define DECLARE_KERNEL(name) \
  extern "C" int __tvm_ffi_##name(void*, const TVMFFIAny* args, int32_t count, TVMFFIAny* result)
DECLARE_KERNEL(ffi_test_count);
DECLARE_KERNEL(ffi_test_echo);
DECLARE_KERNEL(ffi_test_integer);
DECLARE_KERNEL(ffi_test_optional_integer);
DECLARE_KERNEL(ffi_test_number);
DECLARE_KERNEL(ffi_test_boolean);
DECLARE_KERNEL(ffi_test_describe);
DECLARE_KERNEL(ffi_test_stream);
DECLARE_KERNEL(ffi_test_string);
DECLARE_KERNEL(ffi_test_raise);
DECLARE_KERNEL(ffi_test_throw);
DECLARE_KERNEL(ffi_test_fail_silently);
DECLARE_KERNEL(ffi_test_allocate);
DECLARE_KERNEL(ffi_test_allocate_pairs);

// While it is set, operator new of this program and its libraries fails in this thread.
static thread_local bool memory_is_out = false;

// All forms for single objects are replaced: a sanitizer's own would not accept memory of the other half's. Not
// inlined, because GCC 12 then takes half of a pair for a mismatch.
#define REPLACED __attribute__((noinline))
REPLACED void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return memory_is_out ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
}
REPLACED void* operator new(size_t bytes) {
  void* memory = operator new(bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
REPLACED void operator delete(void* memory) noexcept { std::free(memory); }
REPLACED void operator delete(void* memory, size_t) noexcept { std::free(memory); }
REPLACED void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace musabench {
namespace {

TVMFFIAny any(int32_t type_index, int64_t value = 0) {
  TVMFFIAny result = {};
  result.type_index = type_index;
  result.v_int64 = value;
  return result;
}

TVMFFIAny float_any(double value) {
  TVMFFIAny result = any(kTVMFFIFloat);
  result.v_float64 = value;
  return result;
}

TVMFFIAny pointer_any(int32_t type_index, const void* pointer) {
  TVMFFIAny result = any(type_index);
  result.v_ptr = const_cast<void*>(pointer);
  return result;
}

TVMFFIAny string_any(const char* text) {
  TVMFFIAny result = any(kTVMFFIRawStr);
  result.v_c_str = text;
  return result;
}

// A DLTensor with its own shape and strides, over memory that is only ever addressed, not touched.
struct TestTensor {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  DLTensor tensor = {};

  explicit TestTensor(std::vector<int64_t> extents, DLDataType dtype = {kDLFloat, 32, 1},
                      std::vector<int64_t> distances = {})
      : shape(std::move(extents)), strides(std::move(distances)) {
    static char memory[64];
    tensor.data = memory;
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.dtype = dtype;
    tensor.shape = shape.data();
    tensor.strides = strides.empty() ? nullptr : strides.data();
  }
  TestTensor(const TestTensor&) = delete;
  TVMFFIAny view() const { return pointer_any(kTVMFFIDLTensorPtr, &tensor); }
};

// Whether the tests run on our library. The real one leaves some misuse unchecked that ours turns into an error.
bool is_host_library() {
  Dl_info info = {};
  return dladdr(reinterpret_cast<void*>(&TVMFFIGetVersion), &info) != 0 &&
         std::string(info.dli_fname).find("libtvm_ffi_host") != std::string::npos;
}

// Says that a check of our library only is left out.
bool skipped(const char* what) {
  if (is_host_library()) return false;
  std::cerr << "  skipped: " << what << ": a check that only libtvm_ffi_host makes" << std::endl;
  return true;
}

struct Outcome {
  int code;
  TVMFFIAny result;
  std::string kind;
  std::string message;
};

std::string text(const TVMFFIByteArray& bytes) { return std::string(bytes.data, bytes.size); }

const TVMFFIErrorCell& error_cell(TVMFFIObjectHandle error) {
  return *reinterpret_cast<const TVMFFIErrorCell*>(static_cast<const char*>(error) + sizeof(TVMFFIObject));
}

const DLTensor& tensor_of(TVMFFIObjectHandle object) {
  return *reinterpret_cast<const DLTensor*>(static_cast<const char*>(object) + sizeof(TVMFFIObject));
}

const TVMFFISeqCell& array_of(const TVMFFIAny& value) {
  return *reinterpret_cast<const TVMFFISeqCell*>(value.v_obj + 1);
}

// Takes the raised error, or leaves both empty.
void take_raised(std::string* kind, std::string* message) {
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  kind->clear();
  message->clear();
  if (error == nullptr) return;
  *kind = text(error_cell(error).kind);
  *message = text(error_cell(error).message);
  TVMFFIObjectDecRef(error);
}

Outcome call(TVMFFISafeCallType kernel, const std::vector<TVMFFIAny>& args) {
  Outcome outcome = {};
  outcome.code = kernel(nullptr, args.data(), static_cast<int32_t>(args.size()), &outcome.result);
  take_raised(&outcome.kind, &outcome.message);
  return outcome;
}

std::string string_of(const TVMFFIAny& value) {
  if (value.type_index == kTVMFFISmallStr) return std::string(value.v_bytes, value.zero_padding);
  if (value.type_index != kTVMFFIStr) return "<no string>";
  return text(*reinterpret_cast<const TVMFFIByteArray*>(value.v_obj + 1));
}

void release(const TVMFFIAny& value) {
  if (value.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(value.v_ptr);
}

std::string describe(const TVMFFIAny& tensor) {
  const Outcome outcome = call(&__tvm_ffi_ffi_test_describe, {tensor});
  if (outcome.code != 0) return outcome.kind + ": " + outcome.message;
  const std::string result = string_of(outcome.result);
  release(outcome.result);
  return result;
}

// ---- Objects and references

struct CountedObject {
  TVMFFIObject header;
  std::vector<int> flags;  // of each deleter call
};

void record_flags(void* self, int flags) { static_cast<CountedObject*>(self)->flags.push_back(flags); }

CountedObject counted() {
  return CountedObject{TVMFFIObject{1 | uint64_t{1} << 32, kTVMFFIObject, 0, &record_flags}, {}};
}

void the_last_strong_reference_deletes_payload_and_block() {
  CountedObject object = counted();
  CHECK_EQ(TVMFFIObjectIncRef(&object), 0);
  CHECK_EQ(object.header.combined_ref_count, 2 | uint64_t{1} << 32);
  TVMFFIObjectDecRef(&object);
  CHECK(object.flags.empty());
  TVMFFIObjectDecRef(&object);
  CHECK(object.flags == std::vector<int>{3});
}

void a_weak_reference_keeps_the_block_but_not_the_payload() {
  CountedObject object = counted();
  object.header.combined_ref_count += uint64_t{1} << 32;
  TVMFFIObjectDecRef(&object);
  CHECK(object.flags == std::vector<int>{1});
  CHECK_EQ(object.header.combined_ref_count, uint64_t{1} << 32);
}

void an_object_without_deleter_is_left_alone() {
  TVMFFIObject object = {1 | uint64_t{1} << 32, kTVMFFIObject, 0, nullptr};
  CHECK_EQ(TVMFFIObjectDecRef(&object), 0);
}

void references_are_counted_across_threads() {
  CountedObject object = counted();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) TVMFFIObjectIncRef(&object);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&object] {
      for (int j = 0; j < 10000; ++j) {
        TVMFFIObjectIncRef(&object);
        TVMFFIObjectDecRef(&object);
      }
      TVMFFIObjectDecRef(&object);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(object.flags.empty());
  TVMFFIObjectDecRef(&object);
  CHECK(object.flags == std::vector<int>{3});
}

void null_handles_are_errors() {
  if (skipped("null handles")) return;
  std::string kind;
  std::string message;
  CHECK_EQ(TVMFFIObjectIncRef(nullptr), -1);
  take_raised(&kind, &message);
  CHECK_EQ(kind, "ValueError");
  CHECK_EQ(message, "TVMFFIObjectIncRef: the object is NULL");
  CHECK_EQ(TVMFFIObjectDecRef(nullptr), -1);
  CHECK_EQ(TVMFFITensorFromDLPackVersioned(nullptr, 0, 0, nullptr), -1);
  CHECK_EQ(TVMFFITensorToDLPackVersioned(nullptr, nullptr), -1);
  CHECK_EQ(TVMFFIStringFromByteArray(nullptr, nullptr), -1);
  CHECK_EQ(TVMFFIEnvTensorAlloc(nullptr, nullptr), -1);
  CHECK_EQ(TVMFFIErrorCreate(nullptr, nullptr, nullptr, nullptr), -1);
  TVMFFIErrorMoveFromRaised(nullptr);
  TVMFFIErrorSetRaised(nullptr);
  TVMFFIErrorSetRaisedFromCStr(nullptr, nullptr);
  take_raised(&kind, &message);
  CHECK_EQ(kind, "RuntimeError");
}

void the_version_is_that_of_the_abi() {
  TVMFFIVersion version = {9, 9, 9};
  TVMFFIGetVersion(&version);
  CHECK_EQ(version.major, 0u);
  CHECK(version.minor >= 1);
}

// ---- Errors

void an_error_is_moved_out_once() {
  TVMFFIErrorSetRaisedFromCStr("ValueError", "first");
  TVMFFIErrorSetRaisedFromCStr("TypeError", "second");
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  REQUIRE(error != nullptr);
  CHECK_EQ(static_cast<TVMFFIObject*>(error)->type_index, kTVMFFIError + 0);
  CHECK_EQ(text(error_cell(error).kind), "TypeError");
  CHECK_EQ(text(error_cell(error).message), "second");
  TVMFFIObjectHandle again = &again;
  TVMFFIErrorMoveFromRaised(&again);
  CHECK(again == nullptr);
  TVMFFIObjectDecRef(error);
}

void message_parts_are_joined() {
  const char* parts[] = {"one", nullptr, " two", " three"};
  TVMFFIErrorSetRaisedFromCStrParts("IndexError", parts, 4);
  std::string kind;
  std::string message;
  take_raised(&kind, &message);
  CHECK_EQ(kind, "IndexError");
  CHECK_EQ(message, "one two three");
}

void an_error_that_is_raised_again_keeps_its_identity() {
  const TVMFFIByteArray kind = {"KeyError", 8};
  const TVMFFIByteArray message = {"m\0n", 3};
  const TVMFFIByteArray backtrace = {"a\n", 2};
  TVMFFIObjectHandle error = nullptr;
  REQUIRE(TVMFFIErrorCreate(&kind, &message, &backtrace, &error) == 0);
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectHandle taken = nullptr;
  TVMFFIErrorMoveFromRaised(&taken);
  CHECK(taken == error);
  TVMFFIObjectDecRef(error);  // the reference of TVMFFIErrorCreate; the moved one keeps it alive
  CHECK_EQ(text(error_cell(taken).message), std::string("m\0n", 3));
  const TVMFFIByteArray more = {"b\n", 2};
  error_cell(taken).update_backtrace(taken, &more, 1);
  CHECK_EQ(text(error_cell(taken).backtrace), "a\nb\n");
  error_cell(taken).update_backtrace(taken, &more, 0);
  CHECK_EQ(text(error_cell(taken).backtrace), "b\n");
  TVMFFIObjectDecRef(taken);
}

void a_raised_error_belongs_to_its_thread() {
  TVMFFIErrorSetRaisedFromCStr("ValueError", "here");
  std::thread([] {
    TVMFFIObjectHandle error = &error;
    TVMFFIErrorMoveFromRaised(&error);
    CHECK(error == nullptr);
    // Left raised: the end of the thread releases it (LeakSanitizer would tell).
    TVMFFIErrorSetRaisedFromCStr("ValueError", "left behind");
  }).join();
  std::string kind;
  std::string message;
  take_raised(&kind, &message);
  CHECK_EQ(message, "here");
}

void no_exception_leaves_when_memory_is_out() {
  const std::string text_of_100(100, 'x');
  const TVMFFIByteArray bytes = {text_of_100.data(), text_of_100.size()};
  TVMFFIObjectHandle error = nullptr;
  REQUIRE(TVMFFIErrorCreate(&bytes, &bytes, &bytes, &error) == 0);
  const char* parts[] = {text_of_100.c_str(), text_of_100.c_str()};
  TVMFFIObjectHandle unused = nullptr;
  DLTensor prototype = {};
  int code = 0;
  memory_is_out = true;
  TVMFFIErrorSetRaisedFromCStr(text_of_100.c_str(), text_of_100.c_str());
  TVMFFIErrorSetRaisedFromCStrParts("ValueError", parts, 2);
  code |= TVMFFIEnvTensorAlloc(nullptr, &unused) == -1 ? 0 : 1;
  code |= TVMFFIEnvTensorAlloc(&prototype, &unused) == -1 ? 0 : 2;  // no allocator is set
  code |= TVMFFIErrorCreate(&bytes, &bytes, &bytes, &unused) == -1 ? 0 : 4;
  error_cell(error).update_backtrace(error, &bytes, 1);
  memory_is_out = false;
  CHECK_EQ(code, 0);
  CHECK_EQ(text(error_cell(error).backtrace), text_of_100);
  TVMFFIObjectHandle raised = &raised;
  TVMFFIErrorMoveFromRaised(&raised);
  CHECK(raised == nullptr);
  TVMFFIObjectDecRef(error);
}

// ---- Strings

void strings_of_seven_characters_are_small() {
  for (int64_t length : {0, 1, 7, 8, 9, 1000}) {
    const Outcome outcome = call(&__tvm_ffi_ffi_test_string, {any(kTVMFFIInt, length)});
    CHECK_EQ(outcome.code, 0);
    CHECK_EQ(outcome.result.type_index, length <= 7 ? kTVMFFISmallStr + 0 : kTVMFFIStr + 0);
    const std::string characters = string_of(outcome.result);
    CHECK_EQ(characters.size(), static_cast<size_t>(length));
    CHECK(length < 3 || characters.substr(0, 3) == "abc");
    release(outcome.result);
  }
}

// ---- Tensors

int deleted = 0;

struct ManagedTensor {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  alignas(64) char memory[64] = {};
  DLManagedTensorVersioned managed = {};

  explicit ManagedTensor(std::vector<int64_t> extents, std::vector<int64_t> distances = {})
      : shape(std::move(extents)), strides(std::move(distances)) {
    managed.version = {1, 0};
    managed.deleter = [](DLManagedTensorVersioned*) { ++deleted; };
    managed.dl_tensor.data = memory;
    managed.dl_tensor.device = {kDLCPU, 0};
    managed.dl_tensor.ndim = static_cast<int32_t>(shape.size());
    managed.dl_tensor.dtype = {kDLFloat, 32, 1};
    managed.dl_tensor.shape = shape.data();
    managed.dl_tensor.strides = strides.empty() ? nullptr : strides.data();
  }
};

void missing_strides_are_filled() {
  ManagedTensor source({2, 3, 4});
  deleted = 0;
  TVMFFIObjectHandle tensor = nullptr;
  REQUIRE(TVMFFITensorFromDLPackVersioned(&source.managed, 0, 1, &tensor) == 0);
  CHECK_EQ(static_cast<TVMFFIObject*>(tensor)->type_index, kTVMFFITensor + 0);
  REQUIRE(tensor_of(tensor).strides != nullptr);
  CHECK_EQ(tensor_of(tensor).strides[0], 12);
  CHECK_EQ(tensor_of(tensor).strides[1], 4);
  CHECK_EQ(tensor_of(tensor).strides[2], 1);
  CHECK_EQ(describe(pointer_any(kTVMFFITensor, tensor)), "float32[2, 3, 4] strides [12, 4, 1] on 1:0");
  CHECK_EQ(deleted, 0);
  TVMFFIObjectDecRef(tensor);
  CHECK_EQ(deleted, 1);
}

void a_dlpack_view_keeps_the_tensor_alive() {
  ManagedTensor source({2, 2}, {4, 2});
  deleted = 0;
  TVMFFIObjectHandle tensor = nullptr;
  REQUIRE(TVMFFITensorFromDLPackVersioned(&source.managed, 0, 0, &tensor) == 0);
  CHECK(tensor_of(tensor).strides == source.strides.data());
  DLManagedTensorVersioned* view = nullptr;
  REQUIRE(TVMFFITensorToDLPackVersioned(tensor, &view) == 0);
  CHECK_EQ(view->version.major, 1u);
  CHECK(view->dl_tensor.data == source.memory);
  TVMFFIObjectDecRef(tensor);
  CHECK_EQ(deleted, 0);
  view->deleter(view);
  CHECK_EQ(deleted, 1);
}

void unsuitable_tensors_stay_with_their_owner() {
  deleted = 0;
  std::string kind;
  std::string message;
  TVMFFIObjectHandle tensor = nullptr;
  ManagedTensor gaps({2, 2}, {4, 2});
  CHECK_EQ(TVMFFITensorFromDLPackVersioned(&gaps.managed, 0, 1, &tensor), -1);
  take_raised(&kind, &message);
  CHECK_EQ(kind, "RuntimeError");
  ManagedTensor offset({2, 2});
  offset.managed.dl_tensor.byte_offset = 4;
  CHECK_EQ(TVMFFITensorFromDLPackVersioned(&offset.managed, 64, 0, &tensor), -1);
  CHECK_EQ(TVMFFITensorFromDLPackVersioned(&offset.managed, 4, 0, &tensor), 0);
  TVMFFIObjectDecRef(tensor);
  CHECK_EQ(deleted, 1);
  ManagedTensor padded({2, 2});
  padded.managed.flags = 4;
  CHECK_EQ(TVMFFITensorFromDLPackVersioned(&padded.managed, 0, 0, &tensor), -1);
  take_raised(&kind, &message);
  CHECK_EQ(deleted, 1);
  if (skipped("absurd extents, a later DLPack, negative ranks")) return;
  // The product of the extents is no 64-bit number.
  ManagedTensor absurd({int64_t{1} << 40, int64_t{1} << 40, 2}, {int64_t{1} << 41, 2, 1});
  CHECK_EQ(TVMFFITensorFromDLPackVersioned(&absurd.managed, 0, 1, &tensor), 0);
  TVMFFIObjectDecRef(tensor);
  CHECK_EQ(deleted, 2);
  ManagedTensor later({2, 2});
  later.managed.version.major = 2;
  CHECK_EQ(TVMFFITensorFromDLPackVersioned(&later.managed, 0, 0, &tensor), -1);
  ManagedTensor negative({2, 2});
  negative.managed.dl_tensor.ndim = -1;
  CHECK_EQ(TVMFFITensorFromDLPackVersioned(&negative.managed, 0, 0, &tensor), -1);
  take_raised(&kind, &message);
  CHECK_EQ(deleted, 2);
}

void a_scalar_tensor_and_a_missing_deleter_are_allowed() {
  ManagedTensor scalar({});
  scalar.managed.deleter = nullptr;
  TVMFFIObjectHandle tensor = nullptr;
  REQUIRE(TVMFFITensorFromDLPackVersioned(&scalar.managed, 0, 1, &tensor) == 0);
  CHECK_EQ(describe(pointer_any(kTVMFFITensor, tensor)), "float32[] strides [] on 1:0");
  TVMFFIObjectDecRef(tensor);
}

// ---- Environment

void streams_are_kept_per_device_and_thread() {
  int a = 0;
  int b = 0;
  void* original = &original;
  CHECK_EQ(TVMFFIEnvSetStream(kDLCPU, 0, &a, &original), 0);
  CHECK(original == nullptr);
  CHECK_EQ(TVMFFIEnvSetStream(kDLCPU, 3, &b, nullptr), 0);
  CHECK_EQ(TVMFFIEnvSetStream(kDLCPU, 0, &b, &original), 0);
  CHECK(original == &a);
  CHECK(TVMFFIEnvGetStream(kDLCPU, 0) == &b);
  CHECK(TVMFFIEnvGetStream(kDLExtDev, 0) == nullptr);
  const Outcome outcome = call(&__tvm_ffi_ffi_test_stream, {any(kTVMFFIInt, kDLCPU), any(kTVMFFIInt, 3)});
  CHECK(outcome.result.v_ptr == &b);
  std::thread([] { CHECK(TVMFFIEnvGetStream(kDLCPU, 0) == nullptr); }).join();
  TVMFFIEnvSetStream(kDLCPU, 0, nullptr, nullptr);
  TVMFFIEnvSetStream(kDLCPU, 3, nullptr, nullptr);
  if (skipped("negative devices")) return;
  CHECK_EQ(TVMFFIEnvSetStream(-1, 0, nullptr, nullptr), -1);
}

// A fresh ManagedTensor like the prototype, freed by its deleter.
int allocate_on_heap(DLTensor* prototype, DLManagedTensorVersioned** out, void*,
                     void (*)(void*, const char*, const char*)) {
  auto* tensor = new ManagedTensor(std::vector<int64_t>(prototype->shape, prototype->shape + prototype->ndim));
  tensor->managed.dl_tensor.device = prototype->device;
  tensor->managed.dl_tensor.dtype = prototype->dtype;
  tensor->managed.manager_ctx = tensor;
  tensor->managed.deleter = [](DLManagedTensorVersioned* self) {
    ++deleted;
    delete static_cast<ManagedTensor*>(self->manager_ctx);
  };
  *out = &tensor->managed;
  return 0;
}

int fail_with_reason(DLTensor*, DLManagedTensorVersioned**, void* error_ctx,
                     void (*set_error)(void*, const char*, const char*)) {
  set_error(error_ctx, "MemoryError", "no more");
  return -1;
}

int fail_silently(DLTensor*, DLManagedTensorVersioned**, void*, void (*)(void*, const char*, const char*)) {
  return -1;
}

int return_nothing(DLTensor*, DLManagedTensorVersioned**, void*, void (*)(void*, const char*, const char*)) {
  return 0;
}

int countdown = 0;

int fail_after_countdown(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                         void (*set_error)(void*, const char*, const char*)) {
  return countdown-- > 0 ? allocate_on_heap(prototype, out, error_ctx, set_error)
                         : fail_with_reason(prototype, out, error_ctx, set_error);
}

void the_threads_allocator_comes_before_the_global_one() {
  DLPackManagedTensorAllocator original = &fail_silently;
  CHECK_EQ(TVMFFIEnvSetDLPackManagedTensorAllocator(&allocate_on_heap, 1, &original), 0);
  CHECK(original == nullptr);
  TVMFFIEnvSetDLPackManagedTensorAllocator(&fail_silently, 0, &original);
  CHECK(original == &allocate_on_heap);
  CHECK(TVMFFIEnvGetDLPackManagedTensorAllocator() == &fail_silently);
  std::thread([] {
    CHECK(TVMFFIEnvGetDLPackManagedTensorAllocator() == &allocate_on_heap);
    DLPackManagedTensorAllocator own = &fail_silently;
    TVMFFIEnvSetDLPackManagedTensorAllocator(&fail_with_reason, 0, &own);
    CHECK(own == nullptr);
    CHECK(TVMFFIEnvGetDLPackManagedTensorAllocator() == &fail_with_reason);
  }).join();
  TVMFFIEnvSetDLPackManagedTensorAllocator(nullptr, 0, nullptr);
  CHECK(TVMFFIEnvGetDLPackManagedTensorAllocator() == &allocate_on_heap);
  TVMFFIEnvSetDLPackManagedTensorAllocator(nullptr, 1, nullptr);
  CHECK(TVMFFIEnvGetDLPackManagedTensorAllocator() == nullptr);
}

void a_kernel_allocates_through_the_environment() {
  const TestTensor like({2, 3}, {kDLBfloat, 16, 1});
  TVMFFIEnvSetDLPackManagedTensorAllocator(&allocate_on_heap, 0, nullptr);
  deleted = 0;
  const Outcome outcome = call(&__tvm_ffi_ffi_test_allocate, {like.view()});
  CHECK_EQ(outcome.code, 0);
  REQUIRE(outcome.result.type_index == kTVMFFITensor);
  CHECK_EQ(describe(outcome.result), "bfloat16[2, 3] strides [3, 1] on 1:0");
  release(outcome.result);
  CHECK_EQ(deleted, 1);
  TVMFFIEnvSetDLPackManagedTensorAllocator(nullptr, 0, nullptr);
}

void failing_allocators_are_errors() {
  const TestTensor like({2, 3});
  const auto attempt = [&](DLPackManagedTensorAllocator allocator) {
    TVMFFIEnvSetDLPackManagedTensorAllocator(allocator, 0, nullptr);
    const Outcome outcome = call(&__tvm_ffi_ffi_test_allocate, {like.view()});
    TVMFFIEnvSetDLPackManagedTensorAllocator(nullptr, 0, nullptr);
    CHECK_EQ(outcome.code, -1);
    return outcome.kind + ": " + outcome.message;
  };
  CHECK_EQ(attempt(nullptr).substr(0, 36), "RuntimeError: TVMFFIEnvTensorAlloc: ");
  CHECK_EQ(attempt(&fail_with_reason), "MemoryError: no more");
  CHECK_EQ(attempt(&return_nothing).substr(0, 14), "RuntimeError: ");
  if (skipped("an allocator that fails and says nothing")) return;
  CHECK_EQ(attempt(&fail_silently), "RuntimeError: TVMFFIEnvTensorAlloc: the allocator failed without saying why");
}

void nested_arrays_are_returned_and_released() {
  const TestTensor like({4});
  TVMFFIEnvSetDLPackManagedTensorAllocator(&allocate_on_heap, 0, nullptr);
  deleted = 0;
  const Outcome outcome = call(&__tvm_ffi_ffi_test_allocate_pairs, {like.view(), any(kTVMFFIInt, 3)});
  REQUIRE(outcome.code == 0 && outcome.result.type_index == kTVMFFIArray);
  CHECK_EQ(array_of(outcome.result).size, 2);
  const auto* elements = static_cast<const TVMFFIAny*>(array_of(outcome.result).data);
  CHECK_EQ(elements[1].v_int64, 3);
  REQUIRE(elements[0].type_index == kTVMFFIArray);
  const auto* pairs = static_cast<const TVMFFIAny*>(array_of(elements[0]).data);
  CHECK_EQ(array_of(elements[0]).size, 3);
  const TVMFFIAny kept = static_cast<const TVMFFIAny*>(array_of(pairs[2]).data)[1];
  CHECK_EQ(kept.type_index, kTVMFFITensor + 0);
  TVMFFIObjectIncRef(kept.v_obj);
  release(outcome.result);
  CHECK_EQ(deleted, 5);
  CHECK_EQ(describe(kept), "float32[4] strides [1] on 1:0");
  release(kept);
  CHECK_EQ(deleted, 6);
  // A failure half way releases what was built.
  TVMFFIEnvSetDLPackManagedTensorAllocator(&fail_after_countdown, 0, nullptr);
  deleted = 0;
  countdown = 3;
  const Outcome failed = call(&__tvm_ffi_ffi_test_allocate_pairs, {like.view(), any(kTVMFFIInt, 3)});
  CHECK_EQ(failed.kind, "MemoryError");
  CHECK_EQ(deleted, 3);
  TVMFFIEnvSetDLPackManagedTensorAllocator(nullptr, 0, nullptr);
}

// ---- Calls and argument readers

void values_come_back_as_they_were_passed() {
  CHECK_EQ(call(&__tvm_ffi_ffi_test_count, {any(0), any(0), any(0)}).result.v_int64, 3);
  for (const TVMFFIAny& value : {any(kTVMFFINone), any(kTVMFFIInt, -5), any(kTVMFFIBool, 1), float_any(0.25),
                                 pointer_any(kTVMFFIOpaquePtr, &deleted)}) {
    const Outcome outcome = call(&__tvm_ffi_ffi_test_echo, {value});
    CHECK_EQ(outcome.result.type_index, value.type_index);
    CHECK_EQ(outcome.result.v_int64, value.v_int64);
  }
  CountedObject object = counted();
  const Outcome outcome = call(&__tvm_ffi_ffi_test_echo, {pointer_any(kTVMFFIObject, &object)});
  CHECK(outcome.result.v_ptr == &object);
  CHECK_EQ(object.header.combined_ref_count, 2 | uint64_t{1} << 32);
}

void numbers_convert_as_in_tvm_ffi() {
  CHECK_EQ(call(&__tvm_ffi_ffi_test_integer, {any(kTVMFFIBool, 1)}).result.v_int64, 1);
  CHECK_EQ(call(&__tvm_ffi_ffi_test_integer, {any(kTVMFFIInt, INT64_MIN)}).result.v_int64, INT64_MIN);
  CHECK_EQ(call(&__tvm_ffi_ffi_test_optional_integer, {any(kTVMFFINone)}).result.v_int64, -1);
  CHECK_EQ(call(&__tvm_ffi_ffi_test_optional_integer, {any(kTVMFFIInt, 7)}).result.v_int64, 7);
  CHECK_EQ(call(&__tvm_ffi_ffi_test_number, {any(kTVMFFIInt, 3)}).result.v_float64, 3.0);
  CHECK_EQ(call(&__tvm_ffi_ffi_test_number, {any(kTVMFFIBool, 1)}).result.v_float64, 1.0);
  CHECK_EQ(call(&__tvm_ffi_ffi_test_number, {float_any(0.5)}).result.v_float64, 0.5);
  CHECK_EQ(call(&__tvm_ffi_ffi_test_boolean, {any(kTVMFFIInt, 2)}).result.v_int64, 1);
  CHECK_EQ(call(&__tvm_ffi_ffi_test_boolean, {any(kTVMFFIBool, 0)}).result.v_int64, 0);
}

void wrong_arguments_name_what_was_given_and_wanted() {
  const auto error = [](TVMFFISafeCallType kernel, const std::vector<TVMFFIAny>& args) {
    const Outcome outcome = call(kernel, args);
    CHECK_EQ(outcome.code, -1);
    CHECK_EQ(outcome.result.type_index, kTVMFFINone + 0);
    return outcome.kind + ": " + outcome.message;
  };
  CHECK_EQ(error(&__tvm_ffi_ffi_test_integer, {float_any(1.5)}),
           "TypeError: ffi_test_integer: argument 1 (value) is the float 1.500000, wanted an int");
  CHECK_EQ(error(&__tvm_ffi_ffi_test_optional_integer, {string_any("x")}),
           "TypeError: ffi_test_optional_integer: argument 1 (value) is a string, wanted an int or None");
  CHECK_EQ(error(&__tvm_ffi_ffi_test_number, {any(kTVMFFINone)}),
           "TypeError: ffi_test_number: argument 1 (value) is None, wanted a number");
  CHECK_EQ(error(&__tvm_ffi_ffi_test_number, {float_any(std::numeric_limits<double>::infinity())}),
           "ValueError: ffi_test_number: value is inf, wanted a finite number");
  CHECK_EQ(error(&__tvm_ffi_ffi_test_boolean, {float_any(1.0)}),
           "TypeError: ffi_test_boolean: argument 1 (value) is the float 1.000000, wanted a bool");
  CHECK_EQ(error(&__tvm_ffi_ffi_test_integer, {}),
           "TypeError: ffi_test_integer: argument 1 (value) is missing, wanted an int; 0 arguments were given");
  CHECK_EQ(error(&__tvm_ffi_ffi_test_integer, {any(kTVMFFIInt), any(kTVMFFIInt)}),
           "TypeError: ffi_test_integer: 2 arguments were given, wanted 1");
  CHECK_EQ(error(&__tvm_ffi_ffi_test_describe, {any(kTVMFFIInt, 4)}),
           "TypeError: ffi_test_describe: argument 1 (tensor) is the int 4, wanted a tensor or None");
  CHECK_EQ(error(&__tvm_ffi_ffi_test_describe, {any(kTVMFFIDLTensorPtr)}),
           "TypeError: ffi_test_describe: argument 1 (tensor) is a tensor that is NULL, wanted a tensor or None");
  CHECK_EQ(error(&__tvm_ffi_ffi_test_throw, {}), "InternalError: ffi_test_throw: thrown");
  CHECK_EQ(error(&__tvm_ffi_ffi_test_raise, {string_any("KeyError"), string_any("no such key")}),
           "KeyError: no such key");
  const Outcome silent = call(&__tvm_ffi_ffi_test_fail_silently, {});
  CHECK_EQ(silent.code, -1);
  CHECK_EQ(silent.kind, "");
}

// What the checks of `body` raise, "" for nothing.
template <typename Body>
std::string check(const std::vector<TVMFFIAny>& values, Body body) {
  TVMFFIAny result = {};
  Args args("kernel", values.data(), static_cast<int32_t>(values.size()), &result);
  try {
    body(args);
    return "";
  } catch (const ExportError& error) {
    return std::string(error.kind()) + ": " + error.what();
  }
}

void tensors_that_cannot_exist_are_refused() {
  CHECK_EQ(describe(TestTensor({2, -3}).view()),
           "ValueError: ffi_test_describe: tensor has shape [2, -3], wanted no negative extent");
  CHECK_EQ(describe(TestTensor({1, 1, 1, 1, 1, 1, 1, 1, 1}).view()),
           "ValueError: ffi_test_describe: tensor has 9 dimensions, wanted 0 to 8");
  TestTensor negative_rank({2});
  negative_rank.tensor.ndim = -1;
  CHECK_EQ(describe(negative_rank.view()), "ValueError: ffi_test_describe: tensor has -1 dimensions, wanted 0 to 8");
  TestTensor shapeless({2});
  shapeless.tensor.shape = nullptr;
  CHECK_EQ(describe(shapeless.view()),
           "ValueError: ffi_test_describe: tensor has no shape (NULL), wanted one of its dimensions");
  CHECK_EQ(describe(TestTensor({2, 2}, {kDLFloat, 32, 1}, {-2, 1}).view()),
           "ValueError: ffi_test_describe: tensor has stride -2 in dimension 0, wanted no negative stride");
  TestTensor memoryless({2});
  memoryless.tensor.data = nullptr;
  CHECK_EQ(describe(memoryless.view()),
           "ValueError: ffi_test_describe: tensor of shape [2] has no memory (data is NULL), wanted its address");
  TestTensor unaligned({2});
  unaligned.tensor.byte_offset = 2;
  CHECK(describe(unaligned.view()).find("no multiple of its element's 4 bytes") != std::string::npos);
  CHECK(describe(TestTensor({INT64_MAX, 2}).view()).find("larger than an address space") != std::string::npos);
  CHECK(describe(TestTensor({INT64_MAX / 2}).view()).find("larger than an address space") != std::string::npos);
  CHECK(describe(TestTensor({2}, {kDLFloat, 32, 1}, {INT64_MAX}).view()).find("larger than an address space") !=
        std::string::npos);
  TestTensor wrapping({2});
  wrapping.tensor.byte_offset = UINT64_MAX;
  CHECK(describe(wrapping.view()).find("larger than an address space") != std::string::npos);
  // Empty, scalar and vector-element tensors do exist.
  TestTensor empty({0, 5});
  empty.tensor.data = nullptr;
  CHECK_EQ(describe(empty.view()), "float32[0, 5] strides [5, 1] on 1:0");
  CHECK_EQ(describe(TestTensor({}).view()), "float32[] strides [] on 1:0");
  CHECK_EQ(describe(TestTensor({1, 2, 0}, {kDLFloat, 32, 1}, {-5, 7, INT64_MAX}).view()),
           "float32[1, 2, 0] strides [2, 7, 1] on 1:0");
  CHECK_EQ(describe(TestTensor({2}, {kDLFloat, 32, 4}).view()), "another dtype[2] strides [1] on 1:0");
}

void tensor_requirements_say_what_is_wrong() {
  const TestTensor half({2, 3}, {kDLFloat, 16, 1});
  const TestTensor full({4, 3}, {kDLFloat, 32, 1});
  const TestTensor gaps({2, 3}, {kDLFloat, 32, 1}, {8, 2});
  const TestTensor rows({2, 3}, {kDLFloat, 32, 1}, {8, 1});
  const TestTensor shared_rows({2, 3}, {kDLFloat, 32, 1}, {0, 1});
  TestTensor elsewhere({2, 3});
  elsewhere.tensor.device = {kDLExtDev, 1};
  const auto one = [](const TestTensor& tensor, void (*body)(const TensorArg&)) {
    return check({tensor.view()}, [body](Args& args) { body(args.tensor("x")); });
  };
  CHECK_EQ(one(half, [](const TensorArg& x) { x.require_rank(3); }),
           "ValueError: kernel: x has 2 dimensions [2, 3], wanted 3");
  CHECK_EQ(one(half,
               [](const TensorArg& x) {
                 x.require_shape({2, -1}).require_shape({2, 4}, "[tokens, hidden]");
               }),
           "ValueError: kernel: x has shape [2, 3], wanted [2, 4] ([tokens, hidden])");
  CHECK_EQ(one(half,
               [](const TensorArg& x) {
                 x.require_shape({2, -1, 3});
               }),
           "ValueError: kernel: x has shape [2, 3], wanted [2, any, 3]");
  CHECK_EQ(one(half,
               [](const TensorArg& x) {
                 x.require_dtype({Dtype::kBFloat16, Dtype::kFloat32});
               }),
           "ValueError: kernel: x is float16, wanted bfloat16 or float32");
  CHECK_EQ(one(gaps, [](const TensorArg& x) { x.require_inner_contiguous(); }),
           "ValueError: kernel: x has strides [8, 2], wanted 1 for the last dimension");
  CHECK_EQ(one(rows, [](const TensorArg& x) { x.require_inner_contiguous().require_contiguous(); }),
           "ValueError: kernel: x has strides [8, 1] for shape [2, 3], wanted [3, 1] (contiguous)");
  CHECK_EQ(one(half, [](const TensorArg& x) { x.require_contiguous().require_alignment(2).require_rank(2); }), "");
  CHECK_EQ(one(half, [](const TensorArg& x) { x.require(false, "is odd, wanted even"); }),
           "ValueError: kernel: x is odd, wanted even");
  CHECK_EQ(check({shared_rows.view()}, [](Args& args) { args.tensor("x"); }), "");
  CHECK_EQ(check({shared_rows.view()}, [](Args& args) { args.output("x"); }),
           "ValueError: kernel: x is written but has strides [0, 1] for shape [2, 3], "
           "wanted memory of its own for every element");
  CHECK_EQ(check({half.view(), full.view()},
                 [](Args& args) {
                   const TensorArg x = args.tensor("x");
                   args.tensor("y").require_same_dtype(x);
                 }),
           "ValueError: kernel: y is float32, wanted float16 like x");
  CHECK_EQ(check({half.view(), full.view()},
                 [](Args& args) {
                   const TensorArg x = args.tensor("x");
                   args.tensor("y").require_no_overlap(x);
                 }),
           "ValueError: kernel: y shares memory with x, wanted separate memory");
  CHECK_EQ(check({half.view(), elsewhere.view()},
                 [](Args& args) {
                   args.tensor("x");
                   args.tensor("y");
                 }),
           "ValueError: kernel: y is on musa:1, wanted cpu:0 like x");
  CHECK_EQ(check({any(kTVMFFIInt, 129)}, [](Args& args) { args.integer("num_splits", 0, 128); }),
           "ValueError: kernel: num_splits is 129, wanted 0 to 128");
  CHECK_EQ(check({any(kTVMFFIInt, 0)}, [](Args& args) { args.integer("batch", 1); }),
           "ValueError: kernel: batch is 0, wanted at least 1");
  CHECK_EQ(check({any(kTVMFFINone)}, [](Args& args) { CHECK(!args.optional_output("lse").has_value()); }), "");
}

void outputs_do_not_overlap_themselves() {
  const auto refused = [](std::vector<int64_t> shape, std::vector<int64_t> strides) {
    const TestTensor tensor(shape, {kDLFloat, 32, 1}, strides);
    CHECK_EQ(check({tensor.view()}, [](Args& args) { args.tensor("x"); }), "");
    return check({tensor.view()}, [](Args& args) { args.output("x"); }) != "";
  };
  CHECK(refused({2, 3}, {0, 1}));
  CHECK(refused({2, 3}, {2, 1}));  // rows of 3 only 2 apart
  CHECK(refused({3, 2}, {1, 2}));  // columns likewise
  CHECK(refused({2, 2, 4}, {4, 4, 1}));
  CHECK(refused({4, 2, 8}, {8, 31, 1}));
  CHECK(!refused({2, 3}, {3, 1}));
  CHECK(!refused({3, 2}, {1, 3}));  // transposed
  CHECK(!refused({4, 2, 8}, {8, 32, 1}));
  CHECK(!refused({2, 3}, {100, 7}));  // gaps
  CHECK(!refused({1, 3, 1}, {0, 1, 0}));
  CHECK(!refused({0, 3}, {0, 0}));  // nothing is written
}

void fp32_numbers_fit() {
  const auto read = [](double value) { return check({float_any(value)}, [](Args& args) { args.fp32("eps"); }); };
  CHECK_EQ(read(1e39), "ValueError: kernel: eps is 1e+39, wanted 0 or a magnitude of 1.4013e-45 to 3.40282e+38 (fp32)");
  CHECK_EQ(read(-1e300),
           "ValueError: kernel: eps is -1e+300, wanted 0 or a magnitude of 1.4013e-45 to 3.40282e+38 (fp32)");
  CHECK_EQ(read(1e-300),
           "ValueError: kernel: eps is 1e-300, wanted 0 or a magnitude of 1.4013e-45 to 3.40282e+38 (fp32)");
  CHECK_EQ(read(std::numeric_limits<double>::infinity()), "ValueError: kernel: eps is inf, wanted a finite number");
  for (const double value : {0.0, -0.0, 1e-6, -1.0, 3.4e38, 1e-40}) CHECK_EQ(read(value), "");
}

void an_export_that_forgets_to_finish_fails() {
  TVMFFIAny result = {};
  CHECK_EQ(run_export(
               "kernel", [](Args&) {}, nullptr, 0, &result),
           -1);
  std::string kind;
  std::string message;
  take_raised(&kind, &message);
  CHECK_EQ(message, "kernel: the export never calls finish()");
}

void a_negative_count_or_missing_array_is_an_error() {
  TVMFFIAny result = {};
  const TVMFFIAny value = any(kTVMFFIInt, 1);
  std::string kind;
  std::string message;
  CHECK_EQ(__tvm_ffi_ffi_test_integer(nullptr, &value, -1, &result), -1);
  take_raised(&kind, &message);
  CHECK_EQ(kind, "TypeError");
  CHECK_EQ(__tvm_ffi_ffi_test_integer(nullptr, nullptr, 1, &result), -1);
  take_raised(&kind, &message);
  CHECK_EQ(kind, "TypeError");
  CHECK_EQ(__tvm_ffi_ffi_test_integer(nullptr, &value, 1, nullptr), 0);
}

void scratch_memory_comes_from_the_environment() {
  const TestTensor x({2});
  TVMFFIEnvSetDLPackManagedTensorAllocator(&allocate_on_heap, 0, nullptr);
  deleted = 0;
  CHECK_EQ(check({x.view()},
                 [](Args& args) {
                   args.tensor("x");
                   Scratch scratch = args.allocate(64);
                   CHECK(scratch.data() != nullptr);
                   const Scratch moved = std::move(scratch);
                   CHECK(moved.data() != nullptr);
                   CHECK_EQ(deleted, 0);
                 }),
           "");
  CHECK_EQ(deleted, 1);
  TVMFFIEnvSetDLPackManagedTensorAllocator(&fail_with_reason, 0, nullptr);
  TVMFFIAny result = {};
  CHECK_EQ(run_export(
               "kernel", [](Args& args) { args.allocate(64); }, nullptr, 0, &result),
           -1);
  std::string kind;
  std::string message;
  take_raised(&kind, &message);
  CHECK_EQ(kind, "MemoryError");
  TVMFFIEnvSetDLPackManagedTensorAllocator(nullptr, 0, nullptr);
}

// Random argument arrays around the edges of what the readers accept: each call must return, and every tensor that is
// accepted must keep the invariants that kernels rely on.
void random_arguments_never_crash_and_accepted_tensors_are_sound() {
  std::mt19937_64 random(20240607);
  const auto pick = [&](auto... choices) {
    const int64_t list[] = {static_cast<int64_t>(choices)...};
    return list[random() % (sizeof(list) / sizeof(list[0]))];
  };
  int accepted = 0;
  for (int round = 0; round < 200000; ++round) {
    DLTensor tensor = {};
    int64_t shape[16];
    int64_t strides[16];
    for (int64_t& extent : shape) {
      extent = random() % 8 != 0 ? pick(1, 2, 3, 64) : pick(0, -1, INT64_MAX, INT64_MIN, 1LL << 32, 1LL << 62);
    }
    for (int64_t& stride : strides) {
      stride = random() % 8 != 0 ? pick(0, 1, 64, 4096) : pick(-1, INT64_MAX, INT64_MIN, 1LL << 61);
    }
    static char memory[16];
    tensor.data = random() % 8 != 0 ? memory : reinterpret_cast<void*>(static_cast<uintptr_t>(random()));
    if (random() % 16 == 0) tensor.data = nullptr;
    tensor.device = {static_cast<int32_t>(pick(1, 1, 1, 2, 12, -5)), static_cast<int32_t>(pick(0, 0, 0, 1, INT32_MIN))};
    tensor.ndim =
        static_cast<int32_t>(random() % 8 != 0 ? pick(0, 1, 2, 3, 4, 8) : pick(9, 16, -1, INT32_MAX, INT32_MIN));
    tensor.dtype = {static_cast<uint8_t>(pick(0, 1, 2, 4, 6, 255)), static_cast<uint8_t>(pick(0, 8, 16, 32, 64, 255)),
                    static_cast<uint16_t>(pick(1, 1, 1, 0, 4, 65535))};
    tensor.shape = random() % 16 != 0 ? shape : nullptr;
    tensor.strides = random() % 2 != 0 ? strides : nullptr;
    tensor.byte_offset = random() % 8 != 0 ? 0 : static_cast<uint64_t>(pick(1, 2, 8, -1, INT64_MAX));

    std::vector<TVMFFIAny> values;
    const int count = static_cast<int>(random() % 4);
    for (int i = 0; i < count; ++i) {
      // Objects that are no tensors, and pointers that must not be followed, come as an address that faults.
      const int64_t type = random() % 2 != 0 ? int64_t{kTVMFFIDLTensorPtr}
                                             : pick(0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 64, 65, 66, 67, 68, 69, 71,
                                                    128, -1, INT32_MAX, INT32_MIN);
      TVMFFIAny value = any(static_cast<int32_t>(type), pick(0, 1, -1, 8, INT64_MAX));
      if (type == kTVMFFIDLTensorPtr) value.v_ptr = random() % 16 != 0 ? &tensor : nullptr;
      if (type == kTVMFFIFloat && random() % 2 != 0) value.v_float64 = std::nan("");
      values.push_back(value);
    }
    const std::string error = check(values, [&](Args& args) {
      const TensorArg first = args.tensor("first");
      const int64_t limit = INT64_MAX;
      CHECK(first.rank() >= 0 && first.rank() <= kMaxRank);
      int64_t product = 1;
      int64_t furthest = 0;
      for (int32_t i = 0; i < first.rank(); ++i) {
        CHECK(first.shape(i) >= 0 && first.stride(i) >= 0);
        if (first.empty()) continue;
        CHECK(product <= limit / first.shape(i));
        product *= first.shape(i);
        CHECK(first.shape(i) == 1 || first.stride(i) <= (limit - furthest) / (first.shape(i) - 1));
        furthest += (first.shape(i) - 1) * first.stride(i);
      }
      CHECK(first.empty() ? first.extent_bytes() == 0 : first.elements() == product && first.data() != nullptr);
      if (!first.empty() && first.dtype() != Dtype::kOther) {
        CHECK_EQ(first.extent_bytes(), (furthest + 1) * dtype_bytes(first.dtype()));
      }
      ++accepted;
      if (round % 2 == 0) {
        args.optional_output("second");
        args.number("third");
      } else {
        args.boolean("second");
        args.optional_integer("third", -1, 8);
      }
      first.require_shape({1, -1}).require_contiguous().require_dtype({Dtype::kFloat32});
      args.finish();
    });
    (void)error;
  }
  // The generator reaches the accepting side too.
  CHECK(accepted > 1000);
}

}  // namespace
}  // namespace musabench

int main() {
  using namespace musabench;
  RUN_TEST(the_last_strong_reference_deletes_payload_and_block);
  RUN_TEST(a_weak_reference_keeps_the_block_but_not_the_payload);
  RUN_TEST(an_object_without_deleter_is_left_alone);
  RUN_TEST(references_are_counted_across_threads);
  RUN_TEST(null_handles_are_errors);
  RUN_TEST(the_version_is_that_of_the_abi);
  RUN_TEST(an_error_is_moved_out_once);
  RUN_TEST(message_parts_are_joined);
  RUN_TEST(an_error_that_is_raised_again_keeps_its_identity);
  RUN_TEST(a_raised_error_belongs_to_its_thread);
  RUN_TEST(no_exception_leaves_when_memory_is_out);
  RUN_TEST(strings_of_seven_characters_are_small);
  RUN_TEST(missing_strides_are_filled);
  RUN_TEST(a_dlpack_view_keeps_the_tensor_alive);
  RUN_TEST(unsuitable_tensors_stay_with_their_owner);
  RUN_TEST(a_scalar_tensor_and_a_missing_deleter_are_allowed);
  RUN_TEST(streams_are_kept_per_device_and_thread);
  RUN_TEST(the_threads_allocator_comes_before_the_global_one);
  RUN_TEST(a_kernel_allocates_through_the_environment);
  RUN_TEST(failing_allocators_are_errors);
  RUN_TEST(nested_arrays_are_returned_and_released);
  RUN_TEST(values_come_back_as_they_were_passed);
  RUN_TEST(numbers_convert_as_in_tvm_ffi);
  RUN_TEST(wrong_arguments_name_what_was_given_and_wanted);
  RUN_TEST(tensors_that_cannot_exist_are_refused);
  RUN_TEST(tensor_requirements_say_what_is_wrong);
  RUN_TEST(outputs_do_not_overlap_themselves);
  RUN_TEST(fp32_numbers_fit);
  RUN_TEST(an_export_that_forgets_to_finish_fails);
  RUN_TEST(a_negative_count_or_missing_array_is_an_error);
  RUN_TEST(scratch_memory_comes_from_the_environment);
  RUN_TEST(random_arguments_never_crash_and_accepted_tensors_are_sound);
  return test_status();
}
