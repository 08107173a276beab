package io.musabench.bindings.runtime;

import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A block of page-locked host memory, which asynchronous copies need. Freed as {@link DeviceMemory}
 * is: after the device's streams have drained.
 */
public final class HostMemory extends Resource {
  private final long bytes;

  HostMemory(DeviceRuntime runtime, int device, long address, long bytes) {
    super(runtime, device, address);
    this.bytes = bytes;
  }

  /** The block's size. */
  public long bytes() {
    return bytes;
  }

  /** The block as JNA memory. Must not be used after the close. */
  public Pointer pointer() {
    return new Pointer(handle());
  }

  /**
   * The block as a buffer in native byte order; at most 2 GiB. Must not be used after the close.
   */
  public ByteBuffer buffer() {
    return pointer().getByteBuffer(0, bytes).order(ByteOrder.nativeOrder());
  }

  @Override
  void release(long address) {
    runtime.retire(device, () -> RuntimeNatives.freeHost(address), "freeHost");
  }
}
