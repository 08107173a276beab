#include "runtime/runtime.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <utility>

namespace musabench {
namespace {

// Set in a forked child, which has none of the parent's threads.
std::atomic<bool> forked{false};
// Set when the process ends.
std::atomic<bool> unloading{false};

}  // namespace

Runtime::Runtime(Settings settings)
    : settings_(std::move(settings)), faults_(settings_.faults), memory_(settings_.report) {
  for (int id = 0; id < settings_.devices; ++id) devices_.push_back(std::make_unique<Device>(id, settings_));
}

std::shared_ptr<Stream> Runtime::stream(musaStream_t handle) {
  if (reinterpret_cast<uintptr_t>(handle) <= 1) return this_device().legacy_stream();
  return streams.get(handle);
}

musaError_t Runtime::reset(Device& device) {
  captures_.device_reset(device);
  const auto on_device = [&](const auto& object) { return &object.device() == &device; };
  streams.remove_if(on_device);
  events.remove_if(on_device);
  const int id = device.id();
  graphs.remove_if([&](const Graph& graph) { return graph.device == id; });
  graph_execs.remove_if([&](const GraphExec& exec) { return exec.graph->device == id; });
  const musaError_t error = device.reset();
  // A kernel that would not stop may still use the memory.
  if (error == musaSuccess) memory_.release_all(id);
  return error;
}

void Runtime::shut_down() {
  if (forked.load()) return;
  unloading.store(true);
  for (const auto& device : devices_) device->stop(std::chrono::milliseconds(200));
  memory_.report_leaks();
  faults_.report_unknown_kernels();
}

Runtime& runtime() {
  static Runtime* const instance = [] {
    auto* created = new Runtime(read_settings());
    pthread_atfork(nullptr, nullptr, [] { forked.store(true); });
    std::atexit([] { runtime().shut_down(); });
    return created;
  }();
  return *instance;
}

const char* initialization_error_text() {
  if (forked.load()) return "initialization error: a forked child cannot use its parent's runtime";
  static const std::string* const text = new std::string("initialization error: " + runtime().settings().error);
  return runtime().settings().error.empty() ? error_text(musaErrorInitializationError) : text->c_str();
}

musaError_t enter(const char* function) {
  if (forked.load(std::memory_order_relaxed)) return musaErrorInitializationError;
  if (is_runtime_thread()) return musaErrorNotPermitted;
  if (unloading.load(std::memory_order_relaxed)) return musaErrorMusartUnloading;
  Runtime& rt = runtime();
  if (!rt.settings().error.empty()) return musaErrorInitializationError;
  if (!rt.faults().active()) return musaSuccess;
  const musaError_t error = rt.faults().on_call(function);
  if (is_sticky(error)) rt.this_device().fail(error);
  return error;
}

musaError_t enqueue(Runtime& rt, Stream& stream, Work&& work) {
  if (rt.captures().any()) {
    bool captured = false;
    const musaError_t error = rt.captures().add(stream, work, &captured);
    if (captured || error != musaSuccess) return error;
  }
  return stream.submit(std::move(work));
}

}  // namespace musabench
