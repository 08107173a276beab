#include "runtime/device.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace musabench {

Device::Device(int id, const Settings& settings)
    : id_(id),
      queue_depth_(static_cast<uint64_t>(settings.queue)),
      lanes_(id, settings.lanes, settings.pin ? settings.cpus : std::vector<int>()) {}

void Device::fail(musaError_t error) {
  musaError_t none = musaSuccess;
  error_.compare_exchange_strong(none, error);
}

std::shared_ptr<Stream> Device::create_stream(Stream::Kind kind) {
  auto stream = std::make_shared<Stream>(*this, kind);
  std::unique_lock<std::mutex> lock(mutex_);
  streams_changed_.wait(lock, [&] { return !resetting_; });
  streams_.push_back(stream);
  return stream;
}

std::shared_ptr<Stream> Device::legacy_stream() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (legacy_ == nullptr) {
    streams_changed_.wait(lock, [&] { return !resetting_; });
  }
  if (legacy_ == nullptr) {
    legacy_ = std::make_shared<Stream>(*this, Stream::Kind::kLegacy);
    streams_.push_back(legacy_);
    legacy_used_ = true;
  }
  return legacy_;
}

std::shared_ptr<Stream> Device::legacy_stream_if_used() {
  // Most programs never use it: then a launch takes no lock for it.
  if (!legacy_used_.load(std::memory_order_acquire)) return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  return legacy_;
}

std::vector<std::shared_ptr<Stream>> Device::streams() {
  std::lock_guard<std::mutex> lock(mutex_);
  return streams_;
}

void Device::forget(const Stream* stream) {
  std::shared_ptr<Stream> forgotten;  // dropped outside the lock
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = std::find_if(streams_.begin(), streams_.end(), [&](const auto& s) { return s.get() == stream; });
  if (it == streams_.end()) return;
  forgotten = std::move(*it);
  streams_.erase(it);
  streams_changed_.notify_all();
}

musaError_t Device::wait(const StreamPoint& point, bool spin) {
  const uint64_t resets = resets_.load(std::memory_order_acquire);
  if (point.progress != nullptr) point.progress->wait(point.sequence, nullptr, spin);
  if (resets_.load(std::memory_order_acquire) != resets) return musaErrorDeviceUninitialized;
  return error();
}

musaError_t Device::synchronize() {
  musaError_t first_error = musaSuccess;
  for (const auto& stream : streams()) {
    const musaError_t error = wait(stream->tail());
    if (first_error == musaSuccess) first_error = error;
  }
  return first_error != musaSuccess ? first_error : error();
}

void Device::wait_for_reset() {
  stopped_.wait([&] { return stopping_.load(std::memory_order_acquire); });
}

musaError_t Device::reset() {
  std::unique_lock<std::mutex> lock(mutex_);
  streams_changed_.wait(lock, [&] { return !resetting_; });
  resetting_ = true;
  resets_.fetch_add(1);
  stopping_.store(true);
  stopped_.notify();
  legacy_ = nullptr;
  legacy_used_ = false;
  const std::vector<std::shared_ptr<Stream>> streams = streams_;
  lock.unlock();
  for (const auto& stream : streams) stream->close();
  lock.lock();
  const bool stopped = streams_changed_.wait_for(lock, std::chrono::seconds(2), [&] { return streams_.empty(); });
  if (stopped) {
    error_.store(musaSuccess);
    stopping_.store(false);
  } else {
    fail(musaErrorLaunchTimeout);
  }
  resetting_ = false;
  lock.unlock();
  streams_changed_.notify_all();
  return stopped ? musaSuccess : musaErrorLaunchTimeout;
}

void Device::stop(std::chrono::milliseconds patience) {
  stopping_.store(true);
  stopped_.notify();
  const auto end = std::chrono::steady_clock::now() + patience;
  for (const auto& stream : streams()) {
    while (!stream->idle() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
}

}  // namespace musabench
