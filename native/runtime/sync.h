// Waiting: spin for a moment, because the next piece of work is usually microseconds away, then sleep.
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace musabench {

// How long a waiter spins before it sleeps. Waking a sleeper costs tens of microseconds on a virtual
// machine; spinning costs a core. 50 us bridges the gaps between the launches of one step.
constexpr std::chrono::nanoseconds kSpin{50'000};

inline int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until ready() or until kSpin is over; returns whether ready. Every microsecond or so it offers the
// core to others: there may be no more cores than lanes, and the thread to wait for may need this one.
template <typename Ready>
bool spin_until(Ready ready) {
  for (int i = 0; i < 32; ++i) {
    if (ready()) return true;
    cpu_relax();
  }
  const int64_t end = now_ns() + kSpin.count();
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      cpu_relax();
    }
    sched_yield();
  } while (now_ns() < end);
  return ready();
}

// For sections of a few instructions. Yields when its holder seems to have lost the core.
class SpinLock {
 public:
  void lock() {
    for (int spins = 0; held_.exchange(true, std::memory_order_acquire); ++spins) {
      while (held_.load(std::memory_order_relaxed)) {
        if (++spins % 128 == 0) sched_yield();
        cpu_relax();
      }
    }
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

// Where threads sleep until a condition over atomics holds. The condition must be made true before notify().
class Parker {
 public:
  template <typename Ready>
  void wait(Ready ready) {
    if (spin_until(ready)) return;
    std::unique_lock<std::mutex> lock(mutex_);
    // Both sides read-modify-write `sleepers_`: whoever comes second sees what the first wrote before.
    sleepers_.fetch_add(1, std::memory_order_acq_rel);
    wake_.wait(lock, ready);
    sleepers_.fetch_sub(1, std::memory_order_acq_rel);
  }

  void notify() {
    if (sleepers_.fetch_add(0, std::memory_order_acq_rel) == 0) return;
    { std::lock_guard<std::mutex> lock(mutex_); }
    wake_.notify_all();
  }

 private:
  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
};

// A counter that only grows and that threads wait for: how far a stream has come. Sleepers are woken only
// when the lowest value that one of them wants is reached, not at every step.
class Progress {
 public:
  explicit Progress(uint64_t start = 0) : value_(start) {}

  uint64_t value() const { return value_.load(std::memory_order_acquire); }
  bool reached(uint64_t wanted) const { return value() >= wanted; }

  void advance(uint64_t value) {
    value_.store(value, std::memory_order_seq_cst);
    if (lowest_wanted_.load(std::memory_order_seq_cst) <= value) wake_sleepers();
  }

  // Returns when `wanted` is reached or, if given, `cancelled` is set.
  void wait(uint64_t wanted, const std::atomic<bool>* cancelled = nullptr, bool spin = true) {
    const auto done = [&] {
      return value_.load(std::memory_order_seq_cst) >= wanted ||
             (cancelled != nullptr && cancelled->load(std::memory_order_acquire));
    };
    if (done() || (spin && spin_until(done))) return;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      if (lowest_wanted_.load(std::memory_order_relaxed) > wanted) {
        lowest_wanted_.store(wanted, std::memory_order_seq_cst);
      }
      if (done()) return;
      // Who cancels does not know where we sleep, so a cancellable wait looks up now and then.
      if (cancelled != nullptr) {
        wake_.wait_for(lock, std::chrono::milliseconds(5));
      } else {
        wake_.wait(lock);
      }
    }
  }

 private:
  void wake_sleepers() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      lowest_wanted_.store(UINT64_MAX, std::memory_order_seq_cst);  // those who still wait set it again
    }
    wake_.notify_all();
  }

  std::atomic<uint64_t> value_;
  std::atomic<uint64_t> lowest_wanted_{UINT64_MAX};
  std::mutex mutex_;
  std::condition_variable wake_;
};

// First come, first served, so that a stream with a long queue cannot keep another from the lanes.
class FairLock {
 public:
  void lock() { turn_.wait(tickets_.fetch_add(1, std::memory_order_relaxed)); }
  void unlock() { turn_.advance(turn_.value() + 1); }

 private:
  std::atomic<uint64_t> tickets_{0};
  Progress turn_;
};

}  // namespace musabench
