#include "runtime/lanes.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/threads.h"

namespace musabench {

struct LanePool::Job {
  musaHostKernelFn run;
  const void* params;
  uint32_t blocks;
  const std::atomic<bool>* stop;
  std::atomic<musaError_t> error{musaSuccess};
  // 64 bits, because every lane counts on past the last block.
  alignas(64) std::atomic<uint64_t> next{0};

  void run_blocks(uint32_t lane);
  void fail(musaError_t code) {
    musaError_t none = musaSuccess;
    error.compare_exchange_strong(none, code);
    next.store(blocks);
  }

  static Job*& of_this_thread() {
    thread_local Job* job = nullptr;
    return job;
  }
};

void LanePool::Job::run_blocks(uint32_t lane) {
  of_this_thread() = this;
  while (!stop->load(std::memory_order_relaxed)) {
    const uint64_t block = next.fetch_add(1, std::memory_order_relaxed);
    if (block >= blocks) break;
    run(params, static_cast<uint32_t>(block), lane);
  }
  of_this_thread() = nullptr;
}

LanePool::LanePool(int device, int lanes, std::vector<int> cpus)
    : device_(device), lanes_(lanes), cpus_(std::move(cpus)) {}

int LanePool::cpu_of(int lane) const { return cpus_.empty() ? -1 : cpus_[static_cast<size_t>(lane) % cpus_.size()]; }

void LanePool::start() {
  started_ = true;
  for (int lane = 1; lane < lanes_; ++lane) {
    try {
      start_thread("musart" + std::to_string(device_) + "-l" + std::to_string(lane), cpu_of(lane),
                   [this, lane] { lane_loop(lane); });
    } catch (const std::system_error&) {
      return;  // fewer lanes are slower, not wrong
    }
  }
}

void LanePool::lane_loop(int lane) {
  current_device() = device_;
  uint64_t seen = 0;
  for (;;) {
    uint64_t state = 0;
    const uint64_t alerts = alerts_.load(std::memory_order_acquire);
    const auto joinable = [&] {
      state = state_.load(std::memory_order_acquire);
      return (state & kOpen) != 0 && state >> kNumberShift != seen;
    };
    job_opened_.wait([&] { return joinable() || alerts_.load(std::memory_order_acquire) != alerts; });
    if (!joinable()) {
      awake_.fetch_add(1, std::memory_order_acq_rel);
      continue;
    }
    if (!state_.compare_exchange_strong(state, state + 1, std::memory_order_acq_rel)) continue;
    seen = state >> kNumberShift;
    job_->run_blocks(static_cast<uint32_t>(lane));
    const uint64_t before = state_.fetch_sub(1, std::memory_order_acq_rel);
    if ((before & kOpen) == 0 && (before & kActiveMask) == 1) lanes_left_.notify();
  }
}

musaError_t LanePool::run(musaHostKernelFn run, const void* params, uint32_t blocks, const std::atomic<bool>& stop) {
  Job job;
  job.run = run;
  job.params = params;
  job.blocks = blocks;
  job.stop = &stop;
  if (blocks == 1 || lanes_ == 1) {
    job.run_blocks(0);
    return job.error.load();
  }
  std::lock_guard<FairLock> turn(turn_);
  if (!started_) start();
  job_ = &job;
  const uint64_t number = (state_.load(std::memory_order_relaxed) >> kNumberShift) + 1;
  state_.store(number << kNumberShift | kOpen, std::memory_order_release);
  job_opened_.notify();
  job.run_blocks(0);
  // A lane that did not wake up in time finds the job closed and is not waited for.
  state_.fetch_and(~kOpen, std::memory_order_acq_rel);
  lanes_left_.wait([&] { return (state_.load(std::memory_order_acquire) & kActiveMask) == 0; });
  return job.error.load();
}

void LanePool::alert() {
  alerts_.fetch_add(1, std::memory_order_acq_rel);
  job_opened_.notify();
}

void LanePool::muster() {
  if (!started_.load(std::memory_order_acquire)) return;
  const uint64_t wanted = awake_.load(std::memory_order_acquire) + static_cast<uint64_t>(lanes_ - 1);
  alert();
  // Lanes at work for another stream do not answer. Waking up takes tens of microseconds.
  constexpr int64_t kPatienceNs = 200'000;
  const int64_t end = now_ns() + kPatienceNs;
  while (awake_.load(std::memory_order_acquire) < wanted && now_ns() < end) sched_yield();
}

void LanePool::fail_current_kernel(musaError_t error) {
  Job* job = Job::of_this_thread();
  if (job != nullptr && error != musaSuccess) job->fail(error);
}

namespace {

struct Scratch {
  void* memory = nullptr;
  size_t bytes = 0;
  ~Scratch() { std::free(memory); }
};

}  // namespace
}  // namespace musabench

extern "C" void* musaHostLaneScratch(size_t bytes) {
  thread_local musabench::Scratch scratch;
  if (bytes > scratch.bytes || scratch.memory == nullptr) {
    // Growing by half at least: a series of slowly growing requests does not allocate every time.
    size_t wanted = std::max({bytes, scratch.bytes + scratch.bytes / 2, size_t{64} << 10});
    void* memory = nullptr;
    if (posix_memalign(&memory, 4096, wanted) != 0) return nullptr;
    std::free(scratch.memory);
    scratch.memory = memory;
    scratch.bytes = wanted;
  }
  return scratch.memory;
}

extern "C" void musaHostKernelFail(musaError_t error) { musabench::LanePool::fail_current_kernel(error); }
