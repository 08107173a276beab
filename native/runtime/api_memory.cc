// Memory, copies and fills.
#include "abi/musart_host.h"
#include "runtime/runtime.h"

namespace musabench {
namespace {

musaError_t allocate(const char* name, MemoryKind kind, void** pointer, size_t bytes) {
  return device_call(name, [&](Runtime& rt, Device& device) -> musaError_t {
    if (pointer == nullptr) return musaErrorInvalidValue;
    const musaError_t error = rt.captures().any() ? rt.captures().check_unsafe_call() : musaSuccess;
    return error != musaSuccess ? error : rt.memory().allocate(device.id(), kind, bytes, pointer);
  });
}

// Memory goes only when no work can use it any more, and it goes even when the device has failed: then the
// device's error is returned, but there is no leak.
musaError_t release(const char* name, MemoryKind kind, void* pointer) {
  return api_call(name, [&](Runtime& rt) -> musaError_t {
    if (pointer == nullptr) return musaSuccess;
    Device& device = rt.this_device();
    musaError_t error = rt.captures().any() ? rt.captures().check_unsafe_call() : musaSuccess;
    if (error == musaSuccess) error = rt.memory().check_release(device.id(), kind, pointer);
    if (error != musaSuccess) return error;
    for (int id = 0; id < rt.device_count(); ++id) {
      // Host memory may be in use by any device.
      if (kind == MemoryKind::kHost || id == device.id()) rt.device(id).synchronize();
    }
    error = rt.memory().release(device.id(), kind, pointer);
    return error != musaSuccess ? error : device.error();
  });
}

enum class Side { kDevice, kHost, kAny };

// One side of a copy, or the target of a fill. `any_device`: it may be the memory of any device.
musaError_t check_range(Runtime& rt, int device, const void* pointer, size_t bytes, Side side, bool any_device) {
  if (pointer == nullptr) return musaErrorInvalidValue;
  int owner = device;
  const MemoryTable::Range range = rt.memory().classify(pointer, bytes, &owner);
  const bool is_device = range == MemoryTable::Range::kInside;
  const char* complaint = nullptr;
  if (range == MemoryTable::Range::kOverrun) {
    complaint = "use beyond the end of device memory";
  } else if (is_device && owner != device && !any_device) {
    complaint = "use of another device's memory";
  } else if (is_device && side == Side::kHost) {
    complaint = "device memory given as host memory";
  } else if (!is_device && side == Side::kDevice) {
    complaint = "not device memory";
  }
  if (complaint == nullptr) return musaSuccess;
  rt.memory().report(complaint, device, pointer, bytes);
  return musaErrorInvalidValue;
}

musaError_t check_copy(Runtime& rt, int device, const void* dst, const void* src, size_t bytes, int kind) {
  Side dst_side = Side::kAny;
  Side src_side = Side::kAny;
  switch (kind) {
    case musaMemcpyHostToHost:
      dst_side = src_side = Side::kHost;
      break;
    case musaMemcpyHostToDevice:
      dst_side = Side::kDevice;
      src_side = Side::kHost;
      break;
    case musaMemcpyDeviceToHost:
      dst_side = Side::kHost;
      src_side = Side::kDevice;
      break;
    case musaMemcpyDeviceToDevice:
      dst_side = src_side = Side::kDevice;
      break;
    case musaMemcpyDefault:
      break;
    default:
      return musaErrorInvalidMemcpyDirection;
  }
  if (bytes == 0) return musaSuccess;
  // Between devices is the one case where another device's memory is meant.
  const bool any_device = kind == musaMemcpyDeviceToDevice || kind == musaMemcpyDefault;
  const musaError_t error = check_range(rt, device, dst, bytes, dst_side, any_device);
  return error != musaSuccess ? error : check_range(rt, device, src, bytes, src_side, any_device);
}

// Puts it on the legacy stream and waits.
musaError_t run_now(Runtime& rt, Device& device, Work&& work) {
  if (rt.captures().any()) {
    const musaError_t error = rt.captures().check_legacy_call(device);
    if (error != musaSuccess) return error;
  }
  StreamPoint done;
  const musaError_t error = device.legacy_stream()->submit(std::move(work), nullptr, nullptr, &done);
  return error != musaSuccess ? error : device.wait(done);
}

}  // namespace
}  // namespace musabench

