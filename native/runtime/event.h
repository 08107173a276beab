// Events: the last record of each, in a stream or in a capture.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/stream.h"

namespace musabench {

class Event {
 public:
  Event(Device& device, unsigned flags) : device_(device), flags_(flags) {}

  Device& device() const { return device_; }
  bool timed() const { return (flags_ & musaEventDisableTiming) == 0; }
  bool blocking_sync() const { return (flags_ & musaEventBlockingSync) != 0; }

  // NULL before the first record.
  std::shared_ptr<EventRecord> last_record() const {
    std::lock_guard<SpinLock> lock(lock_);
    return record_;
  }
  void set_record(std::shared_ptr<EventRecord> record) {
    std::lock_guard<SpinLock> lock(lock_);
    std::swap(record_, record);
  }

  // Whether the last record was in a capture; what it stands for there is guarded by the captures' lock.
  std::atomic<bool> captured{false};
  std::shared_ptr<Capture> capture;
  std::vector<uint32_t> capture_nodes;

 private:
  Device& device_;
  const unsigned flags_;
  mutable SpinLock lock_;
  std::shared_ptr<EventRecord> record_;
};

}  // namespace musabench
