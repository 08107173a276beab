package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.run.Sample;
import io.musabench.results.stats.SampleShape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The samples of a run by case: device times, or host times where a case has no other, and clock.
 */
final class RunSamples {
  private static final Map<String, Double> TO_US =
      Map.of("ns/op", 1e-3, "us/op", 1.0, "ms/op", 1e3, "s/op", 1e6);

  /** One metric of one case: its values in the order in which they were taken, by fork. */
  private static final class Series {
    private final Map<Integer, double[]> forks = new TreeMap<>();
    private final Map<Integer, Integer> sizes = new HashMap<>();

    void add(int fork, double value) {
      double[] values = forks.computeIfAbsent(fork, f -> new double[32]);
      int size = sizes.merge(fork, 1, Integer::sum);
      if (size > values.length) {
        values = Arrays.copyOf(values, 2 * values.length);
        forks.put(fork, values);
      }
      values[size - 1] = value;
    }

    List<double[]> byFork() {
      List<double[]> all = new ArrayList<>();
      forks.forEach((fork, values) -> all.add(Arrays.copyOf(values, sizes.get(fork))));
      return all;
    }

    int size() {
      return sizes.values().stream().mapToInt(n -> n).sum();
    }

    double[] flat() {
      return byFork().stream().flatMapToDouble(Arrays::stream).toArray();
    }
  }

  private final Map<String, Map<String, Series>> cases = new LinkedHashMap<>();
  private final Map<String, SampleShape> shapes = new HashMap<>();

  /** Reads a run's samples; values that are no times are left out. */
  static RunSamples of(ReportedRun run) {
    RunSamples samples = new RunSamples();
    run.directory().eachSample(samples::add);
    return samples;
  }

  private void add(Sample s) {
    boolean clock = s.metric().equals(Sample.DEVICE_CLOCK);
    boolean time = s.metric().equals(Sample.DEVICE_TIME) || s.metric().equals(Sample.HOST_TIME);
    double value = clock ? s.value() : s.value() * TO_US.getOrDefault(s.unit(), Double.NaN);
    if ((clock || time) && value > 0 && Double.isFinite(value)) {
      cases
          .computeIfAbsent(s.caseId(), id -> new HashMap<>())
          .computeIfAbsent(s.metric(), m -> new Series())
          .add(s.fork(), value);
    }
  }

  private String metric(String caseId) {
    Map<String, Series> metrics = cases.getOrDefault(caseId, Map.of());
    return metrics.containsKey(Sample.DEVICE_TIME)
        ? Sample.DEVICE_TIME
        : metrics.containsKey(Sample.HOST_TIME) ? Sample.HOST_TIME : null;
  }

  /** Number of values that would be embedded. */
  long size() {
    long size = 0;
    for (String id : cases.keySet()) {
      size += metric(id) == null ? 0 : cases.get(id).get(metric(id)).size();
    }
    return size;
  }

  /** What the samples of a case look like, tested once; null if it has none. */
  SampleShape shape(String caseId) {
    String metric = metric(caseId);
    return metric == null
        ? null
        : shapes.computeIfAbsent(caseId, id -> SampleShape.of(cases.get(id).get(metric).byFork()));
  }

  /** Range of the clock while the case ran, as a share; NaN if nobody read it. */
  double clockRange(String caseId) {
    Series clock = cases.getOrDefault(caseId, Map.of()).get(Sample.DEVICE_CLOCK);
    return clock == null ? Double.NaN : SampleShape.clockRange(clock.flat());
  }

  /**
   * A case's samples for the page; null if it has none.
   *
   * @param every how many samples one that is kept stands for; the first of each is
   */
  ObjectNode json(String caseId, int every) {
    String metric = metric(caseId);
    if (metric == null) {
      return null;
    }
    Map<String, Series> metrics = cases.get(caseId);
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    node.put("metric", metric);
    node.put("count", metrics.get(metric).size());
    node.put("every", every);
    forks(node.putArray("forks"), metrics.get(metric), every);
    if (metrics.containsKey(Sample.DEVICE_CLOCK)) {
      forks(node.putArray("clock"), metrics.get(Sample.DEVICE_CLOCK), every);
    }
    return node;
  }

  private static void forks(ArrayNode array, Series values, int every) {
    for (double[] fork : values.byFork()) {
      ArrayNode kept = array.addArray();
      for (int i = 0; i < fork.length; i += every) {
        Values.add(kept, fork[i]);
      }
    }
  }
}
