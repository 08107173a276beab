// One host device: its lanes, its streams, and whether it can still be used.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/lanes.h"
#include "runtime/settings.h"
#include "runtime/stream.h"

namespace musabench {

class Device {
 public:
  Device(int id, const Settings& settings);

  int id() const { return id_; }
  LanePool& lanes() { return lanes_; }
  // How many pieces of work a stream takes before a caller has to wait; 0: any number.
  uint64_t queue_depth() const { return queue_depth_; }

  // The sticky error, musaSuccess if none. Nothing runs on the device while there is one.
  musaError_t error() const { return error_.load(std::memory_order_acquire); }
  // Makes `error` the sticky one, unless there is one already.
  void fail(musaError_t error);
  // Set while the device is being reset or the process ends: work not yet done is dropped.
  const std::atomic<bool>& stopping() const { return stopping_; }
  bool usable() const { return error() == musaSuccess && !stopping_.load(std::memory_order_relaxed); }

  std::shared_ptr<Stream> create_stream(Stream::Kind kind);
  std::shared_ptr<Stream> legacy_stream();
  std::shared_ptr<Stream> legacy_stream_if_used();
  // All that may still have work, destroyed ones and the legacy stream included.
  std::vector<std::shared_ptr<Stream>> streams();
  // By a closed stream whose work is done.
  void forget(const Stream* stream);

  // Waits until `point`, in a stream of this device, is reached. Returns the sticky error, or
  // musaErrorDeviceUninitialized when the device was reset meanwhile.
  musaError_t wait(const StreamPoint& point, bool spin = true);
  // Waits for all streams, also when the work of one has failed: then nothing uses any memory any more.
  musaError_t synchronize();

  // Returns when the device is reset or the process ends: how a hanging kernel spends its time.
  void wait_for_reset();

  // Drops all work and streams and clears the error. musaErrorLaunchTimeout, with the device left unusable, when a
  // kernel does not end its block within two seconds. The caller has taken the handles out of use.
  musaError_t reset();
  // Drops all work and waits, for at most `patience`, until nothing runs. For the end of the process.
  void stop(std::chrono::milliseconds patience);

 private:
  const int id_;
  const uint64_t queue_depth_;
  LanePool lanes_;
  std::atomic<musaError_t> error_{musaSuccess};
  std::atomic<bool> stopping_{false};
  std::atomic<uint64_t> resets_{0};
  Parker stopped_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable streams_changed_;
  std::vector<std::shared_ptr<Stream>> streams_;
  std::shared_ptr<Stream> legacy_;
  std::atomic<bool> legacy_used_{false};
  bool resetting_ = false;  // no stream is created meanwhile
};

}  // namespace musabench
