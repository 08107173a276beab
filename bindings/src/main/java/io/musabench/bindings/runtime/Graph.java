package io.musabench.bindings.runtime;

import com.sun.jna.Pointer;

/**
 * Captured work. MUSA needs the graph for as long as an executable made from it is in use, so a
 * graph closed earlier is destroyed only with its last {@link GraphExec}.
 */
public final class Graph extends Resource {
  private int users = 1; // this object, and one for each open executable

  Graph(DeviceRuntime runtime, int device, long handle) {
    super(runtime, device, handle);
  }

  /** The number of nodes. */
  public long nodeCount() {
    Pointer count = runtime.scratch();
    count.setLong(0, 0);
    runtime.check(
        RuntimeNatives.graphGetNodes(handle(), 0, Pointer.nativeValue(count)), "graphGetNodes");
    return count.getLong(0);
  }

  /** Makes the graph executable. The result is the caller's to close. */
  public GraphExec instantiate() {
    Pointer exec = runtime.scratch();
    runtime.check(
        RuntimeNatives.graphInstantiate(Pointer.nativeValue(exec), handle(), 0, 0, 0),
        "graphInstantiate");
    synchronized (this) {
      users++;
    }
    return runtime.track(new GraphExec(runtime, device, exec.getLong(0), this, nativeHandle()));
  }

  private long nativeHandle() {
    return handle();
  }

  /** Drops one user; the last destroys the graph. */
  void drop(long handle) {
    boolean last;
    synchronized (this) {
      last = --users == 0;
    }
    if (last) {
      runtime.check(RuntimeNatives.graphDestroy(handle), "graphDestroy");
    }
  }

  @Override
  void release(long handle) {
    drop(handle);
  }
}
