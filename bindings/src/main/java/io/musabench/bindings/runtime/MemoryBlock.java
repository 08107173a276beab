package io.musabench.bindings.runtime;

/** Memory that kernels can reach: on the device, or page-locked on the host. */
public abstract sealed class MemoryBlock extends Resource permits DeviceMemory, HostMemory {
  private final long bytes;

  MemoryBlock(DeviceRuntime runtime, int device, long address, long bytes) {
    super(runtime, device, address);
    this.bytes = bytes;
  }

  /** The block's size. */
  public final long bytes() {
    return bytes;
  }

  /** The address of the first byte. */
  public final long address() {
    return handle();
  }

  /** The address {@code offset} bytes into the block; a range outside it throws. */
  public final long address(long offset, long length) {
    if (offset < 0 || length < 0 || offset > bytes - length) {
      throw new IndexOutOfBoundsException(
          "bytes " + offset + " to " + (offset + length) + " of a block of " + bytes);
    }
    return handle() + offset;
  }
}
