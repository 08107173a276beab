package io.musabench.bindings.runtime;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A native handle with one owner. Closing twice does nothing; any use after closing throws {@link
 * IllegalStateException}. What is still open when the runtime's owner closes is closed with it.
 */
abstract class Resource implements AutoCloseable {
  final DeviceRuntime runtime;
  final int device;
  private final long handle;
  private final AtomicBoolean closed = new AtomicBoolean();

  Resource(DeviceRuntime runtime, int device, long handle) {
    this.runtime = runtime;
    this.device = device;
    this.handle = handle;
  }

  /** The native handle or address; throws {@link IllegalStateException} once closed. */
  public final long handle() {
    if (closed.get()) {
      throw new IllegalStateException(getClass().getSimpleName() + " is closed");
    }
    return handle;
  }

  /** Throws {@link IllegalStateException} if this is closed. */
  public final void requireOpen() {
    handle();
  }

  /** The number of the device that was current when this was created. */
  public final int deviceIndex() {
    return device;
  }

  /** True once {@link #close} was called. */
  public final boolean isClosed() {
    return closed.get();
  }

  @Override
  public final void close() {
    if (closed.compareAndSet(false, true)) {
      runtime.forget(this);
      release(handle);
    }
  }

  /** Gives the handle back to the runtime. Called once. */
  abstract void release(long handle);
}
