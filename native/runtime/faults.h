// Faults on demand, so that what stands above the runtime can be tested against a device that fails.
// The syntax of MUSART_HOST_FAULTS is described in abi/musart_host.h.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "abi/musa_runtime.h"

namespace musabench {

enum class FaultAction {
  kNone,
  kError,  // the call returns, or the kernel fails with, `error`
  kHang,   // the kernel does not return until the device is reset
  kWrong,  // the kernel runs, then its output is damaged
  kSlow,   // the kernel takes `percent` longer
  kCrash   // the process aborts
};

struct Fault {
  bool kernel = false;  // `name` is a kernel's, not a runtime function's
  std::string name;     // of a kernel also "*": any kernel
  int device = -1;      // of a kernel: only its runs on this device; -1: on any
  uint64_t first = 1;   // which call or run, counted from 1
  bool repeat = false;  // that one and all after it
  FaultAction action = FaultAction::kNone;
  musaError_t error = musaSuccess;
  uint32_t percent = 0;
};

// Appends the faults that `text` describes. Returns what is wrong with the text; empty: nothing.
std::string parse_faults(const std::string& text, std::vector<Fault>& faults);

// Counts calls and runs, and says which of them fail.
class FaultInjector {
 public:
  explicit FaultInjector(std::vector<Fault> faults);
  ~FaultInjector();

  bool active() const { return active_; }
  // To be asked once per call of runtime function `name`, before it does anything.
  musaError_t on_call(const char* name);
  // To be asked once per run of kernel `name` on a device. The first matching fault decides.
  Fault on_kernel(const char* name, int device);
  // At the end of the process: a line on stderr for each fault of a kernel that never ran, though others did. The
  // runtime does not know which kernels exist, so a misspelt name shows only so.
  void report_unknown_kernels();

 private:
  struct Counter;
  const Fault* next(bool kernel, const char* name, int device);

  bool active_;
  std::vector<std::unique_ptr<Counter>> counters_;
  std::mutex mutex_;
  std::set<std::string> kernels_;  // that ran
};

}  // namespace musabench
