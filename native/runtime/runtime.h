// The state of the process's host runtime, and the frame of every call into it.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <system_error>
#include <vector>

#include "runtime/capture.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/event.h"
#include "runtime/faults.h"
#include "runtime/graph.h"
#include "runtime/handles.h"
#include "runtime/memory.h"
#include "runtime/settings.h"
#include "runtime/stream.h"
#include "runtime/threads.h"

namespace musabench {

class Runtime {
 public:
  explicit Runtime(Settings settings);

  const Settings& settings() const { return settings_; }
  FaultInjector& faults() { return faults_; }
  MemoryTable& memory() { return memory_; }
  Captures& captures() { return captures_; }

  int device_count() const { return static_cast<int>(devices_.size()); }
  bool is_device(int device) const { return device >= 0 && device < device_count(); }
  Device& device(int device) { return *devices_[static_cast<size_t>(device)]; }
  Device& this_device() { return device(current_device()); }

  // NULL and 1 name the current device's legacy stream. Returns NULL for what is no stream.
  std::shared_ptr<Stream> stream(musaStream_t handle);

  musaError_t reset(Device& device);
  // At the end of the process: stops the devices, reports leaks. Calls made later fail.
  void shut_down();

  HandleTable<Stream, 3> streams;
  HandleTable<Event, 5> events;
  HandleTable<const Graph, 7> graphs;
  HandleTable<GraphExec, 9> graph_execs;

 private:
  const Settings settings_;
  FaultInjector faults_;
  MemoryTable memory_;
  Captures captures_;
  std::vector<std::unique_ptr<Device>> devices_;
};

// Created by the first call and never destroyed: threads may use it until the process is gone.
Runtime& runtime();

// The text of musaErrorInitializationError: says what is wrong with the environment.
const char* initialization_error_text();

// What every call begins with: whether this process and thread may call at all, and injected errors.
musaError_t enter(const char* function);

// Runs `body(Runtime&)`, which returns an error code, as runtime function `name`. Exceptions end here, and the
// error becomes the thread's last one.
template <typename Body>
musaError_t api_call(const char* name, Body body) noexcept {
  musaError_t error;
  try {
    error = enter(name);
    if (error == musaSuccess) error = body(runtime());
  } catch (const std::bad_alloc&) {
    error = musaErrorMemoryAllocation;
  } catch (const std::system_error&) {
    error = musaErrorOperatingSystem;  // no more threads
  } catch (...) {
    error = musaErrorUnknown;
  }
  if (error != musaSuccess) last_error() = error;
  return error;
}

// The same for functions that use the current device: they fail while it has a sticky error.
template <typename Body>
musaError_t device_call(const char* name, Body body) noexcept {
  return api_call(name, [&](Runtime& rt) {
    Device& device = rt.this_device();
    const musaError_t error = device.error();
    return error != musaSuccess ? error : body(rt, device);
  });
}

// Puts `work` on the stream, or into its capture.
musaError_t enqueue(Runtime& rt, Stream& stream, Work&& work);

}  // namespace musabench
