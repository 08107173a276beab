// Stream capture and graphs.
#include <algorithm>

#include "abi/musa_runtime.h"
#include "runtime/runtime.h"

using namespace musabench;

musaError_t musaStreamBeginCapture(musaStream_t stream, int mode) {
  return device_call("musaStreamBeginCapture", [&](Runtime& rt, Device&) -> musaError_t {
    const auto target = rt.stream(stream);
    return target == nullptr ? musaErrorInvalidResourceHandle : rt.captures().begin(target, mode);
  });
}

musaError_t musaStreamEndCapture(musaStream_t stream, musaGraph_t* graph) {
  return device_call("musaStreamEndCapture", [&](Runtime& rt, Device&) -> musaError_t {
    if (graph == nullptr) return musaErrorInvalidValue;
    const auto target = rt.stream(stream);
    if (target == nullptr) return musaErrorInvalidResourceHandle;
    *graph = nullptr;
    std::shared_ptr<Graph> captured;
    const musaError_t error = rt.captures().end(*target, &captured);
    if (error != musaSuccess) return error;
    const uint64_t handle = rt.graphs.add(std::move(captured));
    if (handle == 0) return musaErrorMemoryAllocation;
    *graph = reinterpret_cast<musaGraph_t>(handle);
    return musaSuccess;
  });
}

musaError_t musaStreamIsCapturing(musaStream_t stream, int* status) {
  return device_call("musaStreamIsCapturing", [&](Runtime& rt, Device&) -> musaError_t {
    if (status == nullptr) return musaErrorInvalidValue;
    const auto target = rt.stream(stream);
    return target == nullptr ? musaErrorInvalidResourceHandle : rt.captures().status(*target, status);
  });
}

musaError_t musaGraphInstantiate(musaGraphExec_t* exec, musaGraph_t graph, musaGraphNode_t* error_node, char* log,
                                 size_t log_bytes) {
  return device_call("musaGraphInstantiate", [&](Runtime& rt, Device&) -> musaError_t {
    if (exec == nullptr) return musaErrorInvalidValue;
    auto source = rt.graphs.get(graph);
    if (source == nullptr) return musaErrorInvalidValue;
    if (error_node != nullptr) *error_node = nullptr;
    if (log != nullptr && log_bytes > 0) *log = '\0';
    auto created = std::make_shared<GraphExec>();
    created->graph = std::move(source);
    const uint64_t handle = rt.graph_execs.add(std::move(created));
    if (handle == 0) return musaErrorMemoryAllocation;
    *exec = reinterpret_cast<musaGraphExec_t>(handle);
    return musaSuccess;
  });
}

musaError_t musaGraphUpload(musaGraphExec_t exec, musaStream_t stream) {
  return device_call("musaGraphUpload", [&](Runtime& rt, Device&) -> musaError_t {
    const auto source = rt.graph_execs.get(exec);
    if (source == nullptr) return musaErrorInvalidValue;
    const auto target = rt.stream(stream);
    if (target == nullptr || target->device().id() != source->graph->device) return musaErrorInvalidResourceHandle;
    // There is nothing to upload: the nodes are where the lanes read them.
    return rt.captures().any() ? rt.captures().check_upload(*target) : musaSuccess;
  });
}

musaError_t musaGraphLaunch(musaGraphExec_t exec, musaStream_t stream) {
  return device_call("musaGraphLaunch", [&](Runtime& rt, Device&) -> musaError_t {
    const auto source = rt.graph_execs.get(exec);
    if (source == nullptr) return musaErrorInvalidValue;
    const auto target = rt.stream(stream);
    if (target == nullptr || target->device().id() != source->graph->device) return musaErrorInvalidResourceHandle;
    Work work;
    work.kind = Work::Kind::kGraph;
    work.graph = source->graph;
    if (rt.captures().any()) {
      bool captured = false;
      const musaError_t error = rt.captures().add(*target, work, &captured);
      if (captured || error != musaSuccess) return error;
    }
    std::lock_guard<std::mutex> lock(source->mutex);
    return target->submit(std::move(work), nullptr, &source->last_launch, &source->last_launch);
  });
}

musaError_t musaGraphGetNodes(musaGraph_t graph, musaGraphNode_t* nodes, size_t* count) {
  return device_call("musaGraphGetNodes", [&](Runtime& rt, Device&) -> musaError_t {
    const auto source = rt.graphs.get(graph);
    if (source == nullptr || count == nullptr) return musaErrorInvalidValue;
    const size_t available = source->nodes.size();
    if (nodes == nullptr) {
      *count = available;
      return musaSuccess;
    }
    for (size_t i = 0; i < *count; ++i) {
      // Nothing takes a node yet, so it needs to be distinct, not valid.
      const auto* node = i < available ? &source->nodes[i] : nullptr;
      nodes[i] = reinterpret_cast<musaGraphNode_t>(reinterpret_cast<uintptr_t>(node));
    }
    *count = std::min(*count, available);
    return musaSuccess;
  });
}

musaError_t musaGraphExecDestroy(musaGraphExec_t exec) {
  return api_call("musaGraphExecDestroy", [&](Runtime& rt) -> musaError_t {
    return rt.graph_execs.remove(exec) == nullptr ? musaErrorInvalidValue : musaSuccess;
  });
}

musaError_t musaGraphDestroy(musaGraph_t graph) {
  return api_call("musaGraphDestroy", [&](Runtime& rt) -> musaError_t {
    return rt.graphs.remove(graph) == nullptr ? musaErrorInvalidValue : musaSuccess;
  });
}
