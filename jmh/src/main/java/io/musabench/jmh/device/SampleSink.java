package io.musabench.jmh.device;

/**
 * Where a benchmark puts what it measured, for {@link SampleProfiler} to collect.
 *
 * <p>Static because JMH gives a profiler no way to reach the benchmark's state. One fork runs one
 * benchmark on one thread, so there is never more than one value.
 */
public final class SampleSink {
  private static Measured measurement;

  private SampleSink() {}

  /** Publishes the measurement of the running iteration. */
  public static synchronized void put(Measured value) {
    measurement = value;
  }

  /** Takes the measurement out; null when the iteration published none. */
  static synchronized Measured take() {
    Measured value = measurement;
    measurement = null;
    return value;
  }
}
