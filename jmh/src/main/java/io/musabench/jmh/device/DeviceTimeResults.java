package io.musabench.jmh.device;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ResultRole;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.WorkloadParams;

/**
 * Makes device time the primary score of a JMH result.
 *
 * <p>JMH has no clock to replace: it always scores host time. Its result classes are public, so the
 * result is built again with the device samples first. The mode stays "ss" (single shot): one
 * iteration is one sampling session.
 */
public final class DeviceTimeResults {
  /** Label of the iteration's wall time, which JMH itself would have made the score. */
  static final String SESSION_TIME = "host.session";

  private DeviceTimeResults() {}

  /**
   * One result out of a case's forks, device time first, in the order of the forks.
   *
   * @param forks results of JMH runs of one fork each, all of the same case
   * @throws IllegalStateException when an iteration came back without device samples
   */
  public static RunResult rebuild(List<RunResult> forks) {
    BenchmarkParams params = withForks(forks.get(0).getParams(), forks.size());
    List<BenchmarkResult> benchmarks = new ArrayList<>();
    for (RunResult fork : forks) {
      for (BenchmarkResult benchmark : fork.getBenchmarkResults()) {
        List<IterationResult> iterations = new ArrayList<>();
        for (IterationResult iteration : benchmark.getIterationResults()) {
          iterations.add(rebuild(iteration));
        }
        benchmarks.add(new BenchmarkResult(params, iterations, benchmark.getMetadata()));
      }
    }
    return new RunResult(params, benchmarks);
  }

  /** The measurements of each fork's iterations: outer list forks, inner list iterations. */
  public static List<List<Measured>> measured(List<RunResult> forks) {
    List<List<Measured>> all = new ArrayList<>();
    for (RunResult fork : forks) {
      for (BenchmarkResult benchmark : fork.getBenchmarkResults()) {
        all.add(
            benchmark.getIterationResults().stream().map(DeviceTimeResults::measuredOf).toList());
      }
    }
    return all;
  }

  private static IterationResult rebuild(IterationResult iteration) {
    Measured measurement = measuredOf(iteration);
    IterationResult result =
        new IterationResult(
            iteration.getBenchmarkParams(), iteration.getParams(), iteration.getMetadata());
    String benchmark = iteration.getBenchmarkParams().getBenchmark();
    String label = benchmark.substring(benchmark.lastIndexOf('.') + 1);
    result.addResult(new DeviceTime(ResultRole.PRIMARY, label, measurement.nanos(), "ns/op"));
    for (Metric metric : measurement.metrics()) {
      result.addResult(
          new DeviceTime(ResultRole.SECONDARY, metric.name(), metric.values(), metric.unit()));
    }
    for (StepPart part : measurement.parts()) {
      result.addResult(
          new DeviceTime(ResultRole.SECONDARY, "part." + part.role(), part.nanos(), "ns/op"));
    }
    Result<?> session = iteration.getPrimaryResult();
    result.addResult(
        new DeviceTime(
            ResultRole.SECONDARY,
            SESSION_TIME,
            new double[] {session.getScore()},
            session.getScoreUnit()));
    for (String key : iteration.getRawSecondaryResults().keys()) {
      if (!key.equals(DeviceSamples.LABEL)) {
        typed(iteration.getRawSecondaryResults().get(key)).forEach(result::addResult);
      }
    }
    return result;
  }

  private static Measured measuredOf(IterationResult iteration) {
    for (Result<?> result : typed(iteration.getRawSecondaryResults().get(DeviceSamples.LABEL))) {
      if (result instanceof DeviceSamples samples) {
        return samples.measurement();
      }
    }
    throw new IllegalStateException("an iteration came back without device samples");
  }

  // JMH hands its results out as raw types; this is the one place that gives them their wildcard.
  private static List<Result<?>> typed(Collection<?> results) {
    List<Result<?>> list = new ArrayList<>();
    for (Object result : results) {
      list.add((Result<?>) result);
    }
    return list;
  }

  // A run of JMH has one fork, so that a crash costs one of them; the file tells their number. The
  // port of a fork's turns is left out: no two files would agree in it, and compare asks that.
  private static BenchmarkParams withForks(BenchmarkParams params, int forks) {
    WorkloadParams workload = new WorkloadParams();
    int index = 0;
    for (String key : params.getParamsKeys()) {
      if (!OmittedParameters.omits(key, params.getParam(key))) {
        workload.put(key, params.getParam(key), index++);
      }
    }
    return new BenchmarkParams(
        params.getBenchmark(),
        params.generatedBenchmark(),
        params.shouldSynchIterations(),
        params.getThreads(),
        params.getThreadGroups(),
        params.getThreadGroupLabels(),
        forks,
        params.getWarmupForks(),
        params.getWarmup(),
        params.getMeasurement(),
        params.getMode(),
        workload,
        params.getTimeUnit(),
        params.getOpsPerInvocation(),
        params.getJvm(),
        params.getJvmArgs().stream().filter(a -> !a.startsWith("-D" + Turns.PORT + "=")).toList(),
        params.getJdkVersion(),
        params.getVmName(),
        params.getVmVersion(),
        params.getJmhVersion(),
        params.getTimeout());
  }
}
