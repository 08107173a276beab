#include "runtime/capture.h"

#include <algorithm>
#include <utility>

#include "runtime/device.h"

namespace musabench {
namespace {

void join(std::vector<uint32_t>& nodes, const std::vector<uint32_t>& more) {
  nodes.insert(nodes.end(), more.begin(), more.end());
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

// Whether every node comes before, or is one of, `ends`: else a forked stream was not joined.
bool all_joined(const Graph& graph, const std::vector<uint32_t>& ends) {
  std::vector<bool> joined(graph.nodes.size(), false);
  for (const uint32_t node : ends) joined[node] = true;
  // Dependencies have lower numbers, so that one pass from the end finds all.
  for (size_t node = graph.nodes.size(); node-- > 0;) {
    if (!joined[node]) return false;
    for (const uint32_t before : graph.nodes[node].after) joined[before] = true;
  }
  return true;
}

}  // namespace

musaError_t Captures::begin(const std::shared_ptr<Stream>& stream, int mode) {
  if (mode < musaStreamCaptureModeGlobal || mode > musaStreamCaptureModeRelaxed) return musaErrorInvalidValue;
  if (stream->kind() == Stream::Kind::kLegacy) return musaErrorStreamCaptureUnsupported;
  std::lock_guard<std::mutex> lock(mutex_);
  if (stream->capture != nullptr) return musaErrorInvalidValue;
  auto capture = std::make_shared<Capture>();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream.get();
  capture->graph = std::make_shared<Graph>();
  capture->graph->device = stream->device().id();
  capture->streams.push_back(stream);
  stream->capture = capture;
  stream->capture_tail.clear();
  active_.push_back(std::move(capture));
  ++active_count_;
  return musaSuccess;
}

void Captures::finish(Capture& capture) {
  for (const auto& stream : capture.streams) {
    stream->capture_tail.clear();
    if (stream->capture.get() == &capture && stream.get() != capture.origin) stream->capture = nullptr;
  }
  capture.ended = true;
  const auto it = std::find_if(active_.begin(), active_.end(), [&](const auto& c) { return c.get() == &capture; });
  const std::shared_ptr<Capture> kept = *it;  // the origin may hold the last reference
  active_.erase(it);
  --active_count_;
  kept->streams.front()->capture = nullptr;
  kept->streams.clear();
}

musaError_t Captures::end(Stream& stream, std::shared_ptr<Graph>* graph) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr || capture->origin != &stream) return musaErrorStreamCaptureUnmatched;
  if (capture->mode != musaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id()) {
    return musaErrorStreamCaptureWrongThread;
  }
  const bool joined = all_joined(*capture->graph, stream.capture_tail);
  finish(*capture);
  std::shared_ptr<Graph> captured = std::move(capture->graph);
  if (capture->invalidated) return musaErrorStreamCaptureInvalidated;
  if (!joined) return musaErrorStreamCaptureUnjoined;
  *graph = std::move(captured);
  return musaSuccess;
}

musaError_t Captures::status(Stream& stream, int* status) {
  std::lock_guard<std::mutex> lock(mutex_);
  *status = musaStreamCaptureStatusNone;
  if (stream.kind() == Stream::Kind::kLegacy) {
    // The question alone does no harm, so it invalidates nothing.
    for (const auto& capture : active_) {
      for (const auto& other : capture->streams) {
        if (&other->device() == &stream.device() && other->kind() == Stream::Kind::kBlocking) {
          return musaErrorStreamCaptureImplicit;
        }
      }
    }
  }
  if (stream.capture != nullptr) {
    *status = stream.capture->invalidated ? musaStreamCaptureStatusInvalidated : musaStreamCaptureStatusActive;
  }
  return musaSuccess;
}

// The legacy stream waits for all blocking streams, which must not include capturing ones.
musaError_t Captures::check_uncaptured_stream(const Stream& stream) {
  if (stream.kind() != Stream::Kind::kLegacy) return musaSuccess;
  bool conflict = false;
  for (const auto& capture : active_) {
    for (const auto& other : capture->streams) {
      if (&other->device() != &stream.device() || other->kind() != Stream::Kind::kBlocking) continue;
      if (!capture->invalidated) conflict = true;
      capture->invalidated = true;
    }
  }
  return conflict ? musaErrorStreamCaptureImplicit : musaSuccess;
}

musaError_t Captures::add(Stream& stream, Work& work, bool* captured) {
  std::lock_guard<std::mutex> lock(mutex_);
  Capture* capture = stream.capture.get();
  *captured = capture != nullptr;
  if (capture == nullptr) return check_uncaptured_stream(stream);
  if (capture->invalidated) return musaErrorStreamCaptureInvalidated;
  const auto number = static_cast<uint32_t>(capture->graph->nodes.size());
  GraphNode node;
  node.work = std::move(work);
  node.after = std::move(stream.capture_tail);
  capture->graph->nodes.push_back(std::move(node));
  stream.capture_tail = {number};
  return musaSuccess;
}

