// The host runtime through its ABI: memory, streams, events, capture and graphs.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "abi/musart_host.h"
#include "tests/check.h"

namespace {

#define OK(call) CHECK_EQ(call, musaSuccess)

// A host function that holds its stream up until it is opened, so that what is queued behind it is pending for sure.
class Gate {
 public:
  static void wait(void* gate) {
    auto* self = static_cast<Gate*>(gate);
    self->reached_ = true;
    while (!self->open_) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  void open() { open_ = true; }
  bool reached() const { return reached_; }

 private:
  std::atomic<bool> open_{false};
  std::atomic<bool> reached_{false};
};

struct AddParams {
  int* data;
  int value;
  uint32_t per_block;
};

void add_kernel(const void* raw, uint32_t block, uint32_t) {
  AddParams params;
  std::memcpy(&params, raw, sizeof(params));
  for (uint32_t i = 0; i < params.per_block; ++i) params.data[block * params.per_block + i] += params.value;
}

// data[i] += value for all i.
musaError_t launch_add(int* data, uint32_t count, int value, musaStream_t stream, uint32_t blocks = 1) {
  const AddParams params{data, value, count / blocks};
  musaHostLaunch launch{};
  launch.name = "add";
  launch.run = add_kernel;
  launch.blocks = blocks;
  launch.params = &params;
  launch.params_bytes = sizeof(params);
  launch.output = data;
  launch.output_bytes = count * sizeof(int);
  return musaHostLaunchKernel(&launch, stream);
}

// x = x * factor + term: operations that do not commute, so that any wrong order shows.
struct MixParams {
  uint64_t* x;
  uint64_t factor;
  uint64_t term;
};

void mix_kernel(const void* raw, uint32_t, uint32_t) {
  MixParams params;
  std::memcpy(&params, raw, sizeof(params));
  *params.x = *params.x * params.factor + params.term;
}

musaError_t launch_mix(uint64_t* x, uint64_t factor, uint64_t term, musaStream_t stream) {
  const MixParams params{x, factor, term};
  musaHostLaunch launch{};
  launch.name = "mix";
  launch.run = mix_kernel;
  launch.blocks = 1;
  launch.params = &params;
  launch.params_bytes = sizeof(params);
  return musaHostLaunchKernel(&launch, stream);
}

template <typename T>
T* device_array(size_t count) {
  void* pointer = nullptr;
  OK(musaMalloc(&pointer, count * sizeof(T)));
  std::memset(pointer, 0, count * sizeof(T));
  return static_cast<T*>(pointer);
}

musaStream_t new_stream(unsigned flags = musaStreamNonBlocking) {
  musaStream_t stream = nullptr;
  OK(musaStreamCreateWithFlags(&stream, flags));
  return stream;
}

musaEvent_t new_event() {
  musaEvent_t event = nullptr;
  OK(musaEventCreate(&event));
  return event;
}

// ---- devices and errors

void devices_describe_this_machine() {
  int count = 0;
  OK(musaGetDeviceCount(&count));
  CHECK_EQ(count, 1);
  int device = -1;
  OK(musaGetDevice(&device));
  CHECK_EQ(device, 0);
  CHECK_EQ(musaSetDevice(1), musaErrorInvalidDevice);
  CHECK_EQ(musaSetDevice(-1), musaErrorInvalidDevice);
  OK(musaSetDevice(0));
  int lanes = 0;
  OK(musaDeviceGetAttribute(&lanes, musaDevAttrMultiProcessorCount, 0));
  CHECK_EQ(static_cast<uint32_t>(lanes), musaHostLaneCount());
  CHECK(lanes >= 1);
  int value = -1;
  OK(musaDeviceGetAttribute(&value, musaDevAttrComputeCapabilityMajor, 0));
  CHECK_EQ(value, 0);
  OK(musaDeviceGetAttribute(&value, musaDevAttrL2CacheSize, 0));
  CHECK(value >= 0);
  CHECK_EQ(musaDeviceGetAttribute(&value, 9999, 0), musaErrorInvalidValue);
  CHECK_EQ(musaDeviceGetAttribute(&value, musaDevAttrClockRate, 7), musaErrorInvalidDevice);
  CHECK_EQ(musaDeviceGetAttribute(nullptr, musaDevAttrClockRate, 0), musaErrorInvalidValue);
  char bus[32];
  CHECK_EQ(musaDeviceGetPCIBusId(bus, sizeof(bus), 0), musaErrorNotSupported);
  std::vector<char> properties(4096, 'x');
  OK(musaGetDeviceProperties(properties.data(), 0));
  CHECK(std::strlen(properties.data() + musaDevicePropNameOffset) > 0);
  uint64_t memory = 0;
  std::memcpy(&memory, properties.data() + musaDevicePropTotalGlobalMemOffset, sizeof(memory));
  CHECK(memory > (uint64_t{1} << 26));
  CHECK_EQ(properties[musaDevicePropSize], 'x');
  int version = 0;
  OK(musaRuntimeGetVersion(&version));
  CHECK(version >= 100);
  OK(musaDriverGetVersion(&version));
  CHECK_EQ(musaGetDeviceCount(nullptr), musaErrorInvalidValue);
  musaGetLastError();
}

void errors_have_names_and_texts() {
  for (const int code : {0,   1,   2,   3,   4,   9,   21,  34,  35,  36,  46,  52,  98,  100, 101, 200, 201, 209,
                         214, 217, 220, 301, 302, 304, 400, 500, 600, 700, 701, 702, 704, 710, 712, 713, 716, 719,
                         720, 800, 801, 802, 803, 900, 901, 902, 903, 904, 905, 906, 907, 908, 909, 910, 912, 999}) {
    CHECK(std::string(musaGetErrorName(code)).rfind("musa", 0) == 0);
    CHECK(std::strlen(musaGetErrorString(code)) > 5);
  }
  CHECK_EQ(std::string(musaGetErrorName(700)), "musaErrorIllegalAddress");
  CHECK_EQ(std::string(musaGetErrorName(12345)), "unrecognized error code");
  CHECK_EQ(std::string(musaGetErrorString(-1)), "unrecognized error code");
}

void last_error_belongs_to_its_thread() {
  musaGetLastError();
  CHECK_EQ(musaSetDevice(99), musaErrorInvalidDevice);
  std::thread([] { CHECK_EQ(musaPeekAtLastError(), musaSuccess); }).join();
  CHECK_EQ(musaPeekAtLastError(), musaErrorInvalidDevice);
  OK(musaSetDevice(0));
  CHECK_EQ(musaGetLastError(), musaErrorInvalidDevice);
  CHECK_EQ(musaGetLastError(), musaSuccess);
}

// ---- memory

void memory_is_aligned_tracked_and_freed_once() {
  size_t count0 = 0;
  size_t bytes0 = 0;
  OK(musaHostLiveAllocations(0, &count0, &bytes0));
  size_t free0 = 0;
  size_t total = 0;
  OK(musaMemGetInfo(&free0, &total));
  CHECK(free0 <= total && total > 0);

  void* small = nullptr;
  OK(musaMalloc(&small, 3));
  CHECK_EQ(reinterpret_cast<uintptr_t>(small) % 64, 0u);
  void* large = nullptr;
  OK(musaMalloc(&large, (size_t{5} << 20) + 7));
  CHECK_EQ(reinterpret_cast<uintptr_t>(large) % (size_t{2} << 20), 0u);
  size_t count = 0;
  size_t bytes = 0;
  OK(musaHostLiveAllocations(0, &count, &bytes));
  CHECK_EQ(count - count0, 2u);
  CHECK_EQ(bytes - bytes0, (size_t{5} << 20) + 10);
  size_t free1 = 0;
  OK(musaMemGetInfo(&free1, &total));
  CHECK_EQ(free0 - free1, (size_t{5} << 20) + 10);

  CHECK_EQ(musaFree(static_cast<char*>(small) + 1), musaErrorInvalidValue);
  CHECK_EQ(musaFreeHost(small), musaErrorInvalidValue);
  OK(musaFree(small));
  CHECK_EQ(musaFree(small), musaErrorInvalidValue);
  OK(musaFree(large));
  OK(musaFree(nullptr));
  int on_stack = 0;
  CHECK_EQ(musaFree(&on_stack), musaErrorInvalidValue);

  void* none = &on_stack;
  OK(musaMalloc(&none, 0));
  CHECK(none == nullptr);
  CHECK_EQ(musaMalloc(nullptr, 1), musaErrorInvalidValue);
  CHECK_EQ(musaMalloc(&none, SIZE_MAX), musaErrorMemoryAllocation);
  CHECK_EQ(musaMalloc(&none, total + 1), musaErrorMemoryAllocation);
  CHECK(none == nullptr);

  void* host = nullptr;
  OK(musaHostAlloc(&host, 100, 0));
  CHECK_EQ(musaFree(host), musaErrorInvalidValue);
  OK(musaFreeHost(host));
  OK(musaMallocHost(&host, 100));
  OK(musaFreeHost(host));
  CHECK_EQ(musaFreeHost(host), musaErrorInvalidValue);
  CHECK_EQ(musaHostAlloc(&host, 100, 1u << 20), musaErrorInvalidValue);
  OK(musaHostLiveAllocations(0, &count, &bytes));
  CHECK_EQ(count, count0);
  CHECK_EQ(bytes, bytes0);
  musaGetLastError();
}

void copies_and_fills_arrive_and_are_checked() {
  constexpr size_t kBytes = (size_t{3} << 20) + 123;  // several pieces and a rest
  char* a = device_array<char>(kBytes);
  char* b = device_array<char>(kBytes);
  std::vector<char> host(kBytes);
  for (size_t i = 0; i < kBytes; ++i) host[i] = static_cast<char>(i * 31 + (i >> 12));
  OK(musaMemcpy(a, host.data(), kBytes, musaMemcpyHostToDevice));
  OK(musaMemcpy(b, a, kBytes, musaMemcpyDeviceToDevice));
  std::vector<char> back(kBytes, 0);
  OK(musaMemcpy(back.data(), b, kBytes, musaMemcpyDeviceToHost));
  CHECK(back == host);
  OK(musaMemset(b, 0x5a, kBytes));
  OK(musaMemcpy(back.data(), b, kBytes, musaMemcpyDefault));
  CHECK(std::all_of(back.begin(), back.end(), [](char c) { return c == 0x5a; }));
  OK(musaMemcpy(back.data(), host.data(), kBytes, musaMemcpyHostToHost));
  CHECK(back == host);

  musaStream_t stream = new_stream();
  OK(musaMemsetAsync(a, 1, kBytes, stream));
  OK(musaMemcpyAsync(back.data(), a, kBytes, musaMemcpyDeviceToHost, stream));
  OK(musaStreamSynchronize(stream));
  CHECK(std::all_of(back.begin(), back.end(), [](char c) { return c == 1; }));

  CHECK_EQ(musaMemcpy(a, host.data(), 1, 5), musaErrorInvalidMemcpyDirection);
  CHECK_EQ(musaMemcpy(a, nullptr, 1, musaMemcpyHostToDevice), musaErrorInvalidValue);
  CHECK_EQ(musaMemcpy(nullptr, a, 1, musaMemcpyDeviceToHost), musaErrorInvalidValue);
  OK(musaMemcpy(nullptr, nullptr, 0, musaMemcpyDeviceToHost));
  CHECK_EQ(musaMemcpy(back.data(), host.data(), 1, musaMemcpyHostToDevice), musaErrorInvalidValue);
  CHECK_EQ(musaMemcpy(a, b, 1, musaMemcpyHostToDevice), musaErrorInvalidValue);
  CHECK_EQ(musaMemcpy(a + 1, host.data(), kBytes, musaMemcpyHostToDevice), musaErrorInvalidValue);
  CHECK_EQ(musaMemset(back.data(), 0, 1), musaErrorInvalidValue);
  CHECK_EQ(musaMemset(a + kBytes, 0, 1), musaErrorInvalidValue);
  CHECK_EQ(musaMemsetAsync(a + kBytes - 1, 0, 2, stream), musaErrorInvalidValue);
  OK(musaStreamDestroy(stream));
  OK(musaFree(a));
  OK(musaFree(b));
  musaGetLastError();
}

void free_waits_for_work_that_uses_the_memory() {
  musaStream_t stream = new_stream();
  int* data = device_array<int>(1);
  Gate gate;
  OK(musaLaunchHostFunc(stream, Gate::wait, &gate));
  OK(launch_add(data, 1, 1, stream));
  std::atomic<bool> freed{false};
  std::thread freeing([&] {
    OK(musaFree(data));
    freed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(!freed);
  gate.open();
  freeing.join();
  CHECK(freed);
  OK(musaStreamDestroy(stream));
}

// ---- streams

void bad_handles_are_errors() {
  auto* invented = reinterpret_cast<musaStream_t>(uintptr_t{0xdeadbeef});
  CHECK_EQ(musaStreamSynchronize(invented), musaErrorInvalidResourceHandle);
  CHECK_EQ(musaStreamQuery(invented), musaErrorInvalidResourceHandle);
  CHECK_EQ(musaStreamDestroy(invented), musaErrorInvalidResourceHandle);
  CHECK_EQ(musaStreamDestroy(nullptr), musaErrorInvalidResourceHandle);
  CHECK_EQ(musaStreamBeginCapture(invented, 0), musaErrorInvalidResourceHandle);
  musaStream_t stream = new_stream();
  musaEvent_t event = new_event();
  // A handle of another kind is no better than an invented one.
  CHECK_EQ(musaStreamSynchronize(reinterpret_cast<musaStream_t>(event)), musaErrorInvalidResourceHandle);
  CHECK_EQ(musaEventSynchronize(reinterpret_cast<musaEvent_t>(stream)), musaErrorInvalidResourceHandle);
  CHECK_EQ(musaEventRecord(nullptr, stream), musaErrorInvalidResourceHandle);
  CHECK_EQ(musaGraphLaunch(reinterpret_cast<musaGraphExec_t>(event), stream), musaErrorInvalidValue);
  CHECK_EQ(musaGraphDestroy(nullptr), musaErrorInvalidValue);
  CHECK_EQ(musaGraphExecDestroy(reinterpret_cast<musaGraphExec_t>(stream)), musaErrorInvalidValue);
  musaGraphExec_t exec = nullptr;
  CHECK_EQ(musaGraphInstantiate(&exec, reinterpret_cast<musaGraph_t>(&exec), nullptr, nullptr, 0),
           musaErrorInvalidValue);
  OK(musaStreamDestroy(stream));
  CHECK_EQ(musaStreamDestroy(stream), musaErrorInvalidResourceHandle);
  CHECK_EQ(launch_add(nullptr, 1, 1, stream), musaErrorInvalidResourceHandle);
  // The next stream may take the slot, but the old handle stays dead.
  musaStream_t next = new_stream();
  CHECK(next != stream);
  CHECK_EQ(musaStreamSynchronize(stream), musaErrorInvalidResourceHandle);
  OK(musaStreamDestroy(next));
  OK(musaEventDestroy(event));
  CHECK_EQ(musaEventDestroy(event), musaErrorInvalidResourceHandle);
  CHECK_EQ(musaStreamCreateWithFlags(&stream, 2), musaErrorInvalidValue);
  CHECK_EQ(musaStreamCreate(nullptr), musaErrorInvalidValue);
  OK(musaStreamCreateWithPriority(&stream, musaStreamNonBlocking, -5));
  OK(musaStreamDestroy(stream));
  musaGetLastError();
}

void launches_are_checked() {
  musaStream_t stream = new_stream();
  musaHostLaunch launch{};
  CHECK_EQ(musaHostLaunchKernel(nullptr, stream), musaErrorInvalidValue);
  CHECK_EQ(musaHostLaunchKernel(&launch, stream), musaErrorInvalidValue);
  launch.name = "nothing";
  CHECK_EQ(musaHostLaunchKernel(&launch, stream), musaErrorInvalidDeviceFunction);
  launch.run = add_kernel;
  CHECK_EQ(musaHostLaunchKernel(&launch, stream), musaErrorInvalidConfiguration);
  launch.blocks = 1;
  launch.params_bytes = 8;
  CHECK_EQ(musaHostLaunchKernel(&launch, stream), musaErrorInvalidValue);
  CHECK_EQ(musaLaunchHostFunc(stream, nullptr, nullptr), musaErrorInvalidValue);
  OK(musaStreamDestroy(stream));
  musaGetLastError();
}

void streams_run_in_order_and_apart_from_the_host() {
  musaStream_t stream = new_stream();
  uint64_t* x = device_array<uint64_t>(1);
  Gate gate;
  OK(musaStreamQuery(stream));
  OK(musaLaunchHostFunc(stream, Gate::wait, &gate));
  uint64_t wanted = 0;
  for (uint64_t i = 1; i <= 5000; ++i) {
    OK(launch_mix(x, 3 + i % 5, i, stream));
    wanted = wanted * (3 + i % 5) + i;
  }
  CHECK_EQ(*x, 0u);  // the gate is closed
  CHECK_EQ(musaStreamQuery(stream), musaErrorNotReady);
  gate.open();
  OK(musaStreamSynchronize(stream));
  CHECK_EQ(*x, wanted);
  OK(musaStreamQuery(stream));
  OK(musaStreamDestroy(stream));
  OK(musaFree(x));
  musaGetLastError();
}

void destroyed_streams_finish_their_work() {
  musaStream_t stream = new_stream();
  int* data = device_array<int>(1);
  Gate gate;
  OK(musaLaunchHostFunc(stream, Gate::wait, &gate));
  OK(launch_add(data, 1, 7, stream));
  OK(musaStreamDestroy(stream));
  gate.open();
  OK(musaDeviceSynchronize());
  CHECK_EQ(*data, 7);
  OK(musaFree(data));
}

struct LaneParams {
  std::atomic<uint32_t>* runs_of_block;
  std::atomic<uint32_t>* bad;
};

void lane_kernel(const void* raw, uint32_t block, uint32_t lane) {
  LaneParams params;
  std::memcpy(&params, raw, sizeof(params));
  ++params.runs_of_block[block];
  if (lane >= musaHostLaneCount() || reinterpret_cast<uintptr_t>(raw) % 64 != 0) ++*params.bad;
  const size_t bytes = 1000 + block * 1000;
  auto* scratch = static_cast<unsigned char*>(musaHostLaneScratch(bytes));
  if (scratch == nullptr || reinterpret_cast<uintptr_t>(scratch) % 64 != 0) {
    ++*params.bad;
    return;
  }
  // Nobody else may write to this lane's scratch.
  const auto mark = static_cast<unsigned char>(block);
  std::memset(scratch, mark, bytes);
  for (size_t i = 0; i < bytes; i += 97) {
    if (scratch[i] != mark) ++*params.bad;
  }
}

void every_block_runs_once_with_scratch_of_its_own() {
  for (const uint32_t blocks : {1u, 2u, 3u, 100u}) {
    std::vector<std::atomic<uint32_t>> runs(blocks);
    std::atomic<uint32_t> bad{0};
    const LaneParams params{runs.data(), &bad};
    musaHostLaunch launch{};
    launch.name = "lanes";
    launch.run = lane_kernel;
    launch.blocks = blocks;
    launch.params = &params;
    launch.params_bytes = sizeof(params);
    std::vector<musaStream_t> streams;
    for (int i = 0; i < 3; ++i) streams.push_back(new_stream());
    constexpr uint32_t kLaunches = 20;
    for (uint32_t i = 0; i < kLaunches; ++i) {
      for (musaStream_t stream : streams) OK(musaHostLaunchKernel(&launch, stream));
    }
    OK(musaDeviceSynchronize());
    for (const auto& count : runs) CHECK_EQ(count.load(), kLaunches * 3);
    CHECK_EQ(bad.load(), 0u);
    for (musaStream_t stream : streams) OK(musaStreamDestroy(stream));
  }
}

void large_parameters_are_copied() {
  struct Large {
    int* out;
    unsigned char fill[3000];
  };
  int* out = device_array<int>(1);
  Large params;
  params.out = out;
  std::memset(params.fill, 9, sizeof(params.fill));
  musaHostLaunch launch{};
  launch.name = "large";
  launch.run = [](const void* raw, uint32_t, uint32_t) {
    const auto* large = static_cast<const Large*>(raw);
    for (const unsigned char c : large->fill) *large->out += c;
  };
  launch.blocks = 1;
  launch.params = &params;
  launch.params_bytes = sizeof(params);
  musaStream_t stream = new_stream();
  Gate gate;
  OK(musaLaunchHostFunc(stream, Gate::wait, &gate));
  OK(musaHostLaunchKernel(&launch, stream));
  std::memset(params.fill, 0, sizeof(params.fill));
  gate.open();
  OK(musaStreamSynchronize(stream));
  CHECK_EQ(*out, 27000);
  OK(musaStreamDestroy(stream));
  OK(musaFree(out));
}

void legacy_stream_and_blocking_streams_wait_for_each_other() {
  musaStream_t blocking = new_stream(musaStreamDefault);
  musaStream_t apart = new_stream(musaStreamNonBlocking);
  int* data = device_array<int>(3);

  Gate first;
  OK(musaLaunchHostFunc(blocking, Gate::wait, &first));
  OK(launch_add(data, 1, 1, nullptr));  // legacy: behind the gate
  OK(launch_add(data + 1, 1, 1, apart));
  OK(musaStreamSynchronize(apart));  // not held up
  CHECK_EQ(data[1], 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK_EQ(data[0], 0);
  CHECK_EQ(musaStreamQuery(nullptr), musaErrorNotReady);
  first.open();
  OK(musaStreamSynchronize(nullptr));
  CHECK_EQ(data[0], 1);

  Gate second;
  OK(musaLaunchHostFunc(nullptr, Gate::wait, &second));
  OK(launch_add(data + 2, 1, 1, blocking));
  OK(launch_add(data + 1, 1, 1, apart));
  OK(musaStreamSynchronize(apart));
  CHECK_EQ(data[1], 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK_EQ(data[2], 0);
  second.open();
  OK(musaStreamSynchronize(blocking));
  CHECK_EQ(data[2], 1);

  // A synchronous copy is on the legacy stream.
  Gate third;
  OK(musaLaunchHostFunc(blocking, Gate::wait, &third));
  OK(launch_add(data, 1, 41, blocking));
  std::thread opening([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    third.open();
  });
  int copied = 0;
  OK(musaMemcpy(&copied, data, sizeof(int), musaMemcpyDeviceToHost));
  CHECK_EQ(copied, 42);
  opening.join();
  OK(musaStreamDestroy(blocking));
  OK(musaStreamDestroy(apart));
  OK(musaFree(data));
  musaGetLastError();
}

void runtime_calls_are_not_permitted_in_host_functions() {
  musaStream_t stream = new_stream();
  std::atomic<int> seen{-1};
  OK(musaLaunchHostFunc(
      stream, [](void* result) { *static_cast<std::atomic<int>*>(result) = musaDeviceSynchronize(); }, &seen));
  OK(musaStreamSynchronize(stream));
  CHECK_EQ(seen.load(), musaErrorNotPermitted);
  OK(musaStreamDestroy(stream));
}

// ---- events

void events_tell_the_time_of_the_stream() {
  musaStream_t stream = new_stream();
  musaEvent_t start = new_event();
  musaEvent_t stop = new_event();
  float ms = -1;
  CHECK_EQ(musaEventElapsedTime(&ms, start, stop), musaErrorInvalidResourceHandle);  // never recorded
  OK(musaEventQuery(start));
  OK(musaEventSynchronize(start));

  Gate gate;
  OK(musaLaunchHostFunc(stream, Gate::wait, &gate));
  OK(musaEventRecord(start, stream));
  OK(musaLaunchHostFunc(
      stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, nullptr));
  OK(musaEventRecord(stop, stream));
  CHECK_EQ(musaEventQuery(start), musaErrorNotReady);
  CHECK_EQ(musaEventElapsedTime(&ms, start, stop), musaErrorNotReady);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // not part of the elapsed time
  const auto opened = std::chrono::steady_clock::now();
  gate.open();
  OK(musaEventSynchronize(stop));
  const std::chrono::duration<double, std::milli> since = std::chrono::steady_clock::now() - opened;
  OK(musaEventQuery(stop));
  OK(musaEventElapsedTime(&ms, start, stop));
  CHECK(ms >= 20 && ms <= since.count());  // which is about 20 ms, or what a busy machine makes of it
  OK(musaEventElapsedTime(&ms, stop, start));
  CHECK(ms <= -20);
  CHECK_EQ(musaEventElapsedTime(nullptr, start, stop), musaErrorInvalidValue);

  musaEvent_t untimed = nullptr;
  OK(musaEventCreateWithFlags(&untimed, musaEventDisableTiming | musaEventBlockingSync));
  OK(musaEventRecord(untimed, stream));
  OK(musaEventSynchronize(untimed));
  CHECK_EQ(musaEventElapsedTime(&ms, start, untimed), musaErrorInvalidResourceHandle);
  CHECK_EQ(musaEventCreateWithFlags(&untimed, 64), musaErrorInvalidValue);
  CHECK_EQ(musaEventCreateWithFlags(&untimed, musaEventInterprocess | musaEventDisableTiming), musaErrorNotSupported);
  OK(musaEventDestroy(untimed));
  OK(musaEventDestroy(start));
  OK(musaEventDestroy(stop));
  OK(musaStreamDestroy(stream));
  musaGetLastError();
}

void waiting_for_an_event_means_its_last_record_so_far() {
  musaStream_t a = new_stream();
  musaStream_t b = new_stream();
  musaEvent_t event = new_event();
  int* data = device_array<int>(1);
  OK(musaStreamWaitEvent(b, event, 0));  // never recorded: no wait
  OK(musaStreamSynchronize(b));

  Gate first;
  Gate second;
  OK(musaLaunchHostFunc(a, Gate::wait, &first));
  OK(musaEventRecord(event, a));
  OK(musaStreamWaitEvent(b, event, 0));
  OK(launch_add(data, 1, 1, b));
  OK(musaLaunchHostFunc(a, Gate::wait, &second));
  OK(musaEventRecord(event, a));  // does not change what b waits for
  OK(musaEventDestroy(event));    // nor does this
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK_EQ(*data, 0);
  first.open();
  OK(musaStreamSynchronize(b));
  CHECK_EQ(*data, 1);
  CHECK_EQ(musaStreamQuery(a), musaErrorNotReady);
  second.open();
  OK(musaStreamSynchronize(a));
  CHECK_EQ(musaStreamWaitEvent(b, event, 0), musaErrorInvalidResourceHandle);
  event = new_event();
  CHECK_EQ(musaStreamWaitEvent(b, event, 1), musaErrorInvalidValue);
  OK(musaEventDestroy(event));
  OK(musaStreamDestroy(a));
  OK(musaStreamDestroy(b));
  OK(musaFree(data));
  musaGetLastError();
}

// ---- capture

// Captures with `body(stream)` and gives the graph.
template <typename Body>
musaGraph_t captured(musaStream_t stream, Body body, int mode = musaStreamCaptureModeGlobal) {
  musaGraph_t graph = nullptr;
  OK(musaStreamBeginCapture(stream, mode));
  body();
  OK(musaStreamEndCapture(stream, &graph));
  CHECK(graph != nullptr);
  return graph;
}

void graphs_replay_what_was_captured() {
  musaStream_t stream = new_stream();
  uint64_t* x = device_array<uint64_t>(4);
  std::atomic<int> host_calls{0};
  int status = -1;
  musaGraph_t graph = captured(stream, [&] {
    OK(musaStreamIsCapturing(stream, &status));
    CHECK_EQ(status, musaStreamCaptureStatusActive);
    uint64_t factor = 2;
    OK(launch_mix(x, factor, 1, stream));
    factor = 1000;  // the node has its own copy
    OK(musaMemcpyAsync(x + 1, x, sizeof(uint64_t), musaMemcpyDeviceToDevice, stream));
    OK(launch_mix(x + 1, 10, 0, stream));
    OK(musaMemsetAsync(x + 2, 0xff, sizeof(uint64_t), stream));
    OK(musaLaunchHostFunc(
        stream, [](void* calls) { ++*static_cast<std::atomic<int>*>(calls); }, &host_calls));
  });
  OK(musaStreamIsCapturing(stream, &status));
  CHECK_EQ(status, musaStreamCaptureStatusNone);
  OK(musaStreamSynchronize(stream));
  CHECK_EQ(x[0], 0u);  // capturing runs nothing
  CHECK_EQ(host_calls.load(), 0);

  size_t count = 0;
  OK(musaGraphGetNodes(graph, nullptr, &count));
  CHECK_EQ(count, 5u);
  std::vector<musaGraphNode_t> nodes(7, reinterpret_cast<musaGraphNode_t>(uintptr_t{1}));
  count = nodes.size();
  OK(musaGraphGetNodes(graph, nodes.data(), &count));
  CHECK_EQ(count, 5u);
  CHECK(nodes[0] != nullptr && nodes[4] != nullptr && nodes[0] != nodes[4] && nodes[5] == nullptr);
  count = 2;
  OK(musaGraphGetNodes(graph, nodes.data(), &count));
  CHECK_EQ(count, 2u);

  musaGraphExec_t exec = nullptr;
  char log[8] = "old";
  musaGraphNode_t error_node = nodes[0];
  OK(musaGraphInstantiate(&exec, graph, &error_node, log, sizeof(log)));
  CHECK(error_node == nullptr && log[0] == '\0');
  OK(musaGraphDestroy(graph));
  CHECK_EQ(musaGraphDestroy(graph), musaErrorInvalidValue);
  OK(musaGraphUpload(exec, stream));
  OK(musaGraphLaunch(exec, stream));
  OK(musaStreamSynchronize(stream));
  CHECK_EQ(x[0], 1u);
  CHECK_EQ(x[1], 10u);
  CHECK_EQ(x[2], ~uint64_t{0});
  CHECK_EQ(host_calls.load(), 1);
  x[0] = 20;  // memory is read at replay
  OK(musaGraphLaunch(exec, stream));
  OK(musaGraphLaunch(exec, stream));
  OK(musaGraphExecDestroy(exec));  // launched work is not affected
  OK(musaStreamSynchronize(stream));
  CHECK_EQ(x[0], 83u);
  CHECK_EQ(x[1], 830u);
  CHECK_EQ(musaGraphLaunch(exec, stream), musaErrorInvalidValue);
  CHECK_EQ(musaGraphInstantiate(nullptr, graph, nullptr, nullptr, 0), musaErrorInvalidValue);
  OK(musaStreamDestroy(stream));
  OK(musaFree(x));
  musaGetLastError();
}

void empty_graphs_run_and_graphs_nest() {
  musaStream_t stream = new_stream();
  uint64_t* x = device_array<uint64_t>(1);
  musaGraph_t empty = captured(stream, [] {});
  musaGraphExec_t empty_exec = nullptr;
  OK(musaGraphInstantiate(&empty_exec, empty, nullptr, nullptr, 0));
  OK(musaGraphLaunch(empty_exec, stream));
  musaGraph_t inner = captured(stream, [&] { OK(launch_mix(x, 2, 1, stream)); });
  musaGraphExec_t inner_exec = nullptr;
  OK(musaGraphInstantiate(&inner_exec, inner, nullptr, nullptr, 0));
  musaGraph_t outer = captured(stream, [&] {
    OK(musaGraphLaunch(inner_exec, stream));
    OK(launch_mix(x, 10, 0, stream));
    OK(musaGraphLaunch(inner_exec, stream));
  });
  musaGraphExec_t outer_exec = nullptr;
  OK(musaGraphInstantiate(&outer_exec, outer, nullptr, nullptr, 0));
  for (musaGraph_t graph : {empty, inner, outer}) OK(musaGraphDestroy(graph));
  OK(musaGraphExecDestroy(inner_exec));
  OK(musaGraphLaunch(outer_exec, stream));
  OK(musaStreamSynchronize(stream));
  CHECK_EQ(*x, 21u);
  OK(musaGraphExecDestroy(empty_exec));
  OK(musaGraphExecDestroy(outer_exec));
  OK(musaStreamDestroy(stream));
  OK(musaFree(x));
}

struct Overlap {
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  std::atomic<int> runs{0};

  static void run(void* raw) {
    auto* self = static_cast<Overlap*>(raw);
    self->most = std::max(self->most.load(), ++self->running);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    --self->running;
    ++self->runs;
  }
};

void launches_of_one_graph_do_not_overlap() {
  musaStream_t streams[3] = {new_stream(), new_stream(), new_stream()};
  Overlap overlap;
  musaGraph_t graph = captured(streams[0], [&] { OK(musaLaunchHostFunc(streams[0], Overlap::run, &overlap)); });
  musaGraphExec_t exec = nullptr;
  OK(musaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 9; ++i) OK(musaGraphLaunch(exec, streams[i % 3]));
  OK(musaDeviceSynchronize());
  CHECK_EQ(overlap.runs.load(), 9);
  CHECK_EQ(overlap.most.load(), 1);
  OK(musaGraphExecDestroy(exec));
  OK(musaGraphDestroy(graph));
  for (musaStream_t stream : streams) OK(musaStreamDestroy(stream));
}

void captures_fork_and_join_by_events() {
  musaStream_t origin = new_stream();
  musaStream_t forked = new_stream();
  musaEvent_t fork = new_event();
  musaEvent_t join = new_event();
  uint64_t* x = device_array<uint64_t>(2);
  int status = -1;
  musaGraph_t graph = captured(origin, [&] {
    OK(launch_mix(x, 0, 5, origin));
    OK(musaEventRecord(fork, origin));
    OK(musaStreamWaitEvent(forked, fork, 0));
    OK(musaStreamIsCapturing(forked, &status));
    CHECK_EQ(status, musaStreamCaptureStatusActive);
    OK(musaMemcpyAsync(x + 1, x, sizeof(uint64_t), musaMemcpyDeviceToDevice, forked));
    OK(launch_mix(x + 1, 2, 0, forked));
    OK(musaEventRecord(join, forked));
    OK(musaStreamWaitEvent(origin, join, 0));
    OK(launch_mix(x + 1, 1, 1, origin));
  });
  OK(musaStreamIsCapturing(forked, &status));
  CHECK_EQ(status, musaStreamCaptureStatusNone);
  musaGraphExec_t exec = nullptr;
  OK(musaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(musaGraphLaunch(exec, forked));
  OK(musaStreamSynchronize(forked));
  CHECK_EQ(x[0], 5u);
  CHECK_EQ(x[1], 11u);
  // Events recorded in the capture stay unusable until they are recorded outside.
  CHECK_EQ(musaEventQuery(join), musaErrorCapturedEvent);
  CHECK_EQ(musaEventSynchronize(join), musaErrorCapturedEvent);
  CHECK_EQ(musaStreamWaitEvent(origin, join, 0), musaErrorCapturedEvent);
  OK(musaEventRecord(join, origin));
  OK(musaEventSynchronize(join));
  OK(musaGraphExecDestroy(exec));
  OK(musaGraphDestroy(graph));
  OK(musaEventDestroy(fork));
  OK(musaEventDestroy(join));
  OK(musaStreamDestroy(origin));
  OK(musaStreamDestroy(forked));
  OK(musaFree(x));
  musaGetLastError();
}

struct CaptureFixture {
  musaStream_t stream;
  musaStream_t other = new_stream();
  musaEvent_t event = new_event();
  musaEvent_t other_event = new_event();
  int* data = device_array<int>(1);

  explicit CaptureFixture(unsigned flags = musaStreamNonBlocking) : stream(new_stream(flags)) {}
  ~CaptureFixture() {
    int status = 0;
    OK(musaStreamIsCapturing(stream, &status));
    CHECK_EQ(status, musaStreamCaptureStatusNone);
    OK(musaStreamDestroy(stream));
    OK(musaStreamDestroy(other));
    OK(musaEventDestroy(event));
    OK(musaEventDestroy(other_event));
    OK(musaFree(data));
    musaGetLastError();
  }

  void begin(int mode = musaStreamCaptureModeGlobal) {
    OK(musaStreamBeginCapture(stream, mode));
    OK(launch_add(data, 1, 1, stream));
  }
  musaError_t end() {
    auto* graph = reinterpret_cast<musaGraph_t>(uintptr_t{1});
    const musaError_t error = musaStreamEndCapture(stream, &graph);
    CHECK((error == musaSuccess) == (graph != nullptr));
    if (error == musaSuccess) OK(musaGraphDestroy(graph));
    return error;
  }
  // The capture was broken: nothing more goes in, and it ends with an error.
  void expect_invalidated() {
    int status = 0;
    OK(musaStreamIsCapturing(stream, &status));
    CHECK_EQ(status, musaStreamCaptureStatusInvalidated);
    CHECK_EQ(launch_add(data, 1, 1, stream), musaErrorStreamCaptureInvalidated);
    CHECK_EQ(musaEventRecord(event, stream), musaErrorStreamCaptureInvalidated);
    CHECK_EQ(end(), musaErrorStreamCaptureInvalidated);
  }
};

void misuse_of_capture_is_refused() {
  {
    CaptureFixture f;
    f.begin();
    CHECK_EQ(musaStreamSynchronize(f.stream), musaErrorStreamCaptureUnsupported);
    f.expect_invalidated();
    f.begin();
    CHECK_EQ(musaStreamQuery(f.stream), musaErrorStreamCaptureUnsupported);
    f.expect_invalidated();
    f.begin(musaStreamCaptureModeRelaxed);
    CHECK_EQ(musaDeviceSynchronize(), musaErrorStreamCaptureUnsupported);
    f.expect_invalidated();
  }
  {
    CaptureFixture f;
    CHECK_EQ(musaStreamBeginCapture(nullptr, 0), musaErrorStreamCaptureUnsupported);
    CHECK_EQ(musaStreamBeginCapture(f.stream, 3), musaErrorInvalidValue);
    f.begin();
    CHECK_EQ(musaStreamBeginCapture(f.stream, 0), musaErrorInvalidValue);
    OK(f.end());
    CHECK_EQ(f.end(), musaErrorStreamCaptureUnmatched);
    CHECK_EQ(musaStreamEndCapture(f.stream, nullptr), musaErrorInvalidValue);
  }
  {  // a forked stream: not joined, and not the one to end in
    CaptureFixture f;
    f.begin();
    OK(musaEventRecord(f.event, f.stream));
    OK(musaStreamWaitEvent(f.other, f.event, 0));
    OK(launch_add(f.data, 1, 1, f.other));
    musaGraph_t graph = nullptr;
    CHECK_EQ(musaStreamEndCapture(f.other, &graph), musaErrorStreamCaptureUnmatched);
    CHECK_EQ(f.end(), musaErrorStreamCaptureUnjoined);
    OK(musaStreamSynchronize(f.other));  // has left the capture
  }
  {  // isolation
    CaptureFixture f;
    OK(musaEventRecord(f.event, f.other));
    f.begin();
    OK(musaStreamWaitEvent(f.stream, f.other_event, 0));  // never recorded: depends on nothing
    CHECK_EQ(musaStreamWaitEvent(f.stream, f.event, 0), musaErrorStreamCaptureIsolation);
    f.expect_invalidated();
  }
  {  // merge
    CaptureFixture f;
    f.begin(musaStreamCaptureModeRelaxed);
    OK(musaStreamBeginCapture(f.other, musaStreamCaptureModeRelaxed));
    OK(musaEventRecord(f.other_event, f.other));
    CHECK_EQ(musaStreamWaitEvent(f.stream, f.other_event, 0), musaErrorStreamCaptureMerge);
    f.expect_invalidated();
    musaGraph_t graph = nullptr;
    CHECK_EQ(musaStreamEndCapture(f.other, &graph), musaErrorStreamCaptureInvalidated);
  }
  {  // the legacy stream, which waits for blocking streams only
    CaptureFixture f(musaStreamDefault);
    f.begin();
    int status = 0;
    CHECK_EQ(musaStreamIsCapturing(nullptr, &status), musaErrorStreamCaptureImplicit);
    CHECK_EQ(launch_add(f.data, 1, 1, nullptr), musaErrorStreamCaptureImplicit);
    f.expect_invalidated();
    f.begin();
    int value = 0;
    CHECK_EQ(musaMemcpy(f.data, &value, sizeof(value), musaMemcpyHostToDevice), musaErrorStreamCaptureImplicit);
    f.expect_invalidated();
    f.begin();
    CHECK_EQ(musaEventRecord(f.event, nullptr), musaErrorStreamCaptureImplicit);
    f.expect_invalidated();
  }
  {
    CaptureFixture f(musaStreamNonBlocking);
    f.begin();
    OK(launch_add(f.data, 1, 1, nullptr));
    OK(f.end());
    f.begin();
    int value = 0;
    CHECK_EQ(musaMemcpy(f.data, &value, sizeof(value), musaMemcpyHostToDevice), musaErrorStreamCaptureUnsupported);
    f.expect_invalidated();
    f.begin();
    OK(musaEventRecord(f.event, f.stream));
    CHECK_EQ(musaStreamWaitEvent(nullptr, f.event, 0), musaErrorStreamCaptureUnsupported);
    f.expect_invalidated();
  }
  {  // captured events
    CaptureFixture f;
    f.begin();
    OK(musaEventRecord(f.event, f.stream));
    CHECK_EQ(musaEventQuery(f.event), musaErrorCapturedEvent);
    f.expect_invalidated();
    OK(musaEventRecord(f.other_event, f.other));
    OK(musaEventSynchronize(f.other_event));
    f.begin();
    OK(musaEventRecord(f.event, f.stream));
    float ms = 0;
    CHECK_EQ(musaEventElapsedTime(&ms, f.other_event, f.event), musaErrorCapturedEvent);
    f.expect_invalidated();
    f.begin();
    CHECK_EQ(musaEventQuery(f.other_event), musaErrorStreamCaptureUnsupported);  // an unsafe call
    f.expect_invalidated();
  }
  {  // unsafe calls, by mode and thread
    CaptureFixture f;
    void* memory = nullptr;
    f.begin(musaStreamCaptureModeGlobal);
    CHECK_EQ(musaMalloc(&memory, 8), musaErrorStreamCaptureUnsupported);
    f.expect_invalidated();
    f.begin(musaStreamCaptureModeGlobal);
    std::thread([&] { CHECK_EQ(musaMalloc(&memory, 8), musaErrorStreamCaptureUnsupported); }).join();
    f.expect_invalidated();
    f.begin(musaStreamCaptureModeThreadLocal);
    std::thread([&] {
      OK(musaMalloc(&memory, 8));
      OK(musaFree(memory));
    }).join();
    CHECK_EQ(musaFree(f.data), musaErrorStreamCaptureUnsupported);
    f.expect_invalidated();
    f.begin(musaStreamCaptureModeRelaxed);
    OK(musaMalloc(&memory, 8));
    OK(musaStreamSynchronize(f.other));
    OK(f.end());
    OK(musaFree(memory));
  }
  {  // threads
    CaptureFixture f;
    f.begin(musaStreamCaptureModeThreadLocal);
    std::thread([&] {
      OK(launch_add(f.data, 1, 1, f.stream));  // may add
      CHECK_EQ(f.end(), musaErrorStreamCaptureWrongThread);
    }).join();
    OK(f.end());
    f.begin(musaStreamCaptureModeRelaxed);
    std::thread([&] { OK(f.end()); }).join();
  }
  {  // a graph cannot be uploaded through a capturing stream
    CaptureFixture f;
    musaGraph_t graph = captured(f.other, [] {});
    musaGraphExec_t exec = nullptr;
    OK(musaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    f.begin();
    CHECK_EQ(musaGraphUpload(exec, f.stream), musaErrorStreamCaptureUnsupported);
    f.expect_invalidated();
    OK(musaGraphExecDestroy(exec));
    OK(musaGraphDestroy(graph));
  }
  {  // destroying streams that capture
    CaptureFixture f;
    musaStream_t origin = new_stream();
    OK(musaStreamBeginCapture(origin, 0));
    OK(musaEventRecord(f.event, origin));
    OK(musaStreamWaitEvent(f.other, f.event, 0));
    OK(musaStreamDestroy(origin));
    int status = -1;
    OK(musaStreamIsCapturing(f.other, &status));
    CHECK_EQ(status, musaStreamCaptureStatusNone);
    f.begin();
    musaStream_t forked = new_stream();
    OK(musaEventRecord(f.event, f.stream));
    OK(musaStreamWaitEvent(forked, f.event, 0));
    OK(musaStreamDestroy(forked));
    f.expect_invalidated();
  }
}

// ---- stress

// Random programs over several streams and events, run eagerly and as a captured graph, against a serial model.
// Every stream has its own cell; "receive" copies another stream's cell after waiting for its event.
void random_event_graphs_keep_their_order(unsigned seed) {
  std::mt19937 random(seed);
  constexpr int kStreams = 5;
  uint64_t* cells = device_array<uint64_t>(kStreams);
  uint64_t* sent = device_array<uint64_t>(4096);
  musaStream_t streams[kStreams];
  for (musaStream_t& stream : streams) stream = new_stream();
  for (const bool capture : {false, true}) {
    std::memset(cells, 0, kStreams * sizeof(uint64_t));
    uint64_t model[kStreams] = {};
    std::vector<musaEvent_t> events;
    const auto order = [&](int from, int to) {
      events.push_back(new_event());
      OK(musaEventRecord(events.back(), streams[from]));
      OK(musaStreamWaitEvent(streams[to], events.back(), 0));
    };
    if (capture) {
      OK(musaStreamBeginCapture(streams[0], musaStreamCaptureModeThreadLocal));
      for (int i = 1; i < kStreams; ++i) order(0, i);
    }
    int messages = 0;
    for (int step = 0; step < 300; ++step) {
      const int s = static_cast<int>(random() % kStreams);
      if (random() % 3 != 0) {
        const uint64_t factor = random() % 7 + 2;
        const uint64_t term = random();
        OK(launch_mix(&cells[s], factor, term, streams[s]));
        model[s] = model[s] * factor + term;
      } else {
        const int to = (s + 1 + static_cast<int>(random() % (kStreams - 1))) % kStreams;
        uint64_t* message = &sent[messages++];
        OK(musaMemcpyAsync(message, &cells[s], sizeof(uint64_t), musaMemcpyDeviceToDevice, streams[s]));
        order(s, to);
        OK(musaMemcpyAsync(&cells[to], message, sizeof(uint64_t), musaMemcpyDeviceToDevice, streams[to]));
        model[to] = model[s];
      }
    }
    if (capture) {
      for (int i = 1; i < kStreams; ++i) order(i, 0);
      musaGraph_t graph = nullptr;
      musaGraphExec_t exec = nullptr;
      OK(musaStreamEndCapture(streams[0], &graph));
      OK(musaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
      OK(musaGraphLaunch(exec, streams[1]));
      OK(musaStreamSynchronize(streams[1]));
      OK(musaGraphExecDestroy(exec));
      OK(musaGraphDestroy(graph));
    } else {
      for (musaStream_t stream : streams) OK(musaStreamSynchronize(stream));
    }
    for (int i = 0; i < kStreams; ++i) CHECK_EQ(cells[i], model[i]);
    for (musaEvent_t event : events) OK(musaEventDestroy(event));
  }
  for (musaStream_t stream : streams) OK(musaStreamDestroy(stream));
  OK(musaFree(cells));
  OK(musaFree(sent));
}

void random_programs() {
  for (unsigned seed = 1; seed <= 10; ++seed) random_event_graphs_keep_their_order(seed);
}

void threads_use_the_runtime_at_once() {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 6; ++t) {
    threads.emplace_back([t] {
      for (unsigned round = 0; round < 3; ++round) random_event_graphs_keep_their_order(100 * t + round);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void one_stream_takes_work_from_many_threads() {
  musaStream_t stream = new_stream();
  int* data = device_array<int>(64);
  constexpr int kThreads = 6;
  constexpr int kLaunches = 2000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      musaEvent_t event = new_event();
      for (int i = 0; i < kLaunches; ++i) {
        OK(launch_add(data, 64, 1, stream, i % 16 == 0 ? 64 : 1));
        if (i % 100 == t) {
          OK(musaEventRecord(event, stream));
          OK(musaEventSynchronize(event));
        }
      }
      OK(musaEventDestroy(event));
    });
  }
  for (std::thread& thread : threads) thread.join();
  OK(musaStreamSynchronize(stream));
  for (int i = 0; i < 64; ++i) CHECK_EQ(data[i], kThreads * kLaunches);
  OK(musaStreamDestroy(stream));
  OK(musaFree(data));
}

void streams_and_events_come_and_go() {
  std::vector<std::thread> threads;
  std::atomic<int> done{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        musaStream_t stream = new_stream(i % 2 == 0 ? musaStreamDefault : musaStreamNonBlocking);
        musaEvent_t event = new_event();
        OK(musaLaunchHostFunc(
            stream, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &done));
        OK(musaEventRecord(event, stream));
        if (i % 3 == 0) OK(musaStreamWaitEvent(nullptr, event, 0));
        if (i % 3 == 1) OK(musaEventSynchronize(event));
        OK(musaEventDestroy(event));
        OK(musaStreamDestroy(stream));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  OK(musaDeviceSynchronize());
  CHECK_EQ(done.load(), 200);
}

// ---- reset

void reset_drops_everything() {
  musaStream_t stream = new_stream();
  musaStream_t capturing = new_stream();
  musaEvent_t event = new_event();
  int* data = device_array<int>(1);
  musaGraph_t graph = captured(stream, [&] { OK(launch_add(data, 1, 1, stream)); });
  OK(musaStreamBeginCapture(capturing, 0));
  OK(musaEventRecord(event, stream));
  OK(musaDeviceReset());
  CHECK_EQ(musaStreamSynchronize(stream), musaErrorInvalidResourceHandle);
  CHECK_EQ(musaStreamSynchronize(capturing), musaErrorInvalidResourceHandle);
  CHECK_EQ(musaEventSynchronize(event), musaErrorInvalidResourceHandle);
  CHECK_EQ(musaGraphDestroy(graph), musaErrorInvalidValue);
  CHECK_EQ(musaFree(data), musaErrorInvalidValue);
  size_t count = 1;
  size_t bytes = 1;
  OK(musaHostLiveAllocations(0, &count, &bytes));
  CHECK_EQ(count, 0u);
  CHECK_EQ(bytes, 0u);
  // And the device works again.
  stream = new_stream(musaStreamDefault);
  data = device_array<int>(1);
  OK(launch_add(data, 1, 5, stream));
  OK(launch_add(data, 1, 5, nullptr));
  OK(musaDeviceSynchronize());
  CHECK_EQ(*data, 10);
  OK(musaStreamDestroy(stream));
  OK(musaFree(data));
  musaGetLastError();
}

}  // namespace

int main() {
  RUN_TEST(devices_describe_this_machine);
  RUN_TEST(errors_have_names_and_texts);
  RUN_TEST(last_error_belongs_to_its_thread);
  RUN_TEST(memory_is_aligned_tracked_and_freed_once);
  RUN_TEST(copies_and_fills_arrive_and_are_checked);
  RUN_TEST(free_waits_for_work_that_uses_the_memory);
  RUN_TEST(bad_handles_are_errors);
  RUN_TEST(launches_are_checked);
  RUN_TEST(streams_run_in_order_and_apart_from_the_host);
  RUN_TEST(destroyed_streams_finish_their_work);
  RUN_TEST(every_block_runs_once_with_scratch_of_its_own);
  RUN_TEST(large_parameters_are_copied);
  RUN_TEST(legacy_stream_and_blocking_streams_wait_for_each_other);
  RUN_TEST(runtime_calls_are_not_permitted_in_host_functions);
  RUN_TEST(events_tell_the_time_of_the_stream);
  RUN_TEST(waiting_for_an_event_means_its_last_record_so_far);
  RUN_TEST(graphs_replay_what_was_captured);
  RUN_TEST(empty_graphs_run_and_graphs_nest);
  RUN_TEST(launches_of_one_graph_do_not_overlap);
  RUN_TEST(captures_fork_and_join_by_events);
  RUN_TEST(misuse_of_capture_is_refused);
  RUN_TEST(random_programs);
  RUN_TEST(threads_use_the_runtime_at_once);
  RUN_TEST(one_stream_takes_work_from_many_threads);
  RUN_TEST(streams_and_events_come_and_go);
  RUN_TEST(reset_drops_everything);
  return musabench::test_status();
}
