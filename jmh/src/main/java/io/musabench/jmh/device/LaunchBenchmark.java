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
   * Times something on the host.
   *
   * @param operations operations of one action
   * @param kernels kernels in one operation
   */
  protected final void publishHost(Runnable action, int operations, int kernels, String note) {
    SessionLimits.Samples taken =
        limits()
            .take(hostTimes(action, 1, 1)[0], samples -> hostTimes(action, samples, operations));
    publish(Measured.Clock.HOST, taken.nanos(), 1, kernels, taken.metrics(), note, taken.facts());
  }

  private double[] hostTimes(Runnable action, int samples, int operations) {
    double[] nanos = new double[samples];
    for (int i = 0; i < samples; i++) {
      long start = System.nanoTime();
      action.run();
      nanos[i] = (double) (System.nanoTime() - start) / operations;
    }
    context().synchronize();
    return nanos;
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
