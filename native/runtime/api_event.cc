// Events.
#include "abi/musa_runtime.h"
#include "runtime/runtime.h"

namespace musabench {
namespace {

musaError_t create_event(const char* name, musaEvent_t* event, unsigned flags) {
  return device_call(name, [&](Runtime& rt, Device& device) -> musaError_t {
    constexpr unsigned kKnownFlags = musaEventBlockingSync | musaEventDisableTiming | musaEventInterprocess;
    if (event == nullptr || (flags & ~kKnownFlags) != 0) return musaErrorInvalidValue;
    if ((flags & musaEventInterprocess) != 0) return musaErrorNotSupported;
    const uint64_t handle = rt.events.add(std::make_shared<Event>(device, flags));
    if (handle == 0) return musaErrorMemoryAllocation;
    *event = reinterpret_cast<musaEvent_t>(handle);
    return musaSuccess;
  });
}

// Before the host asks about the event.
musaError_t check_query(Runtime& rt, Event& event) {
  if (!rt.captures().any() && !event.captured.load(std::memory_order_acquire)) return musaSuccess;
  return rt.captures().check_event_query(event);
}

}  // namespace
}  // namespace musabench

using namespace musabench;

musaError_t musaEventCreate(musaEvent_t* event) { return create_event("musaEventCreate", event, musaEventDefault); }

musaError_t musaEventCreateWithFlags(musaEvent_t* event, unsigned flags) {
  return create_event("musaEventCreateWithFlags", event, flags);
}

musaError_t musaEventRecord(musaEvent_t event, musaStream_t stream) {
  return device_call("musaEventRecord", [&](Runtime& rt, Device&) -> musaError_t {
    const auto recorded = rt.events.get(event);
    const auto target = rt.stream(stream);
    if (recorded == nullptr || target == nullptr || &recorded->device() != &target->device()) {
      return musaErrorInvalidResourceHandle;
    }
    if (rt.captures().any()) {
      bool captured = false;
      const musaError_t error = rt.captures().record(*target, *recorded, &captured);
      if (captured || error != musaSuccess) return error;
    }
    auto record = std::make_shared<EventRecord>();
    const musaError_t error = target->submit(Work(), record);
    if (error != musaSuccess) return error;
    recorded->set_record(std::move(record));
    recorded->captured.store(false, std::memory_order_release);
    return musaSuccess;
  });
}

musaError_t musaEventSynchronize(musaEvent_t event) {
  return device_call("musaEventSynchronize", [&](Runtime& rt, Device&) -> musaError_t {
    const auto target = rt.events.get(event);
    if (target == nullptr) return musaErrorInvalidResourceHandle;
    const musaError_t error = check_query(rt, *target);
    if (error != musaSuccess) return error;
    const auto record = target->last_record();
    return record == nullptr ? musaSuccess : target->device().wait(record->point, !target->blocking_sync());
  });
}

musaError_t musaEventQuery(musaEvent_t event) {
  return device_call("musaEventQuery", [&](Runtime& rt, Device&) -> musaError_t {
    const auto target = rt.events.get(event);
    if (target == nullptr) return musaErrorInvalidResourceHandle;
    musaError_t error = check_query(rt, *target);
    if (error != musaSuccess) return error;
    const auto record = target->last_record();
    const bool reached = record == nullptr || record->point.reached();
    error = target->device().error();
    if (error != musaSuccess) return error;
    return reached ? musaSuccess : musaErrorNotReady;
  });
}

musaError_t musaEventElapsedTime(float* milliseconds, musaEvent_t start, musaEvent_t stop) {
  return device_call("musaEventElapsedTime", [&](Runtime& rt, Device&) -> musaError_t {
    if (milliseconds == nullptr) return musaErrorInvalidValue;
    const auto from = rt.events.get(start);
    const auto to = rt.events.get(stop);
    if (from == nullptr || to == nullptr || &from->device() != &to->device() || !from->timed() || !to->timed()) {
      return musaErrorInvalidResourceHandle;
    }
    for (const auto& event : {from, to}) {
      if (!event->captured.load(std::memory_order_acquire)) continue;
      return rt.captures().check_event_query(*event);
    }
    const auto begin = from->last_record();
    const auto end = to->last_record();
    if (begin == nullptr || end == nullptr) return musaErrorInvalidResourceHandle;
    if (!begin->point.reached() || !end->point.reached()) return musaErrorNotReady;
    const int64_t elapsed =
        end->time_ns.load(std::memory_order_acquire) - begin->time_ns.load(std::memory_order_acquire);
    *milliseconds = static_cast<float>(static_cast<double>(elapsed) * 1e-6);
    return from->device().error();
  });
}

musaError_t musaEventDestroy(musaEvent_t event) {
  return api_call("musaEventDestroy", [&](Runtime& rt) -> musaError_t {
    const auto removed = rt.events.remove(event);
    return removed == nullptr ? musaErrorInvalidResourceHandle : removed->device().error();
  });
}
