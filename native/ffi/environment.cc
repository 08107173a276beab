#include <atomic>
#include <new>
#include <utility>
#include <vector>

#include "object.h"

using namespace musabench::ffi;

namespace {

struct DeviceStream {
  int32_t device_type;
  int32_t device_id;
  void* stream;
};

// A thread works with one or two devices: a list in the order of first use is the quickest look-up, and every kernel
// launch makes one.
thread_local std::vector<DeviceStream> streams;

thread_local DLPackManagedTensorAllocator thread_allocator = nullptr;
std::atomic<DLPackManagedTensorAllocator> global_allocator{nullptr};

DeviceStream* find(int32_t device_type, int32_t device_id) {
  for (DeviceStream& entry : streams) {
    if (entry.device_type == device_type && entry.device_id == device_id) return &entry;
  }
  return nullptr;
}

// What the environment hands to allocators as SetError; error_ctx is a bool that says it was called.
void set_allocator_error(void* error_ctx, const char* kind, const char* message) {
  *static_cast<bool*>(error_ctx) = true;
  TVMFFIErrorSetRaisedFromCStr(kind, message);
}

}  // namespace

int TVMFFIEnvSetStream(int32_t device_type, int32_t device_id, void* stream, void** opt_out_original_stream) {
  if (device_type < 0 || device_id < 0) return raise("ValueError", __func__, "a negative device type or id");
  DeviceStream* entry = find(device_type, device_id);
  if (opt_out_original_stream != nullptr) *opt_out_original_stream = entry != nullptr ? entry->stream : nullptr;
  if (entry != nullptr) {
    entry->stream = stream;
    return 0;
  }
  try {
    streams.push_back({device_type, device_id, stream});
    return 0;
  } catch (const std::bad_alloc&) {
    return raise("MemoryError", __func__, "memory is out");
  }
}

void* TVMFFIEnvGetStream(int32_t device_type, int32_t device_id) {
  const DeviceStream* entry = find(device_type, device_id);
  return entry != nullptr ? entry->stream : nullptr;
}

DLPackManagedTensorAllocator TVMFFIEnvGetDLPackManagedTensorAllocator(void) {
  return thread_allocator != nullptr ? thread_allocator : global_allocator.load();
}

int TVMFFIEnvSetDLPackManagedTensorAllocator(DLPackManagedTensorAllocator allocator, int write_to_global_context,
                                             DLPackManagedTensorAllocator* opt_out_original_allocator) {
  if (opt_out_original_allocator != nullptr) *opt_out_original_allocator = thread_allocator;
  if (write_to_global_context != 0) global_allocator.store(allocator);
  thread_allocator = allocator;
  return 0;
}

int TVMFFIEnvTensorAlloc(DLTensor* prototype, TVMFFIObjectHandle* out) {
  if (prototype == nullptr || out == nullptr) {
    return raise("ValueError", __func__, "prototype and out must not be NULL");
  }
  const DLPackManagedTensorAllocator allocator = TVMFFIEnvGetDLPackManagedTensorAllocator();
  if (allocator == nullptr) {
    return raise("RuntimeError", __func__,
                 "no allocator is set; set one with TVMFFIEnvSetDLPackManagedTensorAllocator first");
  }
  DLManagedTensorVersioned* tensor = nullptr;
  bool explained = false;
  const int code = allocator(prototype, &tensor, &explained, &set_allocator_error);
  if (code != 0) {
    if (!explained && !has_raised()) raise("RuntimeError", __func__, "the allocator failed without saying why");
    return code;
  }
  if (tensor == nullptr) return raise("RuntimeError", __func__, "the allocator returned no tensor");
  const int taken = TVMFFITensorFromDLPackVersioned(tensor, 0, 0, out);
  if (taken != 0 && tensor->deleter != nullptr) tensor->deleter(tensor);
  return taken;
}
