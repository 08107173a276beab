package io.musabench.jmh.device;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/** Samples one kernel and holds what it writes against the reference before and after. */
final class KernelTimer implements AutoCloseable {
  // Copies stop here; the last one may go beyond.
  private static final long MOST_COPY_BYTES = 2L << 30;

  private static final int COMPARED_COPIES = 4;

  private final DeviceContext context;
  private final List<KernelCase> copies = new ArrayList<>();
  private final LaunchTimer timer;
  private long copyBytes;
  private double firstRunNanos;

  /**
   * @param cold whether every launch must find its operands in no cache
   * @param source makes the n-th copy of the kernel's operands
   */
  KernelTimer(DeviceContext context, boolean cold, IntFunction<Copy> source) {
    this.context = context;
    Copy first = source.apply(0);
    copies.add(first.kernel());
    copyBytes = first.bytes();
    if (cold) {
      long touched = first.kernel().work().bytes();
      timer = LaunchTimer.cold(context, index -> launch(index, source), touched);
    } else {
      timer = LaunchTimer.hot(context, Launch.of(first.kernel().call()));
    }
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

  /** Runs the kernel for the first time and checks what it wrote. */
  Agreement verify() {
    context.synchronize();
    long start = System.nanoTime();
    kernel().call().launch();
    context.synchronize();
    firstRunNanos = System.nanoTime() - start;
    return kernel().verify(context);
  }

  /** One sampling session. */
  LaunchTimer.Sampled run(SessionLimits limits) {
    timer.prepare(limits);
    copies.forEach(KernelCase::poison); // So that verifyAgain sees what timing wrote.
    LaunchTimer.Sampled sampled = timer.run(limits);
    List<Metric> metrics = new ArrayList<>(sampled.metrics());
    metrics.add(new Metric(Measured.FIRST_RUN, "ns/op", new double[] {firstRunNanos}));
    return new LaunchTimer.Sampled(sampled.nanos(), sampled.launches(), metrics);
  }

  /**
   * Checks what timing left behind: that every copy it used was written, and some of them against
   * the reference.
   */
  Agreement verifyAgain() {
    int used = timer.copiesUsed();
    copies.subList(0, used).forEach(KernelCase::requireWritten);
    Agreement all = Agreement.NONE;
    for (int copy : Rows.some(used, COMPARED_COPIES)) {
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
