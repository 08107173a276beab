package io.musabench.results.report;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Params;
import io.musabench.results.tpot.ClosedLoop;
import io.musabench.results.tpot.MeasuredSteps;
import io.musabench.results.tpot.Prediction;
import io.musabench.results.tpot.Workload;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What a measured decode step makes of a service, predicted by the closed loop.
 *
 * @param decode the step
 * @param input length of the prompts: the longest prefill of a single request that was measured
 * @param prediction what follows
 */
public record ServedDecode(CaseResult decode, int input, Prediction prediction) {
  /** Length of the answers, that of the usual 1024-in, 256-out workload. */
  public static final int OUTPUT_TOKENS = 256;

  /** One for each decode step that has a prefill step which differs from it in the batch alone. */
  public static List<ServedDecode> of(List<CaseResult> cases) {
    List<CaseResult> steps = cases.stream().filter(c -> c.batch().isPresent()).toList();
    Set<String> alike = paramsOfAll(steps);
    alike.remove(Params.BATCH);
    List<ServedDecode> all = new ArrayList<>();
    steps.stream()
        .collect(
            Collectors.groupingBy(
                c -> alike.stream().map(c::param).toList(),
                LinkedHashMap::new,
                Collectors.toList()))
        .values()
        .forEach(service -> all.addAll(ofService(service)));
    return all;
  }

  /** Names of the parameters that every case has. */
  private static Set<String> paramsOfAll(List<CaseResult> cases) {
    Set<String> names = new TreeSet<>();
    cases.forEach(c -> names.addAll(c.params().keySet()));
    cases.forEach(c -> names.retainAll(c.params().keySet()));
    return names;
  }

  /**
   * @param service steps that differ in nothing but the batch
   */
  private static List<ServedDecode> ofService(List<CaseResult> service) {
    Map<Integer, Double> prefills = new TreeMap<>();
    for (CaseResult c : service) {
      BatchSpec batch = batch(c);
      if (batch.isPrefill() && batch.size() == 1) {
        prefills.put(batch.maxQ(), c.deviceTimeMedianUs() * 1e-6);
      }
    }
    if (prefills.isEmpty()) {
      return List.of();
    }
    int input = Collections.max(prefills.keySet());
    List<ServedDecode> all = new ArrayList<>();
    for (CaseResult c : service) {
      BatchSpec batch = batch(c);
      if (batch.isDecode()) {
        Map<Integer, Double> decode = Map.of(batch.size(), c.deviceTimeMedianUs() * 1e-6);
        all.add(
            new ServedDecode(
                c,
                input,
                ClosedLoop.predict(
                    new MeasuredSteps(decode, prefills),
                    new Workload(batch.size(), input, OUTPUT_TOKENS))));
      }
    }
    return all;
  }

  private static BatchSpec batch(CaseResult c) {
    return c.batch().orElseThrow();
  }

  /** The decode step's requests. */
  public BatchSpec batch() {
    return batch(decode);
  }

  /** TPOT as it is printed. */
  String tpot() {
    return saturated() ? "saturated" : Units.time(prediction.tpot().value() * 1e6);
  }

  /** Mean TTFT of requests that come one by one, to that of all at once. */
  String ttft() {
    String low = Units.time(prediction.ttftStaggered().value() * 1e6);
    String high = Units.time(prediction.ttftBurst().value() * 1e6);
    return low.equals(high) ? low : low + " - " + high;
  }

  /** Whether there is no TPOT to speak of. */
  public boolean saturated() {
    return prediction.state() == Prediction.State.SATURATED;
  }
}
