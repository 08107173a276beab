package io.musabench.bindings.runtime;

/**
 * An executable graph. A launch queues all its nodes as one submission; memory is read when it
 * runs, at the addresses of the capture. Destroyed only after the device's streams have drained.
 */
public final class GraphExec extends Resource {
  private final Graph graph;
  private final long graphHandle;

  GraphExec(DeviceRuntime runtime, int device, long handle, Graph graph, long graphHandle) {
    super(runtime, device, handle);
    this.graph = graph;
    this.graphHandle = graphHandle;
  }

  /** Queues the graph. */
  public void launch(Stream stream) {
    int code = RuntimeNatives.graphLaunch(handle(), stream.handle());
    if (code != 0) {
      throw runtime.error(code, "graphLaunch");
    }
  }

  /** Does ahead of time what the first launch would do. */
  public void upload(Stream stream) {
    runtime.check(RuntimeNatives.graphUpload(handle(), stream.handle()), "graphUpload");
  }

  @Override
  void release(long handle) {
    runtime.retire(
        device,
        () -> {
          int code = RuntimeNatives.graphExecDestroy(handle);
          graph.drop(graphHandle);
          return code;
        },
        "graphExecDestroy");
  }
}
