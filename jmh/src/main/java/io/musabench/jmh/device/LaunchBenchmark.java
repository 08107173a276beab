package io.musabench.jmh.device;

import io.musabench.bindings.ffi.CallList;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.runtime.Graph;
import java.util.Collections;
import java.util.List;

/**
 * A benchmark of launching itself, with a kernel that does nothing.
 *
 * <p>There is nothing to check but that the runtime reports no error.
 */
public abstract class LaunchBenchmark extends DeviceBenchmark {
  private PreparedCall empty;
  private LaunchTimer timer;

  @Override
  protected void prepare() {
    empty = context().kernels().empty();
    empty.launch();
    context().synchronize();
  }

  /** The kernel that does nothing. */
  protected final PreparedCall empty() {
    return empty;
  }

  /** A graph of {@code nodes} kernels that do nothing. The caller closes it. */
  protected final Graph capture(int nodes) {
    CallList calls = new CallList(Collections.nCopies(nodes, empty));
    return context().target().runtime().capture(context().stream(), calls::launch);
  }

  /**
   * Times something on the host, as often as a session allows.
   *
   * @return nanoseconds, one value a repetition
   */
  protected final double[] hostTimes(Runnable action) {
    long begin = System.nanoTime();
    action.run();
    double[] nanos = new double[limits().samples(System.nanoTime() - begin)];
    for (int i = 0; i < nanos.length; i++) {
      long start = System.nanoTime();
      action.run();
      nanos[i] = System.nanoTime() - start;
    }
    context().synchronize();
    return nanos;
  }

  /** Samples a launch on the device; nothing is cold, since nothing is read. */
  protected final void publishDevice(Launch launch, int kernels, String note) {
    LaunchTimer.Sampled sampled = timer(launch).run(limits(), () -> {});
    publish(
        Measured.Clock.DEVICE,
        sampled.nanos(),
        sampled.launches(),
        kernels,
        sampled.metrics(),
        note,
        sampled.facts());
  }

  private LaunchTimer timer(Launch launch) {
    if (timer == null) {
      timer = LaunchTimer.hot(context(), launch);
    }
    return timer;
  }

  /**
   * Hands over host times.
   *
   * @param nanos time of one operation, one value a sample
   * @param kernels kernels in one operation
   */
  protected final void publishHost(double[] nanos, int kernels, String note) {
    publish(Measured.Clock.HOST, nanos, 1, kernels, List.of(), note, SessionFacts.NONE);
  }

  private void publish(
      Measured.Clock clock,
      double[] nanos,
      int launches,
      int kernels,
      List<Metric> metrics,
      String note,
      SessionFacts facts) {
    publish(
        new Measured(
            "",
            "",
            kernels,
            clock,
            nanos,
            launches,
            0,
            0,
            0,
            metrics,
            List.of(),
            List.of(note),
            facts));
  }

  @Override
  protected final void finish() {
    if (timer != null) {
      timer.close();
    }
  }
}
