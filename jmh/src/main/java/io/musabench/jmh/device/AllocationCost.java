package io.musabench.jmh.device;

import io.musabench.bindings.ffi.PooledAllocator;
import java.util.List;

/**
 * What a kernel that allocates in every launch pays for it. Kernels of mate return tensors that
 * they make anew in each launch; here these come from a pool, so that a launch makes no device
 * allocation, and the price is host time.
 *
 * @param tensors tensors made in one launch
 * @param bytes their bytes together, rounded up to the pool's sizes
 */
record AllocationCost(long tensors, long bytes) {
  /** Metric: tensors that a launch makes. */
  static final String TENSORS = "alloc.tensors";

  /** Metric: bytes of them. */
  static final String BYTES = "alloc.bytes";

  /**
   * Metric: host time to make and release as many tensors of that size from the warm pool, without
   * the kernel; part of {@code host.submit}.
   */
  static final String TIME = "alloc.time";

  /**
   * Metric: device allocations during the timed session, which would wait for the device; 0 with a
   * warm pool.
   */
  static final String MISSES = "alloc.misses";

  private static final int ROUNDS = 200;
  private static final int MOST_TENSORS = 64;

  /** Runs one launch of a kernel that has been launched before, and counts. */
  static AllocationCost of(PooledAllocator pool, Runnable launch) {
    PooledAllocator.Stats before = pool.stats();
    launch.run();
    PooledAllocator.Stats after = pool.stats();
    return new AllocationCost(
        after.allocations() - before.allocations(), after.peakLiveBytes() - before.liveBytes());
  }

  /**
   * The metrics; empty for a kernel that makes no tensors.
   *
   * @param before the pool's counts before the session
   */
  List<Metric> metrics(PooledAllocator pool, PooledAllocator.Stats before) {
    if (tensors == 0) {
      return List.of();
    }
    PooledAllocator.Stats after = pool.stats();
    long misses = after.allocations() - after.hits() - (before.allocations() - before.hits());
    int measured = (int) Math.min(tensors, MOST_TENSORS);
    return List.of(
        new Metric(TENSORS, "tensors/op", new double[] {tensors}),
        new Metric(BYTES, "B/op", new double[] {bytes}),
        new Metric(TIME, "ns/op", pool.measureNanos(measured, bytes / tensors, ROUNDS)),
        new Metric(MISSES, "allocations", new double[] {misses}));
  }
}
