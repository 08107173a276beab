package io.musabench.results.report;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.run.CasePart;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.Params;
import io.musabench.results.run.Roofs;
import io.musabench.results.run.RunData;
import io.musabench.results.run.Status;
import io.musabench.results.tpot.ClosedLoop;
import io.musabench.results.tpot.MeasuredSteps;
import io.musabench.results.tpot.Prediction;
import io.musabench.results.tpot.Workload;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The text at the end of a run: steps and the kernels that make them up, single kernels, launch
 * costs, roofs, and the TPOT that the steps give. A section without cases is left out.
 */
public final class RunReport {
  /** Length of the answers in the TPOT section: that of the table this suite grew from. */
  static final int OUTPUT_TOKENS = 256;

  private static final String STEP = "step";
  private static final String LAUNCH = "launch";
  private static final String ROOF = "roof";

  private final RunData run;
  private final Roofs roofs;
  private final StringBuilder out = new StringBuilder();

  private RunReport(RunData run) {
    this.run = run;
    this.roofs = run.roofs();
  }

  /** The report of a run, at most 120 columns wide (paths and reasons excepted). */
  public static String text(RunData run) {
    RunReport report = new RunReport(run);
    report.header();
    report.roofs();
    report.launches();
    report.kernels();
    report.stepKernels();
    report.steps();
    report.tpot();
    report.notMeasured();
    return report.out.toString();
  }

  private void header() {
    Environment environment = run.environment();
    Environment.DeviceInfo device = environment.device();
    out.append("musabench ").append(run.name()).append('\n');
    out.append("  device  ").append(known(device.name()));
    if (device.computeUnits() != null) {
      out.append(", ").append(device.computeUnits()).append(" compute units");
    }
    if (device.memoryBytes() != null) {
      out.append(", ").append(Units.gib(device.memoryBytes()));
    }
    out.append('\n');
    out.append("  driver  ").append(known(device.driverVersion()));
    out.append(", runtime ").append(known(device.runtimeVersion())).append('\n');
    out.append("  host    ").append(known(environment.machine().cpu()));
    out.append(", ").append(environment.machine().logicalCpus()).append(" CPUs\n");
    if (environment.target().equals("host")) {
      out.append("  The device is this machine's CPU: no number below is a GPU's.\n");
    }
    environment.warnings().forEach(w -> out.append("  warning: ").append(w).append('\n'));
  }

  private static String known(String text) {
    return text == null ? "unknown" : text;
  }

  private void roofs() {
    TextTable table = new TextTable("roof", "case", ">time", ">GB/s", ">TFLOP/s", "");
    List<CaseResult> cases = measured(ROOF);
    Set<String> shared = sharedParams(cases);
    for (CaseResult c : cases) {
      boolean best =
          c.shortName().equals(Roofs.READ_BENCHMARK) && c.gbPerS() == roofs.readGbPerS()
              || c.shortName().equals(Roofs.FLOPS_BENCHMARK) && c.tflopPerS() == roofs.tflopPerS();
      table.row(
          c.shortName(),
          params(c, shared),
          Units.time(c.deviceTimeMedianUs()),
          Units.number(c.gbPerS()),
          Units.number(c.tflopPerS()),
          best ? "<- the roof" : "");
    }
    section("Roofs, measured" + caption(cases, shared), table);
  }

  private void launches() {
    TextTable table = new TextTable("launch", "case", ">device", ">host", ">submit");
    List<CaseResult> cases = measured(LAUNCH);
    Set<String> shared = sharedParams(cases);
    for (CaseResult c : cases) {
      table.row(
          c.shortName(),
          params(c, shared),
          Units.time(c.deviceTimeMedianUs()),
          Units.time(c.hostTimeMedianUs()),
          Units.time(c.submitTimeMedianUs()));
    }
    section("Launch costs, medians of one operation" + caption(cases, shared), table);
  }

  private void kernels() {
    List<CaseResult> cases =
        run.cases().stream()
            .filter(CaseResult::ok)
            .filter(c -> !Set.of(STEP, LAUNCH, ROOF).contains(c.group()))
            .toList();
    TextTable table =
        new TextTable("kernel", "case", ">device", ">p90", ">GB/s", ">TFLOP/s", ">of roof", "roof");
    Set<String> shared = sharedParams(cases);
    for (CaseResult c : cases) {
      Roofs.Share share = roofs.share(c);
      table.row(
          c.shortName(),
          params(c, shared),
          Units.time(c.deviceTimeMedianUs()),
          Units.time(c.deviceTimeP90Us()),
          Units.number(c.gbPerS()),
          Units.number(c.tflopPerS()),
          percent(share),
          bound(share));
    }
    section("Kernels, device time" + caption(cases, shared), table);
  }

  private static String percent(Roofs.Share share) {
    return share == null ? Units.NOTHING : Units.percent(share.percent());
  }

