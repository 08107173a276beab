// libmusabench_support: calls, programs and the pool, over functions that only record what they were given.
#include "support/support.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "check.h"
#include "ffi_array.h"

namespace musabench {
namespace {

// ---- Calls

int runs = 0;
int fail_at = -1;  // the run that returns -1; -1: none
int destroyed = 0;

int record(void* handle, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  CHECK(handle == nullptr);
  CHECK_EQ(result->type_index, kTVMFFINone + 0);
  const int run = runs++;
  if (run == fail_at) return -1;
  result->type_index = kTVMFFIInt;
  result->v_int64 = count > 0 ? args[0].v_int64 : 0;
  return 0;
}

int return_object(void*, const TVMFFIAny*, int32_t, TVMFFIAny* result) {
  auto* object = new TVMFFIObject{1 | uint64_t{1} << 32, kTVMFFIObject, 0, [](void* self, int) {
                                    ++destroyed;
                                    delete static_cast<TVMFFIObject*>(self);
                                  }};
  result->type_index = kTVMFFIObject;
  result->v_obj = object;
  return 0;
}

void reset() {
  runs = 0;
  fail_at = -1;
  destroyed = 0;
}

void an_invoked_call_keeps_its_result() {
  reset();
  TVMFFIAny arg = {};
  arg.v_int64 = 42;
  mb_call call = {&record, &arg, 1, 0, {}};
  CHECK_EQ(mb_call_invoke(&call), 0);
  CHECK_EQ(call.result.v_int64, 42);
  mb_call object = {&return_object, nullptr, 0, 0, {}};
  CHECK_EQ(mb_call_invoke(&object), 0);
  REQUIRE(object.result.type_index == kTVMFFIObject);
  CHECK_EQ(destroyed, 0);
  TVMFFIObjectDecRef(object.result.v_obj);
  CHECK_EQ(destroyed, 1);
}

void a_launched_call_releases_an_object() {
  reset();
  mb_call call = {&return_object, nullptr, 0, 0, {}};
  CHECK_EQ(mb_call_launch(&call), 0);
  CHECK_EQ(mb_call_launch(&call), 0);
  CHECK_EQ(destroyed, 2);
  CHECK_EQ(call.result.type_index, kTVMFFINone + 0);
}

void a_list_stops_at_the_first_failure() {
  reset();
  mb_call call = {&record, nullptr, 0, 0, {}};
  mb_call* list[] = {&call, &call, &call};
  int32_t failed = 7;
  CHECK_EQ(mb_calls_launch(list, 3, &failed), 0);
  CHECK_EQ(failed, -1);
  CHECK_EQ(runs, 3);
  fail_at = 4;
  CHECK_EQ(mb_calls_launch(list, 3, &failed), -1);
  CHECK_EQ(failed, 1);
  CHECK_EQ(runs, 5);
}

void unusable_calls_are_refused() {
  mb_call empty = {};
  mb_call* list[] = {nullptr};
  int32_t failed = 7;
  CHECK_EQ(mb_call_launch(nullptr), MB_ERROR_ARGUMENT + 0);
  CHECK_EQ(mb_call_invoke(&empty), MB_ERROR_ARGUMENT + 0);
  CHECK_EQ(mb_calls_launch(list, 1, &failed), MB_ERROR_ARGUMENT + 0);
  CHECK_EQ(failed, 0);
  CHECK_EQ(mb_calls_launch(nullptr, 1, nullptr), MB_ERROR_ARGUMENT + 0);
  CHECK_EQ(mb_calls_launch(list, -1, nullptr), MB_ERROR_ARGUMENT + 0);
  CHECK_EQ(mb_calls_launch(nullptr, 0, nullptr), 0);
}

// ---- Chains

int return_nested(void* handle, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  ArrayObject* inner = new_array(2);
  return_object(handle, args, count, &inner->elements()[0]);
  return_object(handle, args, count, &inner->elements()[1]);
  ArrayObject* outer = new_array(2);
  set_object(&outer->elements()[0], inner);
  set(&outer->elements()[1], kTVMFFIInt, 7);
  set_object(result, outer);
  return 0;
}

// Its arguments are an object that is alive, one that is left as it was, and 7.
int expect_passed_on(void*, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  CHECK_EQ(count, 3);
  CHECK_EQ(args[0].type_index, kTVMFFIObject + 0);
  CHECK_EQ(args[1].type_index, kTVMFFINone + 0);
  CHECK_EQ(args[2].v_int64, 7);
  CHECK_EQ(destroyed, 0);
  result->type_index = kTVMFFIInt;
  result->v_int64 = 1;
  return ++runs == fail_at ? -1 : 0;
}

struct Chain {
  TVMFFIAny second_args[3] = {};
  mb_call first = {&return_nested, nullptr, 0, 0, {}};
  mb_call second = {&expect_passed_on, second_args, 3, 0, {}};
  TVMFFIAny args[5] = {};
  mb_call call = {&mb_call_chain, args, 5, 0, {}};

