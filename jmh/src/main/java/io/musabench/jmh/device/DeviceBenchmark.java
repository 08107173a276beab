package io.musabench.jmh.device;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A benchmark on the device. JMH makes one in each fork and calls everything on one thread, which
 * is what device runtimes want.
 *
 * <p>The mode is single shot: one iteration is one sampling session, and the benchmark decides how
 * many samples that takes. A session hands what it found to {@link #publish}.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 0)
@Measurement(iterations = 3)
public abstract class DeviceBenchmark {
  private DeviceContext context;

  /** Opens the device and prepares the benchmark. */
  @Setup(Level.Trial)
  public final void open() {
    ParentWatch.start();
    validate();
    context = DeviceContext.open();
    try {
      prepare();
    } catch (UnsatisfiedLinkError missing) {
      // Of a library of kernels that has others: only this case cannot be measured.
      throw new UnavailableException(missing.getMessage());
    }
  }

  /** Waits for this fork's turn before each session, where it has a partner. */
  @Setup(Level.Iteration)
  public final void takeTurn() {
    Turns.get().next();
  }

  /** Lets the benchmark check what it left behind, and closes the device. */
  @TearDown(Level.Trial)
  public final void close() {
    try {
      finish();
    } finally {
      context.close();
    }
  }

  /**
   * Refuses parameter values that no session can be run with. Needs no device: the runner calls it
   * for every case before the first fork starts.
   *
   * @throws ParameterException when a value, or two together, are refused
   */
  public void validate() {}

  /** Makes what the sessions need. The device is open. */
  protected abstract void prepare();

  /** Called after the last session; throws when the results have gone wrong meanwhile. */
  protected void finish() {}

  /** The device. */
  protected final DeviceContext context() {
    return context;
  }

  /** How many samples the runner wants a session to take. */
  protected final SessionLimits limits() {
    return SessionLimits.fromProperties();
  }

  /** Hands over what a session found. */
  protected final void publish(Measured measured) {
    SampleSink.put(measured);
  }
}
