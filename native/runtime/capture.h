// Stream capture: work that goes into a graph instead of running, and the rules of what may be called meanwhile.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/event.h"
#include "runtime/graph.h"
#include "runtime/stream.h"

namespace musabench {

// From begin to end. All of it is guarded by the lock of Captures.
class Capture {
 public:
  int mode = musaStreamCaptureModeGlobal;
  std::thread::id thread;  // that began it
  const Stream* origin = nullptr;
  bool invalidated = false;
  bool ended = false;
  std::shared_ptr<Graph> graph;
  std::vector<std::shared_ptr<Stream>> streams;  // that take part, the origin first
};

// All captures of the process. Calls that break a rule invalidate the captures whose rule it is.
class Captures {
 public:
  // Cheap, for the calls that must not pay for captures when there are none.
  bool any() const { return active_count_.load(std::memory_order_acquire) > 0; }

  musaError_t begin(const std::shared_ptr<Stream>& stream, int mode);
  // The capture ends unless the caller may not end it: musaErrorStreamCaptureUnmatched, ...WrongThread.
  musaError_t end(Stream& stream, std::shared_ptr<Graph>* graph);
  musaError_t status(Stream& stream, int* status);

  // What is put on `stream`: if that captures, `work` is taken into the graph and *captured is set.
  // Otherwise checks whether the stream may be used now.
  musaError_t add(Stream& stream, Work& work, bool* captured);
  musaError_t record(Stream& stream, Event& event, bool* captured);
  // An event recorded in a capture takes `stream` into that capture.
  musaError_t wait(const std::shared_ptr<Stream>& stream, Event& event, bool* captured);

  // Before the host waits for, or asks about, the stream, event or device.
  musaError_t check_stream_query(Stream& stream);
  musaError_t check_event_query(Event& event);
  musaError_t check_device_sync(const Device& device);
  // Before a graph is uploaded through the stream.
  musaError_t check_upload(Stream& stream);
  // Before a call that a capture might miss, such as an allocation.
  musaError_t check_unsafe_call();
  // Before a call that waits for the legacy stream of `device`.
  musaError_t check_legacy_call(Device& device);

  // The stream is destroyed: a capture begun in it is gone, one that it was drawn into is invalid.
  void stream_destroyed(Stream& stream);
  void device_reset(const Device& device);

 private:
  musaError_t check_uncaptured_stream(const Stream& stream);
  musaError_t check_unsafe_locked();
  void finish(Capture& capture);

  std::mutex mutex_;
  std::vector<std::shared_ptr<Capture>> active_;
  std::atomic<int> active_count_{0};
};

}  // namespace musabench
