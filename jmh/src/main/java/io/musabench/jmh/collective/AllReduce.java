package io.musabench.jmh.collective;

import io.musabench.jmh.device.Agreement;
import io.musabench.jmh.device.CollectiveTimer;
import io.musabench.jmh.device.DTypes;
import io.musabench.jmh.device.DeviceBenchmark;
import io.musabench.jmh.device.Measured;
import io.musabench.jmh.device.Metric;
import io.musabench.jmh.device.ParameterException;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Models;
import io.musabench.results.model.Work;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/**
 * The sum of one layer's output over tensor-parallel ranks, each on a device of this process, by
 * MCCL or NCCL.
 *
 * <p>The rate is the bus bandwidth of nccl-tests, {@code 2 (p - 1) / p} times the bytes of the
 * tensor over the time: what each of p ranks has to send, so that figures of different p compare
 * with the link.
 */
public class AllReduce extends DeviceBenchmark {
  private static final int ELEMENT_BYTES = 2;

  @Param("Qwen3-0.6B")
  public String model;

  @Param("8")
  public int tokens;

  @Param("2")
  public int ranks;

  @Param({"eager", "graph"})
  public String mode;

  @Param("bf16")
  public String dtype;

  @Param("1")
  public long seed;

  private CollectiveTimer timer;
  private Agreement before;

  @Benchmark
  public void time() {
    KernelCall.AllReduce call = call();
    CollectiveTimer.Sampled sampled = timer.run(limits());
    timer.inspect();
    List<Metric> metrics = new ArrayList<>(sampled.metrics());
    metrics.addAll(before.metrics());
    metrics.add(new Metric(Agreement.SAME_BITS, "yes", new double[] {timer.repeatable() ? 1 : 0}));
    Work work = call.work(ELEMENT_BYTES);
    publish(
        new Measured(
            call.kernel(),
            call.shape(),
            1,
            Measured.Clock.DEVICE,
            sampled.nanos(),
            sampled.launches(),
            work.flops(),
            work.bytes(),
            seed,
            metrics,
            List.of(),
            List.of(timer.note()),
            sampled.facts()));
  }

  private KernelCall.AllReduce call() {
    long hidden = ParameterException.derive("model", model, () -> Models.find(model).hiddenSize());
    KernelCall.AllReduce call =
        ParameterException.derive(
            "ranks", ranks, () -> new KernelCall.AllReduce(hidden * tokens, ranks));
    if (call.elements() > Integer.MAX_VALUE) {
      throw new ParameterException("tokens", tokens, "fewer than 2^31 elements are allowed");
    }
    return call;
  }

  @Override
  public void validate() {
    call();
  }

  @Override
  protected void prepare() {
    timer =
        new CollectiveTimer(
            context(),
            ranks,
            (int) call().elements(),
            DTypes.parse(dtype),
            seed,
            mode.equals("graph"));
    before = timer.verify();
  }

  @Override
  protected void finish() {
    if (timer != null) {
      timer.inspect();
      timer.close();
    }
  }
}