using namespace musabench;

musaError_t musaMalloc(void** pointer, size_t bytes) {
  return allocate("musaMalloc", MemoryKind::kDevice, pointer, bytes);
}

musaError_t musaFree(void* pointer) { return release("musaFree", MemoryKind::kDevice, pointer); }

musaError_t musaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  // Portable, mapped, write-combined: all memory is, as far as the host device can tell.
  constexpr unsigned kKnownFlags = 7;
  if (flags > kKnownFlags) return api_call("musaHostAlloc", [](Runtime&) { return musaErrorInvalidValue; });
  return allocate("musaHostAlloc", MemoryKind::kHost, pointer, bytes);
}

musaError_t musaMallocHost(void** pointer, size_t bytes) {
  return allocate("musaMallocHost", MemoryKind::kHost, pointer, bytes);
}

musaError_t musaFreeHost(void* pointer) { return release("musaFreeHost", MemoryKind::kHost, pointer); }

musaError_t musaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return device_call("musaMemGetInfo", [&](Runtime& rt, Device&) {
    if (free_bytes == nullptr || total_bytes == nullptr) return musaErrorInvalidValue;
    rt.memory().info(free_bytes, total_bytes);
    return musaSuccess;
  });
}

musaError_t musaMemcpy(void* dst, const void* src, size_t bytes, int kind) {
  return device_call("musaMemcpy", [&](Runtime& rt, Device& device) -> musaError_t {
    const musaError_t error = check_copy(rt, device.id(), dst, src, bytes, kind);
    if (error != musaSuccess || bytes == 0) return error;
    return run_now(rt, device, Work::copy(dst, src, bytes));
  });
}

musaError_t musaMemcpyAsync(void* dst, const void* src, size_t bytes, int kind, musaStream_t stream) {
  return device_call("musaMemcpyAsync", [&](Runtime& rt, Device&) -> musaError_t {
    const auto target = rt.stream(stream);
    if (target == nullptr) return musaErrorInvalidResourceHandle;
    const musaError_t error = check_copy(rt, target->device().id(), dst, src, bytes, kind);
    if (error != musaSuccess || bytes == 0) return error;
    return enqueue(rt, *target, Work::copy(dst, src, bytes));
  });
}

musaError_t musaMemset(void* dst, int value, size_t bytes) {
  return device_call("musaMemset", [&](Runtime& rt, Device& device) -> musaError_t {
    if (bytes == 0) return musaSuccess;
    const musaError_t error = check_range(rt, device.id(), dst, bytes, Side::kDevice, false);
    return error != musaSuccess ? error : run_now(rt, device, Work::fill(dst, value, bytes));
  });
}

musaError_t musaMemsetAsync(void* dst, int value, size_t bytes, musaStream_t stream) {
  return device_call("musaMemsetAsync", [&](Runtime& rt, Device&) -> musaError_t {
    const auto target = rt.stream(stream);
    if (target == nullptr) return musaErrorInvalidResourceHandle;
    if (bytes == 0) return musaSuccess;
    const musaError_t error = check_range(rt, target->device().id(), dst, bytes, Side::kDevice, false);
    return error != musaSuccess ? error : enqueue(rt, *target, Work::fill(dst, value, bytes));
  });
}

musaError_t musaHostLiveAllocations(int device, size_t* count, size_t* bytes) {
  return api_call("musaHostLiveAllocations", [&](Runtime& rt) {
    if (count == nullptr || bytes == nullptr) return musaErrorInvalidValue;
    if (!rt.is_device(device)) return musaErrorInvalidDevice;
    rt.memory().live(device, count, bytes);
    return musaSuccess;
  });
}
