package io.musabench.jmh.cli;

import io.musabench.jmh.device.Agreement;
import io.musabench.jmh.device.DeviceTimeResults;
import io.musabench.jmh.device.Measured;
import io.musabench.jmh.device.Metric;
import io.musabench.jmh.device.StepPart;
import io.musabench.results.model.Work;
import io.musabench.results.run.CasePart;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Conditions;
import io.musabench.results.run.CpuTimes;
import io.musabench.results.run.GraphCosts;
import io.musabench.results.run.MedianInterval;
import io.musabench.results.run.OverKernels;
import io.musabench.results.run.Sample;
import io.musabench.results.run.Status;
import io.musabench.results.stats.Summary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.openjdk.jmh.results.RunResult;

/** Turns what forks measured into the records of a run directory. */
final class CaseResults {
  private CaseResults() {}

  /**
   * A case as it is recorded.
   *
   * @param samples every sample of every metric; none of a case without a number
   * @param jmh its forks as one of JMH's results, device time first; null where there is no number
   */
  record Summed(CaseResult result, List<Sample> samples, RunResult jmh) {
    /** A case without a number. */
    static Summed failed(CaseSpec spec, Status status, String reason) {
      return new Summed(CaseResults.failed(spec, status, reason), List.of(), null);
    }
  }

  /**
   * Sums up what the forks of a case sent back. Forks that sent something that makes no sense, a
   * time that is no number or no times at all, fail their case and nothing else.
   *
   * @param forks JMH's results, one a fork; not empty
   * @param lost what became of each further fork
   * @param notes what else the reader must know of the forks
   * @param others what else the CPUs did meanwhile
   */
  static Summed sum(
      CaseSpec spec,
      List<RunResult> forks,
      List<String> lost,
      Collection<String> notes,
      CpuTimes.Others others) {
    try {
      List<List<Measured>> measured = DeviceTimeResults.measured(forks);
      CaseResult result = measured(spec, measured, lost, notes, others);
      return new Summed(result, samples(result, measured), DeviceTimeResults.rebuild(forks));
    } catch (RuntimeException e) {
      // Anything: what makes no sense fails wherever it is first used.
      String why = e.getClass().getSimpleName() + ": " + ForkRunner.oneLine(e.getMessage());
      return Summed.failed(spec, Status.FAILED, "what its forks sent cannot be summed up: " + why);
    }
  }

  /**
   * @param forks measurements: outer list forks, inner list iterations; not empty
   * @param lost what became of each further fork
   * @param ofForks what else the reader must know of the forks
   * @param others what else the CPUs did meanwhile
   */
  private static CaseResult measured(
      CaseSpec spec,
      List<List<Measured>> forks,
      List<String> lost,
      Collection<String> ofForks,
      CpuTimes.Others others) {
    List<Measured> all = forks.stream().flatMap(List::stream).toList();
    if (all.isEmpty()) {
      throw new IllegalStateException("not one iteration came back");
    }
    Measured first = all.get(0);
    Set<String> notes = new LinkedHashSet<>();
    all.forEach(m -> notes.addAll(m.notes()));
    all.forEach(m -> notes.addAll(m.facts().notes()));
    notes.addAll(lost);
    notes.addAll(ofForks);
    CaseResult.Builder result = builder(spec);
    if (!first.kernel().isEmpty()) {
      result.kernel(first.kernel(), first.shape());
    }
    double[] us =
        all.stream().flatMapToDouble(m -> Arrays.stream(m.nanos())).map(ns -> ns / 1e3).toArray();
    if (first.clock() == Measured.Clock.DEVICE) {
      result
          .deviceTimesUs(us)
          .hostTimeMedianUs(medianUs(all, Measured.HOST_TIME))
          .submitTimeMedianUs(medianUs(all, Measured.HOST_SUBMIT));
    } else {
      result.hostTimesUs(us);
    }
    return result
        .kernels(first.kernels())
        .firstRunUs(medianUs(all, Measured.FIRST_RUN))
        .conditions(conditions(all, others))
        .forks(forks.size())
        .lostForks(lost.size())
        .launches(first.launches())
        .work(new Work(first.flops(), first.bytes()))
        .parts(parts(all))
        .overKernels(overKernels(all))
        .graphCosts(graphCosts(all))
        .check(check(first))
        .note(String.join("; ", notes))
        .build();
  }

  private static Conditions conditions(List<Measured> all, CpuTimes.Others others) {
    List<String> unmet =
        all.stream().map(m -> m.facts().unmet()).filter(text -> !text.isEmpty()).toList();
    Set<String> reasons = new TreeSet<>();
    all.forEach(m -> reasons.addAll(m.facts().throttleReasons()));
    Set<String> processes = new TreeSet<>();
    all.forEach(m -> processes.addAll(m.facts().otherProcesses()));
    return new Conditions(
        unmet.isEmpty()
            ? ""
            : "%d of %d sessions %s"
                .formatted(unmet.size(), all.size(), unmet.get(unmet.size() - 1)),
        all.stream().mapToInt(m -> m.facts().throttled()).sum(),
        median(all, Sample.DEVICE_CLOCK),
        median(all, Measured.DEVICE_POWER),
        Arrays.stream(values(all, Measured.DEVICE_TEMPERATURE)).max().orElse(Double.NaN),
        String.join(", ", reasons),
        others.otherPercent(),
        others.stealPercent(),
        String.join(", ", processes));
  }

  private static CaseResult failed(CaseSpec spec, Status status, String reason) {
    return builder(spec).notOk(status, reason).build();
  }

  private static CaseResult.Builder builder(CaseSpec spec) {
    return CaseResult.of(spec.benchmark().name(), spec.named())
        .reproduce("scripts/musabench run --no-roofs " + spec.arguments());
  }