  Chain() {
    set(&args[0], kTVMFFIOpaquePtr, 0);
    args[0].v_ptr = &first;
    set(&args[1], kTVMFFIOpaquePtr, 0);
    args[1].v_ptr = &second;
    set(&args[2], kTVMFFIInt, 0);
    set(&args[3], kTVMFFIInt, -1);
    set(&args[4], kTVMFFIInt, 2);
  }
};

void a_chain_passes_results_on_and_releases_them() {
  reset();
  Chain chain;
  CHECK_EQ(mb_call_invoke(&chain.call), 0);
  CHECK_EQ(chain.call.result.v_int64, 1);
  CHECK_EQ(runs, 1);
  CHECK_EQ(destroyed, 2);
  for (const TVMFFIAny& arg : chain.second_args) CHECK_EQ(arg.type_index, kTVMFFINone + 0);
}

void a_chain_releases_results_when_the_second_call_fails() {
  reset();
  fail_at = 1;
  Chain chain;
  CHECK_EQ(mb_call_launch(&chain.call), -1);
  CHECK_EQ(destroyed, 2);
  chain.first.fn = &record;  // it fails, or returns one value instead of three
  reset();
  fail_at = 0;
  CHECK_EQ(mb_call_launch(&chain.call), -1);
  CHECK_EQ(runs, 1);
  reset();
  CHECK_EQ(mb_call_launch(&chain.call), -1);
  CHECK_EQ(runs, 1);
  set(&chain.args[4], kTVMFFIInt, 3);  // no such argument
  reset();
  CHECK_EQ(mb_call_launch(&chain.call), -1);
  CHECK_EQ(runs, 0);
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  REQUIRE(error != nullptr);
  TVMFFIObjectDecRef(error);
}

// ---- Programs

std::vector<std::string> trace;

int none() {
  trace.push_back("none()");
  return 0;
}

// The parameter types of musaMemsetAsync, musaMemcpyAsync and the like.
int three(void* memory, int value, size_t bytes) {
  trace.push_back("three(" + std::to_string(reinterpret_cast<uintptr_t>(memory)) + ", " + std::to_string(value) + ", " +
                  std::to_string(bytes) + ")");
  return 0;
}

int six(int64_t a, uint32_t b, void* c, int d, uint8_t e, int64_t f) {
  trace.push_back("six(" + std::to_string(a) + ", " + std::to_string(b) + ", " +
                  std::to_string(reinterpret_cast<uintptr_t>(c)) + ", " + std::to_string(d) + ", " + std::to_string(e) +
                  ", " + std::to_string(f) + ")");
  return 0;
}

int refuse(int code) { return code; }

template <typename F>
mb_item function_item(F* function, std::vector<uint64_t> args) {
  mb_item item = {};
  item.kind = MB_FUNCTION;
  item.count = static_cast<int32_t>(args.size());
  item.fn = reinterpret_cast<void*>(function);
  for (size_t i = 0; i < args.size() && i < 6; ++i) item.args[i] = args[i];
  return item;
}

mb_item item(int32_t kind, int32_t count, const void* argument) {
  mb_item result = {};
  result.kind = kind;
  result.count = count;
  result.args[0] = reinterpret_cast<uintptr_t>(argument);
  return result;
}

void a_program_runs_its_items_in_order() {
  reset();
  trace.clear();
  mb_call call = {&record, nullptr, 0, 0, {}};
  mb_call* list[] = {&call, &call};
  const mb_item items[] = {
      item(MB_NOP, 0, nullptr),
      function_item(&none, {}),
      item(MB_CALL, 3, &call),
      item(MB_CALLS, 2, list),
      function_item(&three, {16, static_cast<uint64_t>(-1), 1000}),
      function_item(&six, {static_cast<uint64_t>(-7), 8, 9, static_cast<uint64_t>(-10), 11, 12}),
  };
  int64_t failed = 7;
  CHECK_EQ(mb_program_run(items, 6, &failed, nullptr), 0);
  CHECK_EQ(failed, -1);
  CHECK_EQ(runs, 5);
  REQUIRE(trace.size() == 3);
  CHECK_EQ(trace[0], "none()");
  CHECK_EQ(trace[1], "three(16, -1, 1000)");
  CHECK_EQ(trace[2], "six(-7, 8, 9, -10, 11, 12)");
  CHECK_EQ(mb_program_run(nullptr, 0, nullptr, nullptr), 0);
}

void a_failed_item_ends_the_program_with_its_code() {
  reset();
  trace.clear();
  mb_call call = {&record, nullptr, 0, 0, {}};
  fail_at = 1;
  const mb_item calls[] = {item(MB_NOP, 0, nullptr), item(MB_CALL, 5, &call), function_item(&none, {})};
  int64_t failed = 7;
  CHECK_EQ(mb_program_run(calls, 3, &failed, nullptr), -1);
  CHECK_EQ(failed, 1);
  CHECK_EQ(runs, 2);
  const mb_item functions[] = {function_item(&none, {}), function_item(&refuse, {719}), function_item(&none, {})};
  int64_t times[4] = {-1, -1, -1, -1};
  CHECK_EQ(mb_program_run(functions, 3, &failed, times), 719);
  CHECK_EQ(failed, 1);
  CHECK_EQ(trace.size(), 1u);
  CHECK(times[2] > 0);
  CHECK_EQ(times[3], -1);
}

void a_malformed_item_is_found_before_anything_runs() {
  const mb_item good = function_item(&none, {});
  mb_item unknown = good;
  unknown.kind = 99;
  mb_item too_many = good;
  too_many.count = 7;
  mb_item negative = good;
  negative.count = -1;
  mb_item no_function = good;
  no_function.fn = nullptr;
  for (const mb_item& bad :
       {unknown, too_many, negative, no_function, item(MB_CALL, 1, nullptr), item(MB_CALLS, -1, &good)}) {
    trace.clear();
    const mb_item items[] = {good, bad};
    int64_t failed = 7;
    CHECK_EQ(mb_program_run(items, 2, &failed, nullptr), MB_ERROR_ARGUMENT + 0);
    CHECK_EQ(failed, 1);
    CHECK(trace.empty());
  }
  CHECK_EQ(mb_program_run(nullptr, 1, nullptr, nullptr), MB_ERROR_ARGUMENT + 0);
  CHECK_EQ(mb_program_run(&good, -1, nullptr, nullptr), MB_ERROR_ARGUMENT + 0);
}

void host_times_enclose_their_items() {
  mb_item spin = item(MB_SPIN, 0, nullptr);
  spin.args[0] = 2000000;
  const mb_item items[] = {item(MB_NOP, 0, nullptr), spin};
  int64_t times[3] = {};
  CHECK_EQ(mb_program_run(items, 2, nullptr, times), 0);
  CHECK(times[0] > 0 && times[0] <= times[1]);
  CHECK(times[2] - times[1] >= 2000000);
}

// ---- Holds

uint64_t milliseconds(int n) { return static_cast<uint64_t>(n) * 1'000'000; }

void a_hold_waits_for_its_release() {
  mb_hold hold = {};
  hold.limit_ns = milliseconds(60'000);
  std::atomic<bool> over{false};
  std::thread stream([&] {
    mb_hold_wait(&hold);
    over = true;
  });
  while (__atomic_load_n(&hold.waited, __ATOMIC_ACQUIRE) == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(!over);
  CHECK_EQ(mb_hold_release(&hold), 0);
  stream.join();
  CHECK_EQ(hold.arrived, 1u);
  CHECK_EQ(hold.waited, 1u);
  CHECK_EQ(hold.expired, 0u);
}

void a_release_that_is_ahead_is_kept_for_its_wait() {
  mb_hold hold = {};
  hold.limit_ns = milliseconds(10'000);
  for (int i = 0; i < 3; ++i) mb_hold_release(&hold);
  for (int i = 0; i < 3; ++i) mb_hold_wait(&hold);
  CHECK_EQ(hold.arrived, 3u);
  CHECK_EQ(hold.waited, 0u);
}

void a_hold_that_is_never_released_frees_its_stream() {
  mb_hold hold = {};
  hold.limit_ns = milliseconds(30);
  const auto begin = std::chrono::steady_clock::now();
  mb_hold_wait(&hold);
  for (int i = 0; i < 1000; ++i) mb_hold_wait(&hold);  // nothing waits after that
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(30));
  CHECK_EQ(hold.expired, 1u);
  CHECK_EQ(hold.waited, 1u);
  CHECK_EQ(hold.arrived, 1001u);
  mb_hold_release(&hold);  // one that comes too late changes nothing
  CHECK_EQ(hold.released, UINT64_MAX);
}

void an_opened_hold_lets_everything_pass() {
  mb_hold hold = {};
  hold.limit_ns = milliseconds(60'000);
  std::thread stream([&] {
    for (int i = 0; i < 100; ++i) mb_hold_wait(&hold);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK_EQ(mb_hold_open(&hold), 0);
  stream.join();
  CHECK_EQ(hold.expired, 0u);
}

// Tickets must not be lost between two threads that run at full speed.
void waits_and_releases_pair_up_whoever_is_ahead() {
  mb_hold hold = {};
  hold.limit_ns = milliseconds(60'000);
  constexpr uint64_t kRounds = 20'000;
  std::thread stream([&] {
    for (uint64_t i = 0; i < kRounds; ++i) {
      mb_hold_wait(&hold);
      CHECK(__atomic_load_n(&hold.released, __ATOMIC_ACQUIRE) > i);
    }
  });
  for (uint64_t i = 0; i < kRounds; ++i) mb_hold_release(&hold);
  stream.join();
  CHECK_EQ(hold.released, kRounds);
  CHECK_EQ(hold.expired, 0u);
}

// ---- Pool

int64_t malloc_calls = 0;
int64_t free_calls = 0;
int malloc_error = 0;
int free_error = 0;

int test_malloc(void** memory, size_t bytes) {
  if (malloc_error != 0) return malloc_error;
  ++malloc_calls;
  *memory = std::malloc(bytes);
  return 0;
}

int test_free(void* memory) {
  ++free_calls;
  std::free(memory);
  return free_error;
}

bool capturing = false;  // the legacy stream

int test_is_capturing(void* stream, int* status) {
  *status = capturing && stream == nullptr ? 1 : 0;
  return 0;
}

struct AllocatorError {
  std::string kind;
  std::string message;
};

void keep_error(void* error_ctx, const char* kind, const char* message) {
  *static_cast<AllocatorError*>(error_ctx) = {kind, message};
}

DLManagedTensorVersioned* allocate(std::vector<int64_t> shape, AllocatorError* error = nullptr, int32_t device_id = 0) {
  AllocatorError ignored;
  DLTensor prototype = {};
  prototype.device = {kDLCPU, device_id};
  prototype.ndim = static_cast<int32_t>(shape.size());
  prototype.dtype = {kDLFloat, 32, 1};
  prototype.shape = shape.data();
  DLManagedTensorVersioned* tensor = nullptr;
  const int code = mb_pool_allocate(&prototype, &tensor, error != nullptr ? error : &ignored, &keep_error);
  CHECK_EQ(code, tensor != nullptr ? 0 : -1);
  return tensor;
}

mb_pool_stats stats(mb_pool* pool) {
  mb_pool_stats result = {};
  CHECK_EQ(mb_pool_get_stats(pool, &result), 0);
  return result;
}

mb_pool* new_pool() {
  malloc_calls = free_calls = 0;
  malloc_error = free_error = 0;
  mb_pool* pool = nullptr;
  CHECK_EQ(mb_pool_create(&test_malloc, &test_free, &test_is_capturing, &pool), 0);
  mb_pool_use(pool, nullptr);
  return pool;
}

void a_released_block_is_used_again() {
  mb_pool* pool = new_pool();
  DLManagedTensorVersioned* first = allocate({100, 7});
  REQUIRE(first != nullptr);
  CHECK_EQ(first->dl_tensor.shape[1], 7);
  CHECK_EQ(first->dl_tensor.strides[0], 7);
  CHECK_EQ(first->dl_tensor.strides[1], 1);
  void* memory = first->dl_tensor.data;
  // While it is alive, the next one is another block.
  DLManagedTensorVersioned* second = allocate({100, 7});
  CHECK(second->dl_tensor.data != memory);
  first->deleter(first);
  // 2800 and 2790 bytes are of one class.
  DLManagedTensorVersioned* third = allocate({698});
  CHECK(third->dl_tensor.data == memory);
  CHECK_EQ(third->dl_tensor.ndim, 1);
  CHECK_EQ(malloc_calls, 2);
  const mb_pool_stats now = stats(pool);
  CHECK_EQ(now.allocations, 3);
  CHECK_EQ(now.hits, 1);
  CHECK_EQ(now.live_tensors, 2);
  CHECK_EQ(now.reserved_bytes, 2 * 3072);
  CHECK_EQ(now.live_bytes, 2 * 3072);
  second->deleter(second);
  third->deleter(third);
  CHECK_EQ(stats(pool).live_bytes, 0);
  CHECK_EQ(stats(pool).peak_live_bytes, 2 * 3072);
  CHECK_EQ(mb_pool_destroy(pool), 0);
  CHECK_EQ(free_calls, 2);
}

void blocks_are_not_shared_between_streams_or_devices() {
  mb_pool* pool = new_pool();
  int stream = 0;
  DLManagedTensorVersioned* legacy = allocate({10});
  void* memory = legacy->dl_tensor.data;
  legacy->deleter(legacy);
  TVMFFIEnvSetStream(kDLCPU, 0, &stream, nullptr);
  DLManagedTensorVersioned* streamed = allocate({10});
  CHECK(streamed->dl_tensor.data != memory);
  TVMFFIEnvSetStream(kDLCPU, 0, nullptr, nullptr);
  DLManagedTensorVersioned* other = allocate({10}, nullptr, 1);
  CHECK(other->dl_tensor.data != memory);
  DLManagedTensorVersioned* again = allocate({10});
  CHECK(again->dl_tensor.data == memory);
  for (DLManagedTensorVersioned* tensor : {streamed, other, again}) tensor->deleter(tensor);
  CHECK_EQ(mb_pool_destroy(pool), 0);
}

void what_a_capture_took_is_for_captures_alone() {
  mb_pool* pool = new_pool();
  const auto take_and_release = [] {
    DLManagedTensorVersioned* tensor = allocate({10});
    void* memory = tensor->dl_tensor.data;
    tensor->deleter(tensor);
    return memory;
  };
  void* warm = take_and_release();
  capturing = true;
  // The device's malloc is forbidden now: the warm block, for each node in turn.
  CHECK(take_and_release() == warm);
  CHECK(take_and_release() == warm);
  CHECK_EQ(malloc_calls, 1);
  // Another stream does not capture.
  int stream = 0;
  TVMFFIEnvSetStream(kDLCPU, 0, &stream, nullptr);
  CHECK(take_and_release() != warm);
  TVMFFIEnvSetStream(kDLCPU, 0, nullptr, nullptr);
  capturing = false;
  // A call outside of the graph must not write what the graph may be using.
  void* eager = take_and_release();
  CHECK(eager != warm);
  CHECK(take_and_release() == eager);
  capturing = true;
  CHECK(take_and_release() == warm);
  capturing = false;
  // A tensor of the capture that is released after it still goes back to captures.
  capturing = true;
  DLManagedTensorVersioned* late = allocate({10});
  capturing = false;
  late->deleter(late);
  CHECK(take_and_release() == eager);
  CHECK_EQ(mb_pool_destroy(pool), 0);
}

void slack_is_at_most_a_fifth() {
  mb_pool* pool = new_pool();
  for (int64_t bytes = 516; bytes < 1 << 20; bytes += bytes / 7 / 4 * 4 + 4) {
    const int64_t before = stats(pool).live_bytes;
    DLManagedTensorVersioned* tensor = allocate({bytes / 4});
    const int64_t block = stats(pool).live_bytes - before;
    CHECK(block >= bytes && (block - bytes) * 5 <= block);
    tensor->deleter(tensor);
  }
  CHECK_EQ(mb_pool_destroy(pool), 0);
}

void unusual_shapes_are_served_or_refused() {
  mb_pool* pool = new_pool();
  AllocatorError error;
  for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {0}, {0, INT64_MAX, INT64_MAX}}) {
    DLManagedTensorVersioned* tensor = allocate(shape);
    REQUIRE(tensor != nullptr);
    tensor->deleter(tensor);
  }
  CHECK(allocate({INT64_MAX, 4}, &error) == nullptr);
  CHECK_EQ(error.kind, "ValueError");
  CHECK(allocate({-1}, &error) == nullptr);
  CHECK_EQ(error.message, "mb_pool_allocate: a shape that no memory holds");
  CHECK(allocate({1, 1, 1, 1, 1, 1, 1, 1, 1}, &error) == nullptr);
  CHECK_EQ(error.message, "mb_pool_allocate: a tensor of 9 dimensions, wanted 0 to 8 and a shape");
  malloc_error = 2;
  CHECK(allocate({1 << 20}, &error) == nullptr);
  CHECK_EQ(error.kind, "MemoryError");
  CHECK(error.message.find("4194304 bytes failed with error 2") != std::string::npos);
  CHECK_EQ(mb_pool_destroy(pool), 0);
  CHECK(allocate({1}, &error) == nullptr);
  CHECK_EQ(error.message, "mb_pool_allocate: this thread has no pool; choose one with mb_pool_use first");
}

void a_pool_in_use_is_not_destroyed() {
  mb_pool* pool = new_pool();
  DLManagedTensorVersioned* tensor = allocate({1});
  CHECK_EQ(mb_pool_destroy(pool), MB_ERROR_IN_USE + 0);
  tensor->deleter(tensor);
  mb_pool* previous = nullptr;
  mb_pool_use(nullptr, &previous);
  CHECK(previous == pool);
  std::thread([pool] {
    mb_pool_use(pool, nullptr);
    std::thread([pool] { CHECK_EQ(mb_pool_destroy(pool), MB_ERROR_IN_USE + 0); }).join();
  }).join();
  free_error = 17;
  CHECK_EQ(mb_pool_destroy(pool), 17);
  CHECK_EQ(free_calls, 1);
  CHECK_EQ(mb_pool_destroy(nullptr), MB_ERROR_ARGUMENT + 0);
  CHECK_EQ(mb_pool_create(nullptr, &test_free, nullptr, &pool), MB_ERROR_ARGUMENT + 0);
}

void threads_share_a_pool() {
  mb_pool* pool = new_pool();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([pool, i] {
      mb_pool_use(pool, nullptr);
      std::vector<DLManagedTensorVersioned*> held;
      for (int64_t j = 0; j < 2000; ++j) {
        held.push_back(allocate({1 + (j * (i + 3)) % 5000}));
        static_cast<float*>(held.back()->dl_tensor.data)[0] = static_cast<float>(j);
        if (held.size() == 8) {
          for (DLManagedTensorVersioned* tensor : held) tensor->deleter(tensor);
          held.clear();
        }
      }
      for (DLManagedTensorVersioned* tensor : held) tensor->deleter(tensor);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(stats(pool).allocations, 8000);
  CHECK_EQ(stats(pool).live_tensors, 0);
  CHECK(stats(pool).hits > 7000);
  CHECK_EQ(mb_pool_destroy(pool), 0);
  CHECK_EQ(free_calls, malloc_calls);
}

void the_pool_serves_the_environment() {
  mb_pool* pool = new_pool();
  TVMFFIEnvSetDLPackManagedTensorAllocator(&mb_pool_allocate, 0, nullptr);
  int64_t shape[] = {3, 5};
  DLTensor prototype = {};
  prototype.device = {kDLCPU, 0};
  prototype.ndim = 2;
  prototype.dtype = {kDLBfloat, 16, 1};
  prototype.shape = shape;
  for (int i = 0; i < 3; ++i) {
    TVMFFIObjectHandle tensor = nullptr;
    REQUIRE(TVMFFIEnvTensorAlloc(&prototype, &tensor) == 0);
    TVMFFIObjectDecRef(tensor);
  }
  CHECK_EQ(malloc_calls, 1);
  TVMFFIEnvSetDLPackManagedTensorAllocator(nullptr, 0, nullptr);
  CHECK_EQ(mb_pool_destroy(pool), 0);
}

}  // namespace
}  // namespace musabench

int main() {
  using namespace musabench;
  RUN_TEST(an_invoked_call_keeps_its_result);
  RUN_TEST(a_launched_call_releases_an_object);
  RUN_TEST(a_list_stops_at_the_first_failure);
  RUN_TEST(unusable_calls_are_refused);
  RUN_TEST(a_chain_passes_results_on_and_releases_them);
  RUN_TEST(a_chain_releases_results_when_the_second_call_fails);
  RUN_TEST(a_program_runs_its_items_in_order);
  RUN_TEST(a_failed_item_ends_the_program_with_its_code);
  RUN_TEST(a_malformed_item_is_found_before_anything_runs);
  RUN_TEST(host_times_enclose_their_items);
  RUN_TEST(a_hold_waits_for_its_release);
  RUN_TEST(a_release_that_is_ahead_is_kept_for_its_wait);
  RUN_TEST(a_hold_that_is_never_released_frees_its_stream);
  RUN_TEST(an_opened_hold_lets_everything_pass);
  RUN_TEST(waits_and_releases_pair_up_whoever_is_ahead);
  RUN_TEST(a_released_block_is_used_again);
  RUN_TEST(blocks_are_not_shared_between_streams_or_devices);
  RUN_TEST(what_a_capture_took_is_for_captures_alone);
  RUN_TEST(slack_is_at_most_a_fifth);
  RUN_TEST(unusual_shapes_are_served_or_refused);
  RUN_TEST(a_pool_in_use_is_not_destroyed);
  RUN_TEST(threads_share_a_pool);
  RUN_TEST(the_pool_serves_the_environment);
  return test_status();
}
