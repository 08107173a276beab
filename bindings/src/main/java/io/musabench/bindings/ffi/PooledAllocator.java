package io.musabench.bindings.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import io.musabench.bindings.runtime.DeviceRuntime;

/**
 * A pool of device memory for kernels that allocate their own scratch or results. A warm call costs
 * no {@code malloc}, which would wait for the device and is forbidden during a capture; blocks stay
 * valid until the pool is closed, so a captured graph finds its scratch at replay. Blocks that a
 * capture was given are never handed to calls outside of captures; graphs captured from one stream
 * share them and must not run at once. Make each call once before it is captured.
 *
 * <p>{@link #use} makes it the calling thread's pool. Close it after the graphs that use its
 * blocks, on the thread that uses it; closing waits for the device's streams.
 */
public final class PooledAllocator implements AutoCloseable {
  private static final int IN_USE = -1002;

  private final Ffi ffi;
  private final int device;
  private final long pool;
  private final long allocate;
  private boolean closed;

  /**
   * What the pool has done so far.
   *
   * @param allocations tensors handed out
   * @param hits those of them that needed no device allocation
   * @param liveTensors handed out and not yet released
   * @param reservedBytes device memory held, free blocks included
   * @param liveBytes the part of it that tensors hold
   * @param peakLiveBytes the greatest {@code liveBytes} so far
   */
  public record Stats(
      long allocations,
      long hits,
      long liveTensors,
      long reservedBytes,
      long liveBytes,
      long peakLiveBytes) {}

  private PooledAllocator(Ffi ffi, int device, long pool, long allocate) {
    this.ffi = ffi;
    this.device = device;
    this.pool = pool;
    this.allocate = allocate;
  }

  /** Creates an empty pool for the current device. */
  static PooledAllocator create(Ffi ffi) {
    long allocate = ffi.support().require("mb_pool_allocate");
    DeviceRuntime runtime = ffi.runtime();
    try (Memory out = new Memory(8)) {
      int code =
          SupportNatives.poolCreate(
              runtime.functionAddress("malloc"),
              runtime.functionAddress("free"),
              runtime.functionAddress("streamIsCapturing"),
              Pointer.nativeValue(out));
      if (code != 0) {
        throw new IllegalStateException("mb_pool_create returned " + code);
      }
      return new PooledAllocator(ffi, runtime.currentDeviceIndex(), out.getLong(0), allocate);
    }
  }

  /** Makes this the pool of kernels launched from the calling thread. */
  public void use() {
    requireOpen();
    SupportNatives.poolUse(pool, 0);
    int code = FfiNatives.envSetDLPackManagedTensorAllocator(allocate, 0, 0);
    if (code != 0) {
      throw ffi.raised(code, "TVMFFIEnvSetDLPackManagedTensorAllocator");
    }
  }

  /** What the pool has done so far. */
  public Stats stats() {
    requireOpen();
    try (Memory out = new Memory(48)) {
      int code = SupportNatives.poolGetStats(pool, Pointer.nativeValue(out));
      if (code != 0) {
        throw new IllegalStateException("mb_pool_get_stats returned " + code);
      }
      return new Stats(
          out.getLong(0),
          out.getLong(8),
          out.getLong(16),
          out.getLong(24),
          out.getLong(32),
          out.getLong(40));
    }
  }

  /**
   * What the tensors that a kernel makes in every launch cost the host: nanoseconds to make so many
   * through TVM-FFI's environment and to release them, without the kernel. For the pool in use in
   * the calling thread; leaves its free blocks behind.
   *
   * @param tensors 1 to 64, all alive at once
   * @param bytes size of each, at least 4
   * @param rounds how often
   * @return one value a round
   */
  public double[] measureNanos(int tensors, long bytes, int rounds) {
    requireOpen();
    long elements = Math.max(1, bytes / Float.BYTES);
    try (Memory prototype =
            Tensor.describe(ffi, device, DType.F32, 0, new long[] {elements}, new long[] {1});
        Memory nanos = new Memory(8L * rounds)) {
      int code =
          SupportNatives.allocationsMeasure(
              Pointer.nativeValue(prototype), tensors, rounds, Pointer.nativeValue(nanos));
      if (code != 0) {
        throw ffi.raised(code, "TVMFFIEnvTensorAlloc");
      }
      double[] values = new double[rounds];
      for (int i = 0; i < rounds; i++) {
        values[i] = nanos.getLong(8L * i);
      }
      return values;
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("PooledAllocator is closed");
    }
  }

  /**
   * Frees all blocks. The thread's allocator is then none.
   *
   * @throws IllegalStateException if tensors of the pool are still alive, or it is the pool of
   *     another thread; it is then still open
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    ffi.runtime().drain(device);
    // Out of use in this thread, if it was: a pool in use is not destroyed.
    try (Memory previous = new Memory(8)) {
      SupportNatives.poolUse(0, Pointer.nativeValue(previous));
      if (previous.getLong(0) == pool) {
        FfiNatives.envSetDLPackManagedTensorAllocator(0, 0, 0);
      } else {
        SupportNatives.poolUse(previous.getLong(0), 0);
      }
    }
    int code = SupportNatives.poolDestroy(pool);
    if (code == IN_USE) {
      throw new IllegalStateException(
          "the pool's tensors are still alive, or it is in use by another thread");
    }
    closed = true;
    ffi.forget(this);
    if (code != 0) {
      throw ffi.runtime().error(code, "free");
    }
  }
}