  private static String bound(Roofs.Share share) {
    if (share == null) {
      return "";
    }
    return share.bound() == Roofs.Bound.READ_BANDWIDTH ? "bandwidth" : "flops";
  }

  /** One table a step: the graph's parts where there are two, since those are the same kernels. */
  private void stepKernels() {
    Map<String, CaseResult> chosen = new LinkedHashMap<>();
    for (CaseResult c : measured(STEP)) {
      if (!c.parts().isEmpty()) {
        chosen.merge(
            c.shortName() + withoutMode(c),
            c,
            (a, b) -> b.param(Params.MODE).equals(Params.GRAPH) ? b : a);
      }
    }
    for (CaseResult c : chosen.values()) {
      double sum = sumOfParts(c);
      TextTable table =
          new TextTable(
              "operation",
              "kernel",
              ">calls",
              ">device",
              ">all calls",
              ">share",
              ">GB/s",
              ">TFLOP/s",
              ">of roof",
              "roof");
      for (CasePart p : c.parts()) {
        double seconds = p.deviceTimeMedianUs() * 1e-6;
        Roofs.Share share = roofs.share(p.work(), seconds);
        table.row(
            p.role(),
            (p.kernel() + " " + p.shape()).strip(),
            Integer.toString(p.count()),
            Units.time(p.deviceTimeMedianUs()),
            Units.time(p.totalUs()),
            Units.percent(100 * p.totalUs() / sum),
            p.work().bytes() == 0 ? Units.NOTHING : Units.number(p.work().gbPerS(seconds)),
            p.work().flops() == 0 ? Units.NOTHING : Units.number(p.work().tflopPerS(seconds)),
            percent(share),
            bound(share));
      }
      section("Kernels of " + title(c) + ", one by one", table);
    }
  }

  private static Map<String, String> withoutMode(CaseResult c) {
    Map<String, String> rest = new TreeMap<>(c.params());
    rest.remove(Params.MODE);
    return rest;
  }

  private static double sumOfParts(CaseResult c) {
    return c.parts().isEmpty()
        ? Double.NaN
        : c.parts().stream().mapToDouble(CasePart::totalUs).sum();
  }

  private static String title(CaseResult c) {
    return c.shortName() + " " + model(c) + " " + c.param(Params.BATCH);
  }

  private static String model(CaseResult c) {
    String tp = c.param(Params.TP);
    return c.param(Params.MODEL) + (tp.isEmpty() || tp.equals("1") ? "" : " TP" + tp);
  }

  private void steps() {
    List<CaseResult> cases = measured(STEP);
    TextTable table =
        new TextTable(
            "step",
            "model",
            "batch",
            "mode",
            ">latency",
            ">p90",
            ">kernels",
            ">sum of kernels",
            ">difference",
            ">launch/kernel",
            ">submit/kernel");
    Set<String> notes = new LinkedHashSet<>();
    for (CaseResult c : cases) {
      double sum = sumOfParts(c);
      double over = c.deviceTimeMedianUs() - sum;
      int kernels = c.kernels();
      table.row(
          c.shortName(),
          model(c),
          c.param(Params.BATCH),
          c.param(Params.MODE),
          Units.time(c.deviceTimeMedianUs()),
          Units.time(c.deviceTimeP90Us()),
          kernels == 0 ? Units.NOTHING : Integer.toString(kernels),
          Units.time(sum),
          Double.isNaN(sum) ? Units.NOTHING : Units.change(100 * over / sum),
          kernels == 0 ? Units.NOTHING : Units.time(over / kernels),
          kernels == 0 ? Units.NOTHING : Units.time(c.submitTimeMedianUs() / kernels));
      if (!c.note().isEmpty()) {
        notes.add(title(c) + " " + c.param(Params.MODE) + ": " + c.note());
      }
      if (!Set.of("", "1").contains(c.param(Params.TP))) {
        notes.add(model(c) + ": one rank's kernels, without the all-reduces between the ranks");
      }
    }
    section(
        "Steps, measured whole, beside the sum of their kernels measured one by one",
        table,
        List.of(
            "launch/kernel = (latency - sum of kernels) / kernels;"
                + " submit/kernel = host time to queue the step / kernels"),
        notes);
  }

  private void tpot() {
    TextTable table =
        new TextTable(
            "model",
            "mode",
            ">in flight",
            ">input",
            ">output",
            ">decode step",
            ">prefill step",
            ">TPOT",
            ">TTFT",
            ">tokens/s",
            "");
    Map<String, List<CaseResult>> groups =
        measured(STEP).stream()
            .collect(
                Collectors.groupingBy(
                    RunReport::withoutBatch, LinkedHashMap::new, Collectors.toList()));
    groups.values().forEach(steps -> tpotRows(table, steps));
    section(
        "TPOT, predicted from the measured steps (not itself measured)",
        table,
        List.of(
            "closed loop: TPOT = T / (1 - share of time in other requests' prefills);"
                + " decode at the contexts measured above,",
            "TTFT from requests that arrive one by one to all at once; no scheduler, tokenizer"
                + " or network time"),
        Set.of());
  }

