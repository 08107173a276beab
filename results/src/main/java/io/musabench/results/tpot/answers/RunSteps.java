package io.musabench.results.tpot.answers;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.run.CasePart;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Params;
import io.musabench.results.run.RunData;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Sample;
import io.musabench.results.stats.Stats;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The measured steps of a run, each with its kernels, its launching and how sure they are. */
final class RunSteps {
  /** Forks that a spread between them can be told from. */
  private static final int ENOUGH_FORKS = 2;

  /**
   * Standard error of a time that came from one fork only, as a share: what processes of one
   * machine differ by is not in its samples. A quiet machine shows 1 to 2 %.
   */
  static final double ONE_FORK = 0.02;

  /**
   * A time.
   *
   * @param seconds median
   * @param error its standard error in seconds, made wider where few forks say how wide it is: 1.96
   *     of it are half the 95 % interval of Student's t
   */
  record Time(double seconds, double error) {
    static final Time NONE = new Time(0, 0);

    Time plus(Time other) {
      return new Time(seconds + other.seconds, Math.hypot(error, other.error));
    }

    Time times(int n) {
      return new Time(n * seconds, n * error);
    }
  }

  /**
   * A measured step.
   *
   * @param id its case
   * @param latency of the whole step
   * @param host time to queue it; the device waits for it where it is the longer
   * @param roles time of all calls of each operation
   */
  record Step(String id, Time latency, Time host, Map<String, Time> roles) {
    private Time kernels() {
      return roles.values().stream().reduce(Time.NONE, Time::plus);
    }

    /** What the step takes beyond its kernels and its launching: the gaps between them. */
    Time gaps() {
      Time kernels = kernels();
      Time longer = host.seconds() > kernels.seconds() ? host : kernels;
      double rest = latency.seconds() - longer.seconds();
      return new Time(Math.max(0, rest), Math.hypot(latency.error(), longer.error()));
    }

    /** A step that is faster than its kernels one by one: nothing here explains that. At most 0. */
    double unexplained() {
      return Math.min(0, latency.seconds() - Math.max(host.seconds(), kernels().seconds()));
    }
  }

  private final RunData run;
  private final Map<String, Map<String, List<List<Double>>>> samples = new HashMap<>();

  RunSteps(Path path) {
    RunDirectory directory = RunDirectory.open(path);
    this.run = directory.read();
    directory.eachSample(
        s -> {
          if (s.unit().equals("ns/op")) {
            List<List<Double>> forks =
                samples
                    .computeIfAbsent(s.caseId(), k -> new HashMap<>())
                    .computeIfAbsent(s.metric(), k -> new ArrayList<>());
            while (forks.size() < s.fork()) {
              forks.add(new ArrayList<>());
            }
            forks.get(s.fork() - 1).add(s.value() * 1e-9);
          }
        });
  }

  String name() {
    return run.name();
  }

  /** Measured steps with kernels, by their parameters. */
  List<CaseResult> cases() {
    return run.measured(CaseResult.STEP).stream().filter(c -> !c.parts().isEmpty()).toList();
  }

  Optional<CaseResult> find(String id) {
    return cases().stream().filter(c -> c.id().equals(id)).findFirst();
  }

  static BatchSpec batch(CaseResult c) {
    return BatchSpec.parse(c.param(Params.BATCH));
  }

  Step step(CaseResult c) {
    Map<String, Time> roles = new LinkedHashMap<>();
    for (CasePart p : c.parts()) {
      Time each =
          time(c, Sample.DEVICE_TIME + "." + p.role() + " " + p.shape(), p.deviceTimeMedianUs());
      roles.merge(p.role(), each.times(p.count()), Time::plus);
    }
    return new Step(
        c.id(),
        time(c, Sample.DEVICE_TIME, c.deviceTimeMedianUs()),
        Double.isNaN(c.submitTimeMedianUs())
            ? Time.NONE
            : time(c, "host.submit", c.submitTimeMedianUs()),
        roles);
  }

  /** A median with its standard error: of the forks' medians, or, of one fork, a usual spread. */
  private Time time(CaseResult c, String metric, double medianUs) {
    double median = medianUs * 1e-6;
    List<List<Double>> forks =
        samples.getOrDefault(c.id(), Collections.emptyMap()).getOrDefault(metric, List.of());
    double[] medians =
        forks.stream()
            .filter(f -> !f.isEmpty())
            .mapToDouble(f -> Stats.median(f.stream().mapToDouble(v -> v).toArray()))
            .toArray();
    if (medians.length < ENOUGH_FORKS) {
      double within = medians.length == 1 ? within(forks.get(0), median) : 0;
      return new Time(median, Math.hypot(ONE_FORK * median, within));
    }
    double error = Math.sqrt(Stats.variance(medians) / medians.length);
    return new Time(median, Stats.widening(medians.length - 1, 0.95) * error);
  }

  /** Standard error of a median from its own samples: 1.25 s / sqrt(n), with s from the MAD. */
  private static double within(List<Double> values, double median) {
    double[] v = values.stream().mapToDouble(x -> x).toArray();
    return v.length < 2 ? 0 : 1.25 * 1.4826 * Stats.mad(v) / Math.sqrt(v.length);
  }
}
