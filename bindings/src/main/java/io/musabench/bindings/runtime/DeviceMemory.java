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
public final class DeviceMemory extends MemoryBlock {
  DeviceMemory(DeviceRuntime runtime, int device, long address, long bytes) {
    super(runtime, device, address, bytes);
  }

  /** Sets every byte, in the stream's order. */
  public void fill(byte value, Stream stream) {
    runtime.check(
        RuntimeNatives.memsetAsync(handle(), value & 0xff, bytes(), stream.handle()),
        "memsetAsync");
  }

  @Override
  void release(long address) {
    runtime.retire(device, () -> RuntimeNatives.free(address), "free");
  }
}
