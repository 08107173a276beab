package io.musabench.jmh.device;

import io.musabench.results.run.Params;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.annotations.Param;

/**
 * A benchmark of one kernel: makes copies of its operands, checks it, samples it, checks it again.
 *
 * <p>A subclass declares its parameters, says how to build the kernel, and has one {@code
 * Benchmark} method that calls {@link #sample}.
 */
public abstract class KernelBenchmark extends DeviceBenchmark {
  /** Type of activations and weights: {@code bf16} or {@code fp16}. */
  @Param("bf16")
  public String dtype;

  /** {@code cold}, {@code hot}, {@code batch} or {@code step}, see {@link LaunchTimer}. */
  @Param("cold")
  public String cache;

  /** Seed of the inputs. */
  @Param("1")
  public long seed;

  private Inputs.Activations activations; // null: each copy has its own
  private KernelTimer timer;
  private Agreement before;

  /**
   * Makes one copy of the workload. Called several times; every copy has its own operands, but for
   * activations and outputs where copies share them.
   */
  protected abstract KernelCase build(Inputs inputs);

  @Override
  protected final void prepare() {
    activations = cache.equals(Params.AS_IN_STEP) ? new Inputs.Activations() : null;
    timer = new KernelTimer(context(), cache, this::copy);
    before = timer.verify();
  }

  private KernelTimer.Copy copy(int index) {
    Inputs inputs = new Inputs(context(), DTypes.parse(dtype), seed + index, activations);
    KernelCase kernel = build(inputs);
    return new KernelTimer.Copy(kernel, inputs.bytes(), inputs.ownBytes());
  }

  /**
   * Runs the kernel once and checks its results; nothing is timed.
   *
   * @throws WrongResultException when a result is wrong
   */
  public final Agreement check(DeviceContext device) {
    return build(new Inputs(device, DTypes.parse(dtype), seed)).verify(device);
  }

  /** One sampling session. */
  protected final void sample() {
    KernelCase kernel = timer.kernel();
    LaunchTimer.Sampled sampled = timer.run(limits());
    List<Metric> metrics = new ArrayList<>(sampled.metrics());
    metrics.addAll(before.metrics());
    publish(
        new Measured(
            kernel.kernel(),
            kernel.shape(),
            1,
            Measured.Clock.DEVICE,
            sampled.nanos(),
            sampled.launches(),
            kernel.work().flops(),
            kernel.work().bytes(),
            seed,
            metrics,
            List.of(),
            kernel.notes(),
            sampled.facts()));
  }

  @Override
  protected final void finish() {
    timer.verifyAgain();
    timer.close();
  }
}