  private static List<Sample> samples(CaseResult result, List<List<Measured>> forks) {
    List<Sample> samples = new ArrayList<>();
    for (int fork = 0; fork < forks.size(); fork++) {
      for (int iteration = 0; iteration < forks.get(fork).size(); iteration++) {
        Measured measured = forks.get(fork).get(iteration);
        Map<String, Metric> metrics = new LinkedHashMap<>();
        String primary =
            measured.clock() == Measured.Clock.DEVICE ? Sample.DEVICE_TIME : Measured.HOST_TIME;
        metrics.put(primary, new Metric(primary, "ns/op", measured.nanos()));
        measured.metrics().forEach(metric -> metrics.put(metric.name(), metric));
        for (StepPart part : measured.parts()) {
          String name = Sample.DEVICE_TIME + "." + part.role() + " " + part.shape();
          metrics.put(name, new Metric(name, "ns/op", part.nanos()));
        }
        for (Metric metric : metrics.values()) {
          double[] values = metric.values();
          for (int i = 0; i < values.length; i++) {
            samples.add(
                new Sample(
                    result.id(),
                    metric.name(),
                    fork + 1,
                    iteration + 1,
                    i,
                    values[i],
                    metric.unit()));
          }
        }
      }
    }
    return samples;
  }

  // Empty where a benchmark has nothing to check.
  private static String check(Measured measured) {
    Map<String, Double> found = new TreeMap<>();
    measured.metrics().forEach(metric -> found.put(metric.name(), metric.values()[0]));
    Double values = found.get(Agreement.VALUES);
    if (values == null) {
      return "";
    }
    String reference =
        values == 0
            ? "every output written, nothing to compare with"
            : String.format(
                Locale.ROOT,
                "%.0f values, worst error %.2f of what is allowed",
                values,
                found.get(Agreement.ERROR));
    return reference
        + (found.get(Agreement.SAME_BITS) == 1
            ? "; timed results equal bit for bit"
            : "; bits differ between runs, timed results checked on some rows");
  }

  private static double[] values(List<Measured> all, String name) {
    return all.stream()
        .flatMap(m -> m.metrics().stream())
        .filter(metric -> metric.name().equals(name))
        .flatMapToDouble(metric -> Arrays.stream(metric.values()))
        .toArray();
  }

  private static double median(List<Measured> all, String name) {
    double[] values = values(all, name);
    return values.length == 0 ? Double.NaN : Summary.of(values).median();
  }

  private static double medianUs(List<Measured> all, String name) {
    return median(all, name) / 1e3;
  }

  private static GraphCosts graphCosts(List<Measured> all) {
    double[] eager = values(all, Measured.EAGER_SPAN);
    double[] graph = values(all, Measured.HOST_TIME);
    if (eager.length == 0) {
      return GraphCosts.UNKNOWN;
    }
    // Both were taken in each round, one after the other.
    double[] saved =
        IntStream.range(0, eager.length).mapToDouble(i -> (eager[i] - graph[i]) / 1e3).toArray();
    double[] captured = values(all, Measured.PADDED_REQUESTS);
    return new GraphCosts(
        new GraphCosts.Spans(
            medianUs(all, Measured.EAGER_DEVICE),
            medianUs(all, Measured.EAGER_SPAN),
            medianUs(all, Measured.EAGER_SUBMIT)),
        new GraphCosts.Spans(
            medianUs(all, Measured.GRAPH_DEVICE),
            medianUs(all, Measured.HOST_TIME),
            medianUs(all, Measured.HOST_SUBMIT)),
        MedianInterval.of(saved),
        medianUs(all, Measured.GRAPH_CAPTURE),
        medianUs(all, Measured.GRAPH_INSTANTIATE),
        medianUs(all, Measured.GRAPH_UPLOAD),
        new GraphCosts.Spans(
            medianUs(all, Measured.UPDATED_DEVICE),
            medianUs(all, Measured.UPDATED_SPAN),
            medianUs(all, Measured.UPDATED_SUBMIT)),
        medianUs(all, Measured.UPDATE),
        captured.length == 0 ? 0 : (int) captured[0],
        new GraphCosts.Spans(
            medianUs(all, Measured.PADDED_DEVICE),
            medianUs(all, Measured.PADDED_SPAN),
            medianUs(all, Measured.PADDED_SUBMIT)));
  }

  private static OverKernels overKernels(List<Measured> all) {
    double[] differences =
        all.stream()
            .filter(m -> !m.parts().isEmpty())
            .flatMapToDouble(
                m ->
                    IntStream.range(0, m.nanos().length)
                        .mapToDouble(round -> (m.nanos()[round] - sumOfParts(m, round)) / 1e3))
            .toArray();
    return differences.length == 0 ? OverKernels.UNKNOWN : OverKernels.of(differences);
  }

  private static double sumOfParts(Measured measured, int round) {
    return measured.parts().stream().mapToDouble(p -> p.count() * p.nanos()[round]).sum();
  }

  private static List<CasePart> parts(List<Measured> all) {
    List<CasePart> parts = new ArrayList<>();
    List<StepPart> firsts = all.get(0).parts();
    for (int i = 0; i < firsts.size(); i++) {
      StepPart first = firsts.get(i);
      int index = i;
      double[] nanos =
          all.stream().flatMapToDouble(m -> Arrays.stream(m.parts().get(index).nanos())).toArray();
      parts.add(
          new CasePart(
              first.role(),
              first.kernel(),
              first.shape(),
              first.count(),
              new Work(first.flops(), first.bytes()),
              Summary.of(nanos).median() / 1e3));
    }
    return parts;
  }
}