  /** Steps that differ in nothing but the batch belong to one service. */
  private static String withoutBatch(CaseResult c) {
    Map<String, String> rest = new TreeMap<>(c.params());
    rest.remove(Params.BATCH);
    return rest.toString();
  }

  private static void tpotRows(TextTable table, List<CaseResult> steps) {
    Optional<BatchSpec> longest = Optional.empty();
    Map<Integer, Double> prefill = new TreeMap<>();
    for (CaseResult c : steps) {
      BatchSpec batch = BatchSpec.parse(c.param(Params.BATCH));
      if (batch.isPrefill() && batch.size() == 1) {
        prefill.put(batch.maxQ(), c.deviceTimeMedianUs() * 1e-6);
        if (longest.isEmpty() || longest.get().maxQ() < batch.maxQ()) {
          longest = Optional.of(batch);
        }
      }
    }
    if (longest.isEmpty()) {
      return;
    }
    for (CaseResult c : steps) {
      BatchSpec batch = BatchSpec.parse(c.param(Params.BATCH));
      if (!batch.isDecode()) {
        continue;
      }
      Map<Integer, Double> decode = Map.of(batch.size(), c.deviceTimeMedianUs() * 1e-6);
      Prediction p =
          ClosedLoop.predict(
              new MeasuredSteps(decode, prefill),
              new Workload(batch.size(), longest.get().maxQ(), OUTPUT_TOKENS));
      table.row(
          model(c),
          c.param(Params.MODE),
          Integer.toString(batch.size()),
          Integer.toString(longest.get().maxQ()),
          Integer.toString(OUTPUT_TOKENS),
          Units.time(p.decodeStep().seconds() * 1e6),
          Units.time(p.prefillStep().seconds() * 1e6),
          Units.time(p.tpot() * 1e6),
          ttft(p),
          p.state() == Prediction.State.SATURATED
              ? Units.NOTHING
              : Units.number(p.outputTokensPerSecond()),
          p.remark());
    }
  }

  private static String ttft(Prediction p) {
    String low = Units.time(p.ttftStaggered() * 1e6);
    String high = Units.time(p.ttftBurst() * 1e6);
    return low.equals(high) ? low : low + " - " + high;
  }

  private void notMeasured() {
    List<CaseResult> cases = run.cases().stream().filter(c -> !c.ok()).toList();
    if (cases.isEmpty()) {
      return;
    }
    out.append("\nNot measured\n");
    for (CaseResult c : cases) {
      String what = c.status() == Status.TIMEOUT ? "time limit" : c.status().text();
      out.append("  ").append(what).append(": ").append(c.id()).append('\n');
      out.append("    ").append(c.reason()).append('\n');
      if (!c.reproduce().isEmpty()) {
        out.append("    again: ").append(c.reproduce()).append('\n');
      }
    }
  }

  private List<CaseResult> measured(String group) {
    return run.cases().stream().filter(c -> c.ok() && c.group().equals(group)).toList();
  }

  /** Parameters with one value in all cases that have them, if there is more than one case. */
  private static Set<String> sharedParams(List<CaseResult> cases) {
    Map<String, Set<String>> values = new TreeMap<>();
    for (CaseResult c : cases) {
      c.params().forEach((k, v) -> values.computeIfAbsent(k, key -> new LinkedHashSet<>()).add(v));
    }
    return values.keySet().stream()
        .filter(k -> values.get(k).size() == 1)
        .filter(k -> cases.stream().filter(c -> c.params().containsKey(k)).count() > 1)
        .collect(Collectors.toSet());
  }

  private static String params(CaseResult c, Set<String> shared) {
    List<String> parts = new ArrayList<>();
    c.params().forEach((k, v) -> parts.add(shared.contains(k) ? "" : k + "=" + v));
    parts.removeIf(String::isEmpty);
    return String.join(" ", parts);
  }

  /** The shared parameters, as the end of a heading. */
  private static String caption(List<CaseResult> cases, Set<String> shared) {
    Map<String, String> values = new TreeMap<>();
    cases.forEach(c -> c.params().forEach(values::put));
    values.keySet().retainAll(shared);
    return values.isEmpty()
        ? ""
        : values.entrySet().stream()
            .map(e -> e.getKey() + "=" + e.getValue())
            .collect(Collectors.joining(" ", " (", ")"));
  }

  private void section(String heading, TextTable table) {
    section(heading, table, List.of(), Set.of());
  }

  private void section(
      String heading, TextTable table, List<String> explanation, Set<String> notes) {
    if (table.isEmpty()) {
      return;
    }
    out.append('\n').append(heading).append('\n').append(table);
    explanation.forEach(line -> out.append("  ").append(line).append('\n'));
    notes.forEach(note -> out.append("  note: ").append(note).append('\n'));
  }
}
