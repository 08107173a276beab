package io.musabench.jmh.device;

import io.musabench.bindings.ffi.PooledAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/**
 * Samples one kernel and holds what it writes against the reference before and after.
 *
 * <p>Between the two, the outputs that each session leaves behind are compared, bit for bit, with
 * those of an untimed run on the same operands. So every launch is checked that no later launch of
 * its session overwrote: the last one on each copy of the operands. A kernel whose results are not
 * the same bits every time is held against the reference there too, on some rows.
 */
final class KernelTimer implements AutoCloseable {
  // Copies stop here; the last one may go beyond.
  private static final long MOST_COPY_BYTES = 2L << 30;

  // The first and the last; of the others, bits are compared.
  private static final int COMPARED_COPIES = 2;

  private final DeviceContext context;
  private final List<KernelCase> copies = new ArrayList<>();
  private final LaunchTimer timer;
  private long copyBytes;
  private double firstRunNanos;
  private boolean repeatable;
  private AllocationCost allocation;
  private final List<Long> expected = new ArrayList<>(); // checksums of the copies in use

  /**
   * @param cache {@code cold}: every launch finds its operands in no cache; {@code hot}: where the
   *     last one left them; {@code batch}: as hot, in one long row
   * @param source makes the n-th copy of the kernel's operands
   */
  KernelTimer(DeviceContext context, String cache, IntFunction<Copy> source) {
    this.context = context;
    Copy first = source.apply(0);
    copies.add(first.kernel());
    copyBytes = first.bytes();
    Launch launch = Launch.of(first.kernel().call());
    timer =
        switch (cache) {
          case "cold" ->
              LaunchTimer.cold(
                  context, index -> launch(index, source), first.kernel().work().bytes());
          case "hot" -> LaunchTimer.hot(context, launch);
          case "batch" -> LaunchTimer.batch(context, launch);
          default -> throw new IllegalArgumentException("cache must be cold, hot or batch");
        };
  }

  private Optional<Launch> launch(int index, IntFunction<Copy> source) {
    if (index == copies.size()) {
      if (copyBytes > MOST_COPY_BYTES) {
        return Optional.empty();
      }
      Copy next = source.apply(index);
      copies.add(next.kernel());
      copyBytes += next.bytes();
    }
    return Optional.of(Launch.of(copies.get(index).call()));
  }

  /** The kernel, on its first copy. */
  KernelCase kernel() {
    return copies.get(0);
  }

  /** Runs the kernel for the first time and checks what it wrote, and whether it does so again. */
  Agreement verify() {
    context.synchronize();
    long start = System.nanoTime();
    kernel().call().launch();
    context.synchronize();
    firstRunNanos = System.nanoTime() - start;
    Agreement agreement = kernel().verify(context);
    long once = kernel().checksum();
    allocation = AllocationCost.of(context.pool(), () -> kernel().call().launch());
    context.synchronize();
    runUntimed(kernel());
    repeatable = kernel().checksum() == once;
    return repeatable ? agreement : agreement.and(kernel().inspect());
  }

  /** One sampling session. */
  LaunchTimer.Sampled run(SessionLimits limits) {
    timer.prepare(limits);
    if (expected.isEmpty()) {
      for (KernelCase copy : used()) {
        runUntimed(copy);
        expected.add(copy.checksum());
      }
    }
    // So that what an earlier run wrote is not taken for this session's.
    copies.forEach(KernelCase::poison);
    PooledAllocator.Stats before = context.pool().stats();
    LaunchTimer.Sampled sampled = timer.run(limits, () -> checkFirst(used().size()));
    List<Metric> metrics = new ArrayList<>(sampled.metrics());
    metrics.addAll(allocation.metrics(context.pool(), before));
    checkFirst(1); // The host's time was taken on the first copy.
    metrics.add(new Metric(Measured.FIRST_RUN, "ns/op", new double[] {firstRunNanos}));
    metrics.add(new Metric(Agreement.SAME_BITS, "yes", new double[] {repeatable ? 1 : 0}));
    return new LaunchTimer.Sampled(sampled.nanos(), sampled.launches(), metrics, sampled.facts());
  }

  private void runUntimed(KernelCase copy) {
    copy.poison();
    copy.call().launch();
    context.synchronize();
    copy.requireWritten();
  }

  private List<KernelCase> used() {
    return copies.subList(0, timer.copiesUsed());
  }

  private void checkFirst(int count) {
    if (!repeatable) {
      copies.subList(0, count).forEach(KernelCase::requireWritten);
      inspect(count);
      return;
    }
    for (int i = 0; i < count; i++) {
      KernelCase copy = copies.get(i);
      if (copy.checksum() != expected.get(i)) {
        copy.inspect(); // May say more.
        throw new WrongResultException(
            "%s: a timed run on copy %d of the operands did not write what an untimed one did"
                .formatted(copy.call().name(), i));
      }
    }
  }

  /** Holds some copies of what timing left behind against the reference. */
  Agreement verifyAgain() {
    return inspect(used().size());
  }

  private Agreement inspect(int count) {
    Agreement all = Agreement.NONE;
    for (int copy : Rows.some(count, COMPARED_COPIES)) {
      all = all.and(copies.get(copy).inspect());
    }
    return all;
  }

  @Override
  public void close() {
    timer.close();
  }

  /**
   * A kernel on its own operands.
   *
   * @param bytes bytes of the operands that were made for it
   */
  record Copy(KernelCase kernel, long bytes) {}
}
