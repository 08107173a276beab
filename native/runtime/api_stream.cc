// Streams, kernels and host functions.
#include "abi/musart_host.h"
#include "runtime/runtime.h"

namespace musabench {
namespace {

musaError_t create_stream(const char* name, musaStream_t* stream, unsigned flags) {
  return device_call(name, [&](Runtime& rt, Device& device) -> musaError_t {
    if (stream == nullptr || flags > musaStreamNonBlocking) return musaErrorInvalidValue;
    const auto created =
        device.create_stream(flags == musaStreamNonBlocking ? Stream::Kind::kNonBlocking : Stream::Kind::kBlocking);
    const uint64_t handle = rt.streams.add(created);
    if (handle == 0) {
      created->close();
      return musaErrorMemoryAllocation;
    }
    *stream = reinterpret_cast<musaStream_t>(handle);
    return musaSuccess;
  });
}

// Kernels do not say what else they use, but their main output is known.
musaError_t check_output(Runtime& rt, const Device& device, const musaHostLaunch& launch) {
  if (rt.device_count() == 1 || launch.output == nullptr) return musaSuccess;
  int owner = device.id();
  rt.memory().classify(launch.output, launch.output_bytes, &owner);
  if (owner == device.id()) return musaSuccess;
  rt.memory().report("kernel output in another device's memory", device.id(), launch.output, launch.output_bytes);
  return musaErrorInvalidValue;
}

}  // namespace
}  // namespace musabench

using namespace musabench;

musaError_t musaStreamCreate(musaStream_t* stream) { return create_stream("musaStreamCreate", stream, 0); }

musaError_t musaStreamCreateWithFlags(musaStream_t* stream, unsigned flags) {
  return create_stream("musaStreamCreateWithFlags", stream, flags);
}

musaError_t musaStreamCreateWithPriority(musaStream_t* stream, unsigned flags, int) {
  return create_stream("musaStreamCreateWithPriority", stream, flags);
}

musaError_t musaStreamDestroy(musaStream_t stream) {
  return api_call("musaStreamDestroy", [&](Runtime& rt) -> musaError_t {
    const auto removed = rt.streams.remove(stream);
    if (removed == nullptr) return musaErrorInvalidResourceHandle;
    if (rt.captures().any()) rt.captures().stream_destroyed(*removed);
    removed->close();
    return removed->device().error();
  });
}

musaError_t musaStreamSynchronize(musaStream_t stream) {
  return device_call("musaStreamSynchronize", [&](Runtime& rt, Device&) -> musaError_t {
    const auto target = rt.stream(stream);
    if (target == nullptr) return musaErrorInvalidResourceHandle;
    if (rt.captures().any()) {
      const musaError_t error = rt.captures().check_stream_query(*target);
      if (error != musaSuccess) return error;
    }
    Device& device = target->device();
    if (target->kind() == Stream::Kind::kLegacy) {
      // It is done when all that it would wait for is.
      for (const auto& other : device.streams()) {
        if (other->kind() != Stream::Kind::kBlocking) continue;
        const musaError_t error = device.wait(other->tail());
        if (error != musaSuccess) return error;
      }
    }
    return device.wait(target->tail());
  });
}

musaError_t musaStreamQuery(musaStream_t stream) {
  return device_call("musaStreamQuery", [&](Runtime& rt, Device&) -> musaError_t {
    const auto target = rt.stream(stream);
    if (target == nullptr) return musaErrorInvalidResourceHandle;
    if (rt.captures().any()) {
      const musaError_t error = rt.captures().check_stream_query(*target);
      if (error != musaSuccess) return error;
    }
    Device& device = target->device();
    bool idle = target->idle();
    if (target->kind() == Stream::Kind::kLegacy) {
      for (const auto& other : device.streams()) {
        idle = idle && (other->kind() != Stream::Kind::kBlocking || other->idle());
      }
    }
    const musaError_t error = device.error();
    if (error != musaSuccess) return error;
    return idle ? musaSuccess : musaErrorNotReady;
  });
}

musaError_t musaStreamWaitEvent(musaStream_t stream, musaEvent_t event, unsigned flags) {
  return device_call("musaStreamWaitEvent", [&](Runtime& rt, Device&) -> musaError_t {
    if (flags != 0) return musaErrorInvalidValue;
    const auto target = rt.stream(stream);
    const auto source = rt.events.get(event);
    if (target == nullptr || source == nullptr) return musaErrorInvalidResourceHandle;
    if (rt.captures().any() || source->captured.load(std::memory_order_acquire)) {
      bool captured = false;
      const musaError_t error = rt.captures().wait(target, *source, &captured);
      if (captured || error != musaSuccess) return error;
    }
    const auto record = source->last_record();
    if (record == nullptr) return musaSuccess;
    // Submitted even when the point is reached already: on the legacy stream it orders blocking streams, too.
    return target->submit(Work(), nullptr, &record->point);
  });
}

musaError_t musaLaunchHostFunc(musaStream_t stream, musaHostFn_t fn, void* user_data) {
  return device_call("musaLaunchHostFunc", [&](Runtime& rt, Device&) -> musaError_t {
    const auto target = rt.stream(stream);
    if (target == nullptr) return musaErrorInvalidResourceHandle;
    if (fn == nullptr) return musaErrorInvalidValue;
    Work work;
    work.kind = Work::Kind::kHostFunction;
    work.function = fn;
    work.user_data = user_data;
    return enqueue(rt, *target, std::move(work));
  });
}

musaError_t musaHostLaunchKernel(const musaHostLaunch* launch, musaStream_t stream) {
  return device_call("musaHostLaunchKernel", [&](Runtime& rt, Device& device) -> musaError_t {
    if (launch == nullptr || launch->name == nullptr || launch->reserved != 0) return musaErrorInvalidValue;
    if (launch->run == nullptr) return musaErrorInvalidDeviceFunction;
    if (launch->blocks == 0) return musaErrorInvalidConfiguration;
    if (launch->params == nullptr && launch->params_bytes > 0) return musaErrorInvalidValue;
    const auto target = rt.stream(stream);
    if (target == nullptr || &target->device() != &device) return musaErrorInvalidResourceHandle;
    const musaError_t error = check_output(rt, device, *launch);
    if (error != musaSuccess) return error;
    Work work;
    work.kind = Work::Kind::kKernel;
    work.name = launch->name;
    work.run = launch->run;
    work.blocks = launch->blocks;
    work.dst = launch->output;
    work.bytes = launch->output_bytes;
    work.params.assign(launch->params, launch->params_bytes);
    return enqueue(rt, *target, std::move(work));
  });
}
