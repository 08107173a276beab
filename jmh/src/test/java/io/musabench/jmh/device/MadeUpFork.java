package io.musabench.jmh.device;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.ResultRole;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.IterationType;
import org.openjdk.jmh.runner.WorkloadParams;
import org.openjdk.jmh.runner.options.TimeValue;

/** JMH's result of one fork with made-up samples. */
public final class MadeUpFork {
  private static final IterationParams SESSION =
      new IterationParams(IterationType.MEASUREMENT, 1, TimeValue.NONE, 1);

  private MadeUpFork() {}

  /** A fork of so many iterations; one without samples is null. */
  public static RunResult of(double[]... nanos) {
    BenchmarkParams params =
        new BenchmarkParams(
            "io.musabench.jmh.elementwise.RmsNorm.time",
            "generated",
            false,
            1,
            new int[] {1},
            List.of(),
            1,
            0,
            SESSION,
            SESSION,
            Mode.SingleShotTime,
            new WorkloadParams(),
            TimeUnit.NANOSECONDS,
            1,
            "java",
            List.of("-D" + Turns.PORT + "=4711", "-Dmade.up=true"),
            "17",
            "vm",
            "17",
            "1.37",
            TimeValue.days(1));
    List<IterationResult> iterations = new ArrayList<>();
    for (double[] times : nanos) {
      IterationResult iteration = new IterationResult(params, SESSION, null);
      iteration.addResult(new DeviceTime(ResultRole.PRIMARY, "time", new double[] {1}, "ns/op"));
      if (times != null) {
        iteration.addResult(new DeviceSamples(measured(times)));
      }
      iterations.add(iteration);
    }
    return new RunResult(params, List.of(new BenchmarkResult(params, iterations)));
  }

  private static Measured measured(double[] nanos) {
    SessionFacts facts = new SessionFacts("", 0, List.of(), List.of(), List.of());
    List<Metric> host =
        List.of(new Metric(Measured.HOST_TIME, "ns/op", Arrays.copyOf(nanos, nanos.length)));
    return new Measured(
        "rms_norm",
        "t=8 h=1024",
        1,
        Measured.Clock.DEVICE,
        nanos,
        1,
        5,
        6,
        7,
        host,
        List.of(),
        List.of(),
        facts);
  }
}
