// The host runtime's environment: injected faults, several devices, lanes, reports, and the end of the process.
// Each case runs in a child process, because the environment is read once.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "abi/musart_host.h"
#include "abi/tvm_ffi.h"
#include "support/support.h"
#include "tests/check.h"

extern "C" {
int __tvm_ffi_gemm(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_random_fill(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_read_bandwidth(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_peak_flops(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
}

namespace {

#define OK(call) CHECK_EQ(call, musaSuccess)

using Environment = std::vector<std::pair<const char*, const char*>>;

struct Outcome {
  int exit_status = -1;  // -1: ended by a signal, or had to be killed
  int signal = 0;
  bool timed_out = false;
  std::string errors;  // what it wrote to stderr
};

// Runs `body` in a child with the variables set, as a program of its own would: it ends by exit().
Outcome run_in_child(const Environment& environment, void (*body)()) {
  int ends[2];
  Outcome outcome;
  if (pipe(ends) != 0) return outcome;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    musabench::failed_checks() = 0;  // those before are the parent's
    for (const auto& variable : environment) setenv(variable.first, variable.second, 1);
    body();
    std::exit(musabench::failed_checks() == 0 ? 0 : 1);
  }
  close(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  int status = 0;
  bool ended = false;
  for (char buffer[4096];;) {
    const ssize_t got = read(ends[0], buffer, sizeof(buffer));
    if (got > 0) {
      outcome.errors.append(buffer, static_cast<size_t>(got));
      continue;
    }
    if (ended) break;
    ended = waitpid(child, &status, WNOHANG) == child;
    if (!ended && std::chrono::steady_clock::now() > end) {
      outcome.timed_out = true;
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      ended = true;
    }
    if (!ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  close(ends[0]);
  if (WIFEXITED(status)) outcome.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return outcome;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Runs `body` in a child and takes over its failed checks.
void expect_success(const Environment& environment, void (*body)()) {
  const Outcome outcome = run_in_child(environment, body);
  CHECK(!outcome.timed_out);
  CHECK_EQ(outcome.exit_status, 0);
  if (outcome.exit_status != 0) std::fputs(outcome.errors.c_str(), stderr);
}

struct FillParams {
  float* out;
  uint32_t count;
};

void fill_kernel(const void* raw, uint32_t block, uint32_t) {
  FillParams params;
  std::memcpy(&params, raw, sizeof(params));
  for (uint32_t i = 0; i < params.count; ++i) params.out[block * params.count + i] = 1.5f;
}

// out[0..8) = 1.5
musaError_t launch_fill(const char* name, float* out, musaStream_t stream) {
  const FillParams params{out, 4};
  musaHostLaunch launch{};
  launch.name = name;
  launch.run = fill_kernel;
  launch.blocks = 2;
  launch.params = &params;
  launch.params_bytes = sizeof(params);
  launch.output = out;
  launch.output_bytes = 8 * sizeof(float);
  return musaHostLaunchKernel(&launch, stream);
}

float* new_floats() {
  void* memory = nullptr;
  OK(musaMalloc(&memory, 8 * sizeof(float)));
  std::memset(memory, 0, 8 * sizeof(float));
  return static_cast<float*>(memory);
}

musaStream_t new_stream() {
  musaStream_t stream = nullptr;
  OK(musaStreamCreateWithFlags(&stream, musaStreamNonBlocking));
  return stream;
}

void calls_fail_when_told() {
  expect_success({{"MUSART_HOST_FAULTS", "musaMalloc:2=2;musaEventCreate:2+=304"}}, [] {
    void* memory[3] = {};
    OK(musaMalloc(&memory[0], 8));
    CHECK_EQ(musaMalloc(&memory[1], 8), musaErrorMemoryAllocation);
    CHECK(memory[1] == nullptr);
    CHECK_EQ(musaGetLastError(), musaErrorMemoryAllocation);
    OK(musaMalloc(&memory[2], 8));
    musaEvent_t event = nullptr;
    OK(musaEventCreate(&event));
    for (int i = 0; i < 3; ++i) CHECK_EQ(musaEventCreate(&event), musaErrorOperatingSystem);
  });
}

void sticky_errors_last_until_reset() {
  expect_success({{"MUSART_HOST_FAULTS", "kernel:bad:2=700;musaStreamQuery:1=719"}}, [] {
    musaStream_t stream = new_stream();
    float* out = new_floats();
    OK(launch_fill("bad", out, stream));
    OK(musaStreamSynchronize(stream));
    OK(launch_fill("bad", out, stream));
    CHECK_EQ(musaStreamSynchronize(stream), musaErrorIllegalAddress);
    void* memory = nullptr;
    CHECK_EQ(musaMalloc(&memory, 8), musaErrorIllegalAddress);
    CHECK_EQ(launch_fill("good", out, stream), musaErrorIllegalAddress);
    CHECK_EQ(musaDeviceSynchronize(), musaErrorIllegalAddress);
    CHECK_EQ(musaGetLastError(), musaErrorIllegalAddress);
    CHECK_EQ(musaGetLastError(), musaErrorIllegalAddress);  // still there
    // Destroyed all the same.
    CHECK_EQ(musaFree(out), musaErrorIllegalAddress);
    CHECK_EQ(musaStreamDestroy(stream), musaErrorIllegalAddress);
    size_t count = 1;
    size_t bytes = 1;
    OK(musaHostLiveAllocations(0, &count, &bytes));
    CHECK_EQ(count, 0u);
    OK(musaDeviceReset());
    stream = new_stream();
    out = new_floats();
    OK(launch_fill("bad", out, stream));
    OK(musaStreamSynchronize(stream));
    CHECK_EQ(out[7], 1.5f);
    CHECK_EQ(musaStreamQuery(stream), musaErrorLaunchFailure);
    CHECK_EQ(musaStreamSynchronize(stream), musaErrorLaunchFailure);
    OK(musaDeviceReset());
    OK(musaDeviceSynchronize());
  });
}

void failing_kernels_stop_their_launch_and_the_rest() {
  expect_success({}, [] {
    musaStream_t stream = new_stream();
    static std::atomic<int> blocks{0};
    static std::atomic<int> later{0};
    musaHostLaunch launch{};
    launch.name = "fails";
    launch.run = [](const void*, uint32_t block, uint32_t) {
      ++blocks;
      if (block == 3) musaHostKernelFail(musaErrorIllegalAddress);
    };
    launch.blocks = 1000000;
    OK(musaHostLaunchKernel(&launch, stream));
    OK(musaLaunchHostFunc(
        stream, [](void*) { ++later; }, nullptr));
    CHECK_EQ(musaStreamSynchronize(stream), musaErrorIllegalAddress);
    CHECK(blocks < 1000000);
    CHECK_EQ(later.load(), 0);
    musaHostKernelFail(musaErrorAssert);  // outside of a kernel: nothing
    OK(musaDeviceReset());
    OK(musaDeviceSynchronize());
  });
}

void wrong_results_are_wrong_everywhere() {
  expect_success({{"MUSART_HOST_FAULTS", "kernel:fill:2=wrong;kernel:*:4=wrong"}}, [] {
    musaStream_t stream = new_stream();
    float* out = new_floats();
    for (int run = 1; run <= 4; ++run) {
      OK(launch_fill("fill", out, stream));
      OK(musaStreamSynchronize(stream));
      for (int i = 0; i < 8; ++i) CHECK_EQ(out[i] == 1.5f, run == 1 || run == 3);
    }
    // Replays count as runs.
    musaGraph_t graph = nullptr;
    OK(musaStreamBeginCapture(stream, musaStreamCaptureModeGlobal));
    OK(launch_fill("fill", out, stream));
    OK(musaStreamEndCapture(stream, &graph));
    OK(musaGraphDestroy(graph));
  });
}

// The time of a run of a kernel that sleeps for five milliseconds.
std::chrono::nanoseconds time_of_a_nap() {
  musaStream_t stream = new_stream();
  musaHostLaunch launch = {};
  launch.name = "nap";
  launch.run = [](const void*, uint32_t, uint32_t) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  launch.blocks = 1;
  const auto begin = std::chrono::steady_clock::now();
  OK(musaHostLaunchKernel(&launch, stream));
  OK(musaStreamSynchronize(stream));
  return std::chrono::steady_clock::now() - begin;
}

void one_device_of_several_can_be_slow() {
  // Fifty times as long: more than a busy machine makes of the runs that are not slow.
  expect_success({{"MUSART_HOST_DEVICES", "2"}, {"MUSART_HOST_FAULTS", "kernel:nap@1:2+=slow4900"}}, [] {
    const auto usual = time_of_a_nap();
    OK(musaSetDevice(1));
    const auto first = time_of_a_nap();  // its first run is not slow
    const auto slow = time_of_a_nap();
    CHECK(slow >= std::chrono::milliseconds(250));
    CHECK(usual < slow);
    CHECK(first < slow);
  });
}

void hanging_kernels_end_with_a_reset() {
  expect_success({{"MUSART_HOST_FAULTS", "kernel:fill:1=hang"}}, [] {
    musaStream_t stream = new_stream();
    musaStream_t waiting = new_stream();
    float* out = new_floats();
    musaEvent_t event = nullptr;
    OK(musaEventCreate(&event));
    OK(launch_fill("fill", out, stream));
    OK(musaEventRecord(event, stream));
    OK(musaStreamWaitEvent(waiting, event, 0));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_EQ(musaEventQuery(event), musaErrorNotReady);
    std::atomic<int> result{-1};
    std::thread synchronizing([&] { result = musaStreamSynchronize(waiting); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_EQ(result.load(), -1);
    OK(musaDeviceReset());
    synchronizing.join();
    CHECK_EQ(result.load(), musaErrorDeviceUninitialized);
    stream = new_stream();
    out = new_floats();
    OK(launch_fill("fill", out, stream));
    OK(musaStreamSynchronize(stream));
    CHECK_EQ(out[0], 1.5f);
  });
}

void hanging_kernels_do_not_keep_the_process() {
  expect_success({{"MUSART_HOST_FAULTS", "kernel:fill:1=hang"}}, [] {
    OK(launch_fill("fill", new_floats(), new_stream()));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
}

void busy_streams_do_not_keep_the_process() {
  expect_success({}, [] {
    musaHostLaunch launch{};
    launch.name = "busy";
    launch.run = [](const void*, uint32_t, uint32_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
    launch.blocks = 1u << 30;
    OK(musaHostLaunchKernel(&launch, new_stream()));
    OK(musaHostLaunchKernel(&launch, new_stream()));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
}

void kernels_that_cannot_be_stopped_make_reset_fail() {
  expect_success({}, [] {
    static std::atomic<bool> begun{false};
    static std::atomic<bool> go_on{true};
    musaHostLaunch launch{};
    launch.name = "endless";
    launch.run = [](const void*, uint32_t, uint32_t) {
      begun = true;
      while (go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    launch.blocks = 1;
    OK(musaHostLaunchKernel(&launch, new_stream()));
    while (!begun) std::this_thread::yield();  // one that has not begun is dropped
    CHECK_EQ(musaDeviceReset(), musaErrorLaunchTimeout);
    CHECK_EQ(musaDeviceSynchronize(), musaErrorLaunchTimeout);
    go_on = false;
    OK(musaDeviceReset());
    OK(musaDeviceSynchronize());
  });
}

void crashing_kernels_abort() {
  const Outcome outcome = run_in_child({{"MUSART_HOST_FAULTS", "kernel:fill:1=crash"}}, [] {
    musaStream_t stream = new_stream();
    launch_fill("fill", new_floats(), stream);
    musaStreamSynchronize(stream);
  });
  CHECK_EQ(outcome.signal, SIGABRT);
}

void wrong_environment_is_an_error_with_a_reason() {
  const auto rejected = [] {
    int count = 0;
    CHECK_EQ(musaGetDeviceCount(&count), musaErrorInitializationError);
    void* memory = nullptr;
    CHECK_EQ(musaMalloc(&memory, 1), musaErrorInitializationError);
    CHECK_EQ(musaGetLastError(), musaErrorInitializationError);
    CHECK_EQ(musaHostLaneCount(), 0u);
    CHECK(contains(musaGetErrorString(musaErrorInitializationError), "MUSART_HOST_"));
    CHECK(contains(musaGetErrorString(musaErrorInitializationError), std::getenv("WANTED")));
  };
  for (const char* faults :
       {"musaMaloc:1=2", "musaMalloc", "musaMalloc:0=2", "musaMalloc:1=hang", "malloc:1=2", "kernel:x:1=slow",
        "kernel::1=hang", "musaMalloc:-1=2", "musaMalloc:1=0", "kernel:x:1=slow0", "kernel:x@64:1=hang",
        "kernel:@1:1=hang", "kernel:x@:1=hang", "musaMalloc@1:1=2", "musaMalloc:1=slow5", "musaMalloc:1=1000",
        "musaMalloc:1+1=2", "ok;musaMalloc:1=2"}) {
    expect_success({{"MUSART_HOST_FAULTS", faults}, {"WANTED", "kernel:name[@device]:n="}}, rejected);
  }
  expect_success({{"MUSART_HOST_THREADS", "two"}, {"WANTED", "'two'"}}, rejected);
  expect_success({{"MUSART_HOST_THREADS", "0"}, {"WANTED", "from 1 to"}}, rejected);
  expect_success({{"MUSART_HOST_DEVICES", "65"}, {"WANTED", "to 64"}}, rejected);
  expect_success({{"MUSART_HOST_PIN", "yes"}, {"WANTED", "MUSART_HOST_PIN"}}, rejected);
  expect_success({{"MUSART_HOST_FAULTS", ""}, {"MUSART_HOST_THREADS", ""}}, [] { OK(musaDeviceSynchronize()); });
}

void kernels_are_refused_in_a_wrong_environment() {
  expect_success({{"MUSART_HOST_PIN", "yes"}}, [] {
    static float memory[16] = {};
    static int64_t shape[2] = {4, 4};
    const auto tensor = [](DLDataType dtype, int32_t ndim) {
      DLTensor t = {};
      t.data = memory;
      t.device = {kDLCPU, 0};
      t.ndim = ndim;
      t.dtype = dtype;
      t.shape = shape;
      return t;
    };
    DLTensor matrix = tensor({kDLBfloat, 16, 1}, 2);
    DLTensor floats = tensor({kDLFloat, 32, 1}, 1);
    floats.data = memory + 8;
    DLTensor bytes = tensor({kDLUInt, 8, 1}, 1);
    DLTensor result = floats;
    const auto run = [](TVMFFISafeCallType kernel, const std::vector<TVMFFIAny>& args) {
      TVMFFIAny nothing = {};
      CHECK_EQ(kernel(nullptr, args.data(), static_cast<int32_t>(args.size()), &nothing), -1);
      TVMFFIObjectHandle error = nullptr;
      TVMFFIErrorMoveFromRaised(&error);
      REQUIRE(error != nullptr);
      TVMFFIObjectDecRef(error);
    };
    const auto arg = [](DLTensor& t) {
      TVMFFIAny any = {};
      any.type_index = kTVMFFIDLTensorPtr;
      any.v_ptr = &t;
      return any;
    };
    TVMFFIAny one = {};
    one.type_index = kTVMFFIInt;
    one.v_int64 = 1;
    DLTensor product = tensor({kDLBfloat, 16, 1}, 2);
    product.data = memory + 8;
    run(__tvm_ffi_gemm, {arg(matrix), arg(matrix), arg(product), TVMFFIAny{}});
    run(__tvm_ffi_random_fill, {arg(floats), one, one});
    run(__tvm_ffi_read_bandwidth, {arg(bytes), one, arg(result)});
    run(__tvm_ffi_peak_flops, {one, arg(result)});
  });
}

void lanes_can_be_chosen() {
  for (const char* pin : {"0", "1"}) {
    expect_success({{"MUSART_HOST_THREADS", "7"}, {"MUSART_HOST_PIN", pin}}, [] {
      CHECK_EQ(musaHostLaneCount(), 7u);
      static std::atomic<int> lanes{0};
      static std::atomic<int> blocks{0};
      musaHostLaunch launch{};
      launch.name = "lanes";
      launch.run = [](const void*, uint32_t, uint32_t lane) {
        lanes |= 1 << lane;
        ++blocks;
        // A lane that wakes up late finds all blocks taken, so the first ones wait for all lanes.
        for (int i = 0; i < 10'000 && lanes != 127; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      };
      launch.blocks = 100;
      musaStream_t stream = new_stream();
      for (int i = 0; i < 3; ++i) OK(musaHostLaunchKernel(&launch, stream));
      OK(musaStreamSynchronize(stream));
      CHECK_EQ(blocks.load(), 300);
      CHECK_EQ(lanes.load(), 127);
    });
  }
  expect_success({{"MUSART_HOST_THREADS", "1"}}, [] {
    CHECK_EQ(musaHostLaneCount(), 1u);
    float* out = new_floats();
    OK(launch_fill("fill", out, nullptr));
    OK(musaStreamSynchronize(nullptr));
    CHECK_EQ(out[7], 1.5f);
  });
}

// A host function that holds its stream up for a while.
struct Nap {
  std::atomic<bool> begun{false};
  std::atomic<bool> done{false};

  static void run(void* raw) {
    auto* self = static_cast<Nap*>(raw);
    self->begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    self->done = true;
  }
};

void free_waits_also_after_a_failure() {
  expect_success({{"MUSART_HOST_FAULTS", "kernel:bad:1=700"}}, [] {
    static Nap nap;
    float* out = new_floats();
    musaStream_t failing = new_stream();
    musaStream_t busy = new_stream();
    OK(musaLaunchHostFunc(busy, Nap::run, &nap));
    while (!nap.begun) std::this_thread::yield();
    OK(launch_fill("bad", out, failing));
    while (musaStreamQuery(failing) == musaErrorNotReady) {
    }
    CHECK_EQ(musaFree(out), musaErrorIllegalAddress);
    CHECK(nap.done);
  });
}

void freeing_host_memory_waits_for_all_devices() {
  expect_success({{"MUSART_HOST_DEVICES", "2"}}, [] {
    static Nap nap;
    void* host = nullptr;
    OK(musaMallocHost(&host, 64));
    OK(musaSetDevice(1));
    OK(musaLaunchHostFunc(new_stream(), Nap::run, &nap));
    OK(musaSetDevice(0));
    OK(musaFreeHost(host));
    CHECK(nap.done);
  });
}

void devices_are_kept_apart() {
  const Outcome outcome = run_in_child({{"MUSART_HOST_DEVICES", "2"}, {"MUSART_HOST_REPORT", "1"}}, [] {
    int count = 0;
    OK(musaGetDeviceCount(&count));
    CHECK_EQ(count, 2);
    float* first = new_floats();
    musaStream_t stream0 = new_stream();
    musaEvent_t event0 = nullptr;
    OK(musaEventCreate(&event0));
    OK(musaSetDevice(1));
    float* second = new_floats();
    musaStream_t stream1 = new_stream();

    CHECK_EQ(musaFree(first), musaErrorInvalidValue);
    CHECK_EQ(musaMemset(first, 0, 4), musaErrorInvalidValue);
    CHECK_EQ(musaMemcpy(first, &count, sizeof(count), musaMemcpyHostToDevice), musaErrorInvalidValue);
    OK(musaMemcpy(second, first, 4, musaMemcpyDeviceToDevice));  // between devices
    CHECK_EQ(launch_fill("fill", first, stream1), musaErrorInvalidValue);
    CHECK_EQ(launch_fill("fill", second, stream0), musaErrorInvalidResourceHandle);
    CHECK_EQ(musaEventRecord(event0, stream1), musaErrorInvalidResourceHandle);

    // A stream may wait for another device's event.
    OK(musaEventRecord(event0, stream0));
    OK(musaStreamWaitEvent(stream1, event0, 0));
    OK(launch_fill("fill", second, stream1));
    OK(musaStreamSynchronize(stream1));
    CHECK_EQ(second[0], 1.5f);

    // A graph stays on its device.
    musaGraph_t graph = nullptr;
    musaGraphExec_t exec = nullptr;
    OK(musaStreamBeginCapture(stream1, musaStreamCaptureModeThreadLocal));
    OK(launch_fill("fill", second, stream1));
    OK(musaStreamEndCapture(stream1, &graph));
    OK(musaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    CHECK_EQ(musaGraphLaunch(exec, stream0), musaErrorInvalidResourceHandle);
    OK(musaGraphLaunch(exec, stream1));

    OK(musaDeviceReset());  // of device 1 only
    CHECK_EQ(musaStreamSynchronize(stream1), musaErrorInvalidResourceHandle);
    OK(musaStreamSynchronize(stream0));
    std::thread([] {
      int device = -1;
      OK(musaGetDevice(&device));
      CHECK_EQ(device, 0);  // each thread chooses for itself
    }).join();
    OK(musaSetDevice(0));
    size_t bytes = 0;
    size_t blocks = 0;
    OK(musaHostLiveAllocations(0, &blocks, &bytes));
    CHECK_EQ(blocks, 1u);
    OK(musaHostLiveAllocations(1, &blocks, &bytes));
    CHECK_EQ(blocks, 0u);
    CHECK_EQ(musaHostLiveAllocations(2, &blocks, &bytes), musaErrorInvalidDevice);
    CHECK_EQ(musaFree(second), musaErrorInvalidValue);
  });
  CHECK_EQ(outcome.exit_status, 0);
  for (const char* line :
       {"device 1: free of another device's memory", "device 1: use of another device's memory",
        "device 1: kernel output in another device's memory", "device 0: free of an unknown or already freed pointer",
        "device 0: device memory never freed"}) {
    CHECK(contains(outcome.errors, line));
  }
  if (outcome.exit_status != 0) std::fputs(outcome.errors.c_str(), stderr);
}

void nothing_is_reported_unless_asked_for() {
  const Outcome outcome = run_in_child({}, [] {
    new_floats();
    CHECK_EQ(musaFree(&std::cerr), musaErrorInvalidValue);
  });
  CHECK_EQ(outcome.exit_status, 0);
  CHECK_EQ(outcome.errors, "");
}

void a_fault_of_a_kernel_that_never_ran_is_told() {
  const auto errors_of = [](const char* faults) {
    const Outcome outcome = run_in_child({{"MUSART_HOST_FAULTS", faults}}, [] {
      float* out = new_floats();
      OK(launch_fill("gemm", out, nullptr));
      OK(launch_fill("argmax", out, nullptr));
      OK(musaDeviceSynchronize());
    });
    CHECK_EQ(outcome.exit_status, 0);
    return outcome.errors;
  };
  CHECK_EQ(errors_of("kernel:gem:1=hang"),
           "musart_host: MUSART_HOST_FAULTS names kernel 'gem', which never ran; these did: argmax, gemm\n");
  // A run that was not reached is no misspelt name.
  CHECK_EQ(errors_of("kernel:gemm:7=hang;kernel:argmax:1=wrong"), "");
}

void forked_children_cannot_use_the_runtime() {
  expect_success({}, [] {
    float* out = new_floats();
    OK(launch_fill("fill", out, nullptr));
    OK(musaDeviceSynchronize());
    const pid_t child = fork();
    if (child == 0) {
      void* memory = nullptr;
      const bool refused = musaMalloc(&memory, 8) == musaErrorInitializationError &&
                           contains(musaGetErrorString(musaErrorInitializationError), "forked");
#ifdef __SANITIZE_ADDRESS__
      // At exit LeakSanitizer would miss what the parent's other threads hold: they do not exist here.
      _exit(refused ? 0 : 1);
#else
      std::exit(refused ? 0 : 1);  // which must not hang either
#endif
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(launch_fill("fill", out, nullptr));
    OK(musaDeviceSynchronize());
  });
}

// What makes a held stream hang on a GPU: the launch that comes before the release waits for room in the queue.
void a_full_queue_does_not_hang_a_held_stream() {
  expect_success({{"MUSART_HOST_QUEUE", "8"}}, [] {
    float* out = nullptr;
    OK(musaMalloc(reinterpret_cast<void**>(&out), 8 * sizeof(float)));
    musaStream_t stream = nullptr;
    OK(musaStreamCreate(&stream));
    mb_hold hold = {};
    hold.limit_ns = 2'000'000'000;  // enough for the launches before it on a busy machine
    OK(musaLaunchHostFunc(stream, mb_hold_wait, &hold));
    for (int i = 0; i < 5; ++i) OK(launch_fill("fill", out, stream));
    CHECK_EQ(musaStreamQuery(stream), musaErrorNotReady);  // there is room: nobody has waited
    for (int i = 0; i < 50; ++i) OK(launch_fill("fill", out, stream));
    mb_hold_release(&hold);
    OK(musaStreamSynchronize(stream));
    CHECK_EQ(hold.expired, 1u);
    float back[8] = {};
    OK(musaMemcpy(back, out, sizeof(back), musaMemcpyDeviceToHost));
    CHECK_EQ(back[7], 1.5f);
  });
}

void a_runtime_without_host_functions_says_so() {
  expect_success({{"MUSART_HOST_FAULTS", "musaLaunchHostFunc:1+=801"}}, [] {
    mb_hold hold = {};
    CHECK_EQ(musaLaunchHostFunc(nullptr, mb_hold_wait, &hold), musaErrorNotSupported);
    OK(musaDeviceSynchronize());
    CHECK_EQ(hold.arrived, 0u);
  });
}

}  // namespace

int main() {
  RUN_TEST(calls_fail_when_told);
  RUN_TEST(a_full_queue_does_not_hang_a_held_stream);
  RUN_TEST(a_runtime_without_host_functions_says_so);
  RUN_TEST(sticky_errors_last_until_reset);
  RUN_TEST(failing_kernels_stop_their_launch_and_the_rest);
  RUN_TEST(wrong_results_are_wrong_everywhere);
  RUN_TEST(one_device_of_several_can_be_slow);
  RUN_TEST(hanging_kernels_end_with_a_reset);
  RUN_TEST(hanging_kernels_do_not_keep_the_process);
  RUN_TEST(busy_streams_do_not_keep_the_process);
  RUN_TEST(kernels_that_cannot_be_stopped_make_reset_fail);
  RUN_TEST(crashing_kernels_abort);
  RUN_TEST(wrong_environment_is_an_error_with_a_reason);
  RUN_TEST(kernels_are_refused_in_a_wrong_environment);
  RUN_TEST(lanes_can_be_chosen);
  RUN_TEST(free_waits_also_after_a_failure);
  RUN_TEST(freeing_host_memory_waits_for_all_devices);
  RUN_TEST(devices_are_kept_apart);
  RUN_TEST(nothing_is_reported_unless_asked_for);
  RUN_TEST(a_fault_of_a_kernel_that_never_ran_is_told);
  RUN_TEST(forked_children_cannot_use_the_runtime);
  return musabench::test_status();
}
