package io.musabench.bindings.runtime;

import java.util.ArrayList;
import java.util.List;

/**
 * An in-order queue of device work. Create with {@link DeviceRuntime#createStream}. Closing waits
 * until the queue has drained.
 */
public final class Stream extends Resource {
  private final boolean legacy;
  private final List<Object> callbacks = new ArrayList<>(); // guarded by itself

  Stream(DeviceRuntime runtime, int device, long handle, boolean legacy) {
    super(runtime, device, handle);
    this.legacy = legacy;
  }

  /** True for the legacy (default) stream, whose handle is 0 and which cannot be captured. */
  public boolean isLegacy() {
    return legacy;
  }

  /** Waits until all work queued so far is done. An error of that work is thrown here. */
  public void synchronize() {
    int code = RuntimeNatives.streamSynchronize(handle());
    if (code != 0) {
      throw runtime.error(code, "streamSynchronize");
    }
  }

  /** True if all work queued so far is done. An error of that work is thrown here. */
  public boolean isIdle() {
    int code = RuntimeNatives.streamQuery(handle());
    if (code == ErrorCode.NOT_READY.code()) {
      return false;
    }
    runtime.check(code, "streamQuery");
    return true;
  }

  /** Makes work queued from now on wait for the event's last record. */
  public void waitFor(Event event) {
    int code = RuntimeNatives.streamWaitEvent(handle(), event.handle(), 0);
    if (code != 0) {
      throw runtime.error(code, "streamWaitEvent");
    }
  }

  /**
   * Queues Java code. It runs on a thread of the runtime, must not call the runtime, and must not
   * throw. Not for timed paths: the call back into Java costs microseconds.
   *
   * <p>It stays reachable until the stream is closed; captured, or on the legacy stream, for the
   * life of the JVM.
   */
  public void hostFunction(Runnable function) {
    runtime.enqueueHostFunction(this, function);
  }

  /** True while this stream is being captured. */
  public boolean isCapturing() {
    return runtime.captureStatus(this) == 1;
  }

  /** Keeps a callback reachable until the stream has drained for the last time. */
  void keep(Object callback) {
    synchronized (callbacks) {
      callbacks.add(callback);
    }
  }

  @Override
  void release(long handle) {
    if (legacy) {
      return;
    }
    int drained = RuntimeNatives.streamSynchronize(handle);
    int destroyed = RuntimeNatives.streamDestroy(handle);
    synchronized (callbacks) {
      callbacks.clear(); // not before: the queue's last callback may have been running until here
    }
    runtime.check(drained, "streamSynchronize");
    runtime.check(destroyed, "streamDestroy");
  }
}
