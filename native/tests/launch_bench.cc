// What the host runtime itself costs: enqueueing, empty kernels, graph nodes, waiting. Run by hand.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "abi/musart_host.h"

namespace {

void must(musaError_t error) {
  if (error == musaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", musaGetErrorName(error), musaGetErrorString(error));
  std::exit(1);
}

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void nothing(const void*, uint32_t, uint32_t) {}

// Several microseconds of work: what a node of two blocks takes longer than one of one block is what sharing costs.
void some_work(const void*, uint32_t, uint32_t) {
  for (int i = 0; i < 20000; ++i) asm volatile("" : : "r"(i));
}

musaHostLaunch launch_of(musaHostKernelFn run, uint32_t blocks) {
  static const char params[128] = {};
  musaHostLaunch launch{};
  launch.name = "bench";
  launch.run = run;
  launch.blocks = blocks;
  launch.params = params;
  launch.params_bytes = sizeof(params);
  return launch;
}

struct Bench {
  musaStream_t stream = nullptr;
  musaEvent_t start = nullptr;
  musaEvent_t stop = nullptr;

  double device_us() {
    float ms = 0;
    must(musaEventElapsedTime(&ms, start, stop));
    return ms * 1e3;
  }

  // Enqueues `count` kernels, which begin to run at once.
  void eager(const char* name, musaHostKernelFn run, uint32_t blocks, int count) {
    const musaHostLaunch launch = launch_of(run, blocks);
    double enqueue = 1e9;
    double device = 1e9;
    for (int repeat = 0; repeat < 20; ++repeat) {
      must(musaEventRecord(start, stream));
      const double begin = now_us();
      for (int i = 0; i < count; ++i) must(musaHostLaunchKernel(&launch, stream));
      const double end = now_us();
      must(musaEventRecord(stop, stream));
      must(musaStreamSynchronize(stream));
      enqueue = std::min(enqueue, (end - begin) / count);
      device = std::min(device, device_us() / count);
    }
    std::printf("%-34s %3u blocks  enqueue %6.2f us  device %6.2f us a kernel\n", name, blocks, enqueue, device);
  }

  void graph(const char* name, musaHostKernelFn run, uint32_t blocks, int count) {
    const musaHostLaunch launch = launch_of(run, blocks);
    musaGraph_t graph = nullptr;
    musaGraphExec_t exec = nullptr;
    must(musaStreamBeginCapture(stream, musaStreamCaptureModeGlobal));
    for (int i = 0; i < count; ++i) must(musaHostLaunchKernel(&launch, stream));
    must(musaStreamEndCapture(stream, &graph));
    must(musaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    double enqueue = 1e9;
    double device = 1e9;
    for (int repeat = 0; repeat < 100; ++repeat) {
      must(musaEventRecord(start, stream));
      const double begin = now_us();
      must(musaGraphLaunch(exec, stream));
      const double end = now_us();
      must(musaEventRecord(stop, stream));
      must(musaStreamSynchronize(stream));
      enqueue = std::min(enqueue, end - begin);
      device = std::min(device, device_us() / count);
    }
    std::printf("%-34s %3u blocks  enqueue %6.2f us  device %6.2f us a node\n", name, blocks, enqueue, device);
    must(musaGraphExecDestroy(exec));
    must(musaGraphDestroy(graph));
  }

  // From the launch of one kernel until the host knows that it is done.
  void round_trip(uint32_t blocks) {
    const musaHostLaunch launch = launch_of(nothing, blocks);
    double best = 1e9;
    double total = 0;
    constexpr int kCount = 2000;
    for (int i = 0; i < kCount; ++i) {
      const double begin = now_us();
      must(musaHostLaunchKernel(&launch, stream));
      must(musaStreamSynchronize(stream));
      const double took = now_us() - begin;
      best = std::min(best, took);
      total += took;
    }
    std::printf("%-34s %3u blocks  best %6.2f us  mean %6.2f us\n", "launch and synchronize", blocks, best,
                total / kCount);
  }

  void event_pair() {
    double best = 1e9;
    for (int i = 0; i < 1000; ++i) {
      must(musaEventRecord(start, stream));
      must(musaEventRecord(stop, stream));
      must(musaStreamSynchronize(stream));
      best = std::min(best, device_us());
    }
    std::printf("%-34s best %6.3f us\n", "empty event pair", best);
  }
};

}  // namespace

int main() {
  Bench bench;
  must(musaStreamCreateWithFlags(&bench.stream, musaStreamNonBlocking));
  must(musaEventCreate(&bench.start));
  must(musaEventCreate(&bench.stop));
  std::printf("%u lanes\n", musaHostLaneCount());
  bench.event_pair();
  for (const uint32_t blocks : {1u, 2u, 64u}) {
    bench.eager("eager, empty kernel", nothing, blocks, 500);
    bench.graph("graph, empty kernel", nothing, blocks, 500);
    bench.graph("graph, some work a block", some_work, blocks, 100);
    bench.round_trip(blocks);
  }
  return 0;
}