musaError_t Captures::record(Stream& stream, Event& event, bool* captured) {
  std::lock_guard<std::mutex> lock(mutex_);
  *captured = stream.capture != nullptr;
  if (stream.capture == nullptr) return check_uncaptured_stream(stream);
  if (stream.capture->invalidated) return musaErrorStreamCaptureInvalidated;
  event.capture = stream.capture;
  event.capture_nodes = stream.capture_tail;
  event.captured.store(true, std::memory_order_release);
  return musaSuccess;
}

musaError_t Captures::wait(const std::shared_ptr<Stream>& stream, Event& event, bool* captured) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::shared_ptr<Capture> from = event.captured.load() ? event.capture : nullptr;
  *captured = stream->capture != nullptr || from != nullptr;
  if (!*captured) return check_uncaptured_stream(*stream);
  if (stream->capture != nullptr && stream->capture->invalidated) return musaErrorStreamCaptureInvalidated;

  if (from == nullptr) {
    if (event.last_record() == nullptr) return musaSuccess;  // never recorded: nothing to wait for
    stream->capture->invalidated = true;
    return musaErrorStreamCaptureIsolation;
  }
  if (from->ended) {
    if (stream->capture != nullptr) stream->capture->invalidated = true;
    return musaErrorCapturedEvent;
  }
  if (from->invalidated) return musaErrorStreamCaptureInvalidated;
  if (stream->capture == from) {
    join(stream->capture_tail, event.capture_nodes);
    return musaSuccess;
  }
  if (stream->capture != nullptr) {
    stream->capture->invalidated = true;
    from->invalidated = true;
    return musaErrorStreamCaptureMerge;
  }
  // A graph runs on one device and can never contain the legacy stream.
  if (stream->kind() == Stream::Kind::kLegacy || stream->device().id() != from->graph->device) {
    from->invalidated = true;
    return musaErrorStreamCaptureUnsupported;
  }
  stream->capture = from;
  stream->capture_tail = event.capture_nodes;
  from->streams.push_back(stream);
  return musaSuccess;
}

musaError_t Captures::check_stream_query(Stream& stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stream.capture != nullptr) {
    const bool was_invalid = stream.capture->invalidated;
    stream.capture->invalidated = true;
    return was_invalid ? musaErrorStreamCaptureInvalidated : musaErrorStreamCaptureUnsupported;
  }
  const musaError_t error = check_uncaptured_stream(stream);
  return error != musaSuccess ? error : check_unsafe_locked();
}

musaError_t Captures::check_event_query(Event& event) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (event.captured.load()) {
    if (event.capture != nullptr) event.capture->invalidated = true;
    return musaErrorCapturedEvent;
  }
  return check_unsafe_locked();
}

musaError_t Captures::check_device_sync(const Device& device) {
  std::lock_guard<std::mutex> lock(mutex_);
  bool capturing = false;
  for (const auto& capture : active_) {
    if (capture->graph->device != device.id() || capture->invalidated) continue;
    capture->invalidated = true;
    capturing = true;
  }
  return capturing ? musaErrorStreamCaptureUnsupported : check_unsafe_locked();
}

musaError_t Captures::check_upload(Stream& stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stream.capture == nullptr) return check_uncaptured_stream(stream);
  const bool was_invalid = stream.capture->invalidated;
  stream.capture->invalidated = true;
  return was_invalid ? musaErrorStreamCaptureInvalidated : musaErrorStreamCaptureUnsupported;
}

musaError_t Captures::check_unsafe_call() {
  std::lock_guard<std::mutex> lock(mutex_);
  return check_unsafe_locked();
}

musaError_t Captures::check_unsafe_locked() {
  bool forbidden = false;
  for (const auto& capture : active_) {
    const bool own = capture->thread == std::this_thread::get_id();
    const bool applies =
        capture->mode == musaStreamCaptureModeGlobal || (capture->mode == musaStreamCaptureModeThreadLocal && own);
    if (!applies || capture->invalidated) continue;
    capture->invalidated = true;
    forbidden = true;
  }
  return forbidden ? musaErrorStreamCaptureUnsupported : musaSuccess;
}

musaError_t Captures::check_legacy_call(Device& device) {
  const std::shared_ptr<Stream> legacy = device.legacy_stream();
  std::lock_guard<std::mutex> lock(mutex_);
  const musaError_t error = check_uncaptured_stream(*legacy);
  return error != musaSuccess ? error : check_unsafe_locked();
}

void Captures::stream_destroyed(Stream& stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) return;
  capture->invalidated = true;
  if (capture->origin == &stream) {
    finish(*capture);
    return;
  }
  auto& streams = capture->streams;
  streams.erase(std::remove_if(streams.begin(), streams.end(), [&](const auto& s) { return s.get() == &stream; }),
                streams.end());
  stream.capture = nullptr;
}

void Captures::device_reset(const Device& device) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::vector<std::shared_ptr<Capture>> captures = active_;
  for (const auto& capture : captures) {
    if (capture->graph->device != device.id()) continue;
    capture->invalidated = true;
    finish(*capture);
  }
}

}  // namespace musabench
