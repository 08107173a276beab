// Streams: in-order queues of work, each with a thread of its own that works them off.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/sync.h"
#include "runtime/work.h"

namespace musabench {

class Capture;
class Device;

// A point in a stream: reached when the stream's `progress` is at `sequence`.
struct StreamPoint {
  std::shared_ptr<Progress> progress;
  uint64_t sequence = 0;

  bool reached() const { return progress == nullptr || progress->reached(sequence); }
};

// One record of an event.
struct EventRecord {
  StreamPoint point;
  std::atomic<int64_t> time_ns{0};  // when the stream got there; valid once the point is reached
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  enum class Kind { kLegacy, kBlocking, kNonBlocking };

  Stream(Device& device, Kind kind);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() const { return device_; }
  Kind kind() const { return kind_; }

  // Appends `work`, to be done once `after`, if any, is reached. With `record`, its point is set to this work and
  // its time is taken when the work is done. musaErrorInvalidResourceHandle after close().
  musaError_t submit(Work&& work, std::shared_ptr<EventRecord> record = nullptr, const StreamPoint* after = nullptr,
                     StreamPoint* done = nullptr);

  // The end of what has been submitted so far.
  StreamPoint tail() const { return {progress_, submitted_.load(std::memory_order_acquire)}; }
  bool idle() const { return progress_->reached(submitted_.load(std::memory_order_acquire)); }

  // Accepts no more work; the thread finishes the queue and ends.
  void close();

  // Of the capture that the stream takes part in; guarded by the captures' lock.
  std::shared_ptr<Capture> capture;
  std::vector<uint32_t> capture_tail;  // nodes that the next captured work comes after

 private:
  struct Entry;

  Entry* new_entry();
  void add_legacy_dependencies(Entry& entry);
  void start();
  void loop();
  void execute(Entry& entry);

  Device& device_;
  const Kind kind_;
  const std::shared_ptr<Progress> progress_;
  std::atomic<uint64_t> submitted_{0};

  SpinLock lock_;  // guards what follows
  Entry* first_ = nullptr;
  Entry* last_ = nullptr;
  Entry* spare_ = nullptr;  // entries to use again
  int spares_ = 0;
  bool started_ = false;
  bool closed_ = false;

  std::atomic<bool> attention_{false};  // the thread has something to look at
  Parker wake_;
};

}  // namespace musabench
