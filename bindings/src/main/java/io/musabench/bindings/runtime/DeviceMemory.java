package io.musabench.bindings.runtime;

/**
 * A block of device memory.
 *
 * <p>{@link #close} frees it only after every open stream of its device has drained, the legacy
 * stream included, so a kernel or copy queued before the close never sees freed memory. The runtime
 * knows its open streams; a stream made outside this library is not known and must be drained by
 * its owner. While a capture is running the free is put off until the capture ends. A graph that
 * uses the memory must not be launched after the close.
 */
public final class DeviceMemory extends Resource {
  private final long bytes;

  DeviceMemory(DeviceRuntime runtime, int device, long address, long bytes) {
    super(runtime, device, address);
    this.bytes = bytes;
  }

  /** The block's size. */
  public long bytes() {
    return bytes;
  }

  /** The device address of the first byte. */
  public long address() {
    return handle();
  }

  /** The device address {@code offset} bytes into the block; a range outside it throws. */
  public long address(long offset, long length) {
    if (offset < 0 || length < 0 || offset > bytes - length) {
      throw new IndexOutOfBoundsException(
          "bytes " + offset + " to " + (offset + length) + " of a block of " + bytes);
    }
    return handle() + offset;
  }

  /** Sets every byte, in the stream's order. */
  public void fill(byte value, Stream stream) {
    runtime.check(
        RuntimeNatives.memsetAsync(handle(), value & 0xff, bytes, stream.handle()), "memsetAsync");
  }

  @Override
  void release(long address) {
    runtime.retire(device, () -> RuntimeNatives.free(address), "free");
  }
}
