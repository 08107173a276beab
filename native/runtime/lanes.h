// The lanes of a device: one pinned thread a core, which together run the blocks of one kernel at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "abi/musart_host.h"
#include "runtime/sync.h"

namespace musabench {

class LanePool {
 public:
  // `cpus`: where lane i is pinned (i modulo its size); empty: nowhere.
  LanePool(int device, int lanes, std::vector<int> cpus);

  int size() const { return lanes_; }
  // The CPU of lane 0, which is whichever thread calls run(); -1: not pinned.
  int first_cpu() const { return cpu_of(0); }

  // Runs `run` for all blocks, with the calling thread as lane 0, and returns when none is running any more.
  // Kernels of other streams wait their turn, except those of one block, which need no other lane.
  // No further block is begun once `stop` is set or musaHostKernelFail was called; returns the latter's error.
  musaError_t run(musaHostKernelFn run, const void* params, uint32_t blocks, const std::atomic<bool>& stop);

  // Wakes sleeping lanes, so that they are there when the next kernel begins.
  void alert();

  // Wakes sleeping lanes and waits, for a fraction of a millisecond at most, until they are awake.
  void muster();

  // Ends, with `error`, the kernel that the calling thread runs a block of; does nothing outside of kernels.
  static void fail_current_kernel(musaError_t error);

 private:
  struct Job;
  // state_: how many of the other lanes run the job, whether they may still join, and the job's number.
  static constexpr uint64_t kActiveMask = 0xffff;
  static constexpr uint64_t kOpen = 0x10000;
  static constexpr int kNumberShift = 17;

  int cpu_of(int lane) const;
  void start();
  void lane_loop(int lane);

  const int device_;
  const int lanes_;
  const std::vector<int> cpus_;
  FairLock turn_;
  std::atomic<bool> started_{false};  // set under turn_
  Job* job_ = nullptr;                // valid while state_ is open or has active lanes
  alignas(64) std::atomic<uint64_t> state_{0};
  std::atomic<uint64_t> alerts_{0};
  std::atomic<uint64_t> awake_{0};  // alerts that lanes have answered, over all lanes
  Parker job_opened_;
  Parker lanes_left_;
};

}  // namespace musabench
