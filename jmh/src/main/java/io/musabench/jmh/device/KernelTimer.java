package io.musabench.jmh.device;

import io.musabench.bindings.ffi.PooledAllocator;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.results.run.Params;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;

/**
 * Samples one kernel and holds what it writes against the reference before and after.
 *
 * <p>Between the two, the outputs that each session leaves behind are compared, bit for bit, with
 * those of an untimed run on the same operands. So every launch is checked that no later launch of
 * its session overwrote: the last one on each copy of the operands, or, where copies share their
 * outputs, the last of all. A kernel whose results are not the same bits every time is held against
 * the reference there too, on some rows.
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
   *     last one left them; {@code batch}: as hot, in one long row; {@code step}: as a step runs it
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
          case Params.AS_IN_STEP ->
              LaunchTimer.step(
                  context,
                  index -> launch(index, source),
                  Math.min(first.ownBytes(), first.kernel().work().bytes()));
          default -> throw new IllegalArgumentException("cache must be cold, hot, batch or step");
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
    LaunchTimer.Sampled sampled = timer.run(limits, () -> check(timer.lastLaunched()));
    List<Metric> metrics = new ArrayList<>(sampled.metrics());
    metrics.addAll(allocation.metrics(context.pool(), before));
    check(List.of(0)); // The host's time was taken on the first copy.
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

  private void check(List<Integer> lastFirst) {
    List<Integer> intact = intact(lastFirst);
    if (!repeatable) {
      intact.forEach(i -> copies.get(i).requireWritten());
      inspect(intact);
      return;
    }
    for (int i : intact) {
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
    List<Integer> lastFirst = new ArrayList<>(List.of(0)); // The host's time was taken after all.
    timer.lastLaunched().stream().filter(i -> i != 0).forEach(lastFirst::add);
    return inspect(intact(lastFirst));
  }

  /** The copies of which no later launch overwrote an output. */
  private List<Integer> intact(List<Integer> lastFirst) {
    Set<Tensor> overwritten = Collections.newSetFromMap(new IdentityHashMap<>());
    List<Integer> intact = new ArrayList<>();
    for (int i : lastFirst) {
      List<Tensor> outputs = copies.get(i).outputs();
      if (outputs.stream().noneMatch(overwritten::contains)) {
        intact.add(i);
      }
      overwritten.addAll(outputs);
    }
    return intact;
  }

  private Agreement inspect(List<Integer> some) {
    Agreement all = Agreement.NONE;
    for (int at : Rows.some(some.size(), COMPARED_COPIES)) {
      all = all.and(copies.get(some.get(at)).inspect());
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
   * @param ownBytes of these, what no other copy has
   */
  record Copy(KernelCase kernel, long bytes, long ownBytes) {}
}
