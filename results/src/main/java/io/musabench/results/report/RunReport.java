package io.musabench.results.report;

import io.musabench.results.Printable;
import io.musabench.results.model.Work;
import io.musabench.results.run.CasePart;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.OverKernels;
import io.musabench.results.run.Params;
import io.musabench.results.run.Roofs;
import io.musabench.results.run.RunData;
import io.musabench.results.run.Status;
import io.musabench.results.run.Versions;
import io.musabench.results.tpot.Prediction;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The text at the end of a run: roofs, launch costs, single kernels, the kernels that make up each
 * step, the steps, and the TPOT that they give. What matters most comes last, next to the prompt. A
 * section without cases is left out.
 */
public final class RunReport {
  private final RunData run;
  private final Roofs roofs;
  private final StringBuilder out = new StringBuilder();

  private RunReport(RunData run) {
    this.run = run;
    this.roofs = run.roofs();
  }

  /** The report of a run. Tables are at most 120 columns wide. */
  public static String text(RunData run) {
    RunReport report = new RunReport(run);
    report.header();
    report.roofs();
    report.launches();
    report.kernels();
    report.stepKernels();
    report.ceiling();
    report.steps();
    report.out.append(GraphTable.text(run.measured(CaseResult.STEP)));
    report.tpot();
    report.notMeasured();
    report.faults();
    return report.out.toString();
  }

  private void header() {
    Environment environment = run.environment();
    Environment.DeviceInfo device = environment.device();
    out.append("musabench ").append(Printable.line(run.name())).append('\n');
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
    if (!environment.target().equals("host")) {
      out.append("  stack   ")
          .append(Printable.line(Versions.line(environment.versions())))
          .append('\n');
    }
    out.append("  host    ").append(known(environment.machine().cpu()));
    out.append(", ").append(environment.machine().logicalCpus()).append(" CPUs\n");
    if (environment.target().equals("host")) {
      out.append("  The device is this machine's CPU: no number below is a GPU's.\n");
    }
    Disturbances.of(run)
        .forEach(w -> out.append("  warning: ").append(Printable.line(w)).append('\n'));
  }

  private static String known(String text) {
    return text == null ? "unknown" : Printable.line(text);
  }

  private void roofs() {
    TextTable table = new TextTable("roof", "case", ">time", ">GB/s", ">TFLOP/s", "");
    List<CaseResult> cases = run.measured(CaseResult.ROOF);
    Set<String> shared = sharedParams(cases);
    for (CaseResult c : cases) {
      table.row(
          c.shortName(),
          params(c, shared),
          Units.time(c.deviceTimeMedianUs()),
          Units.number(c.gbPerS()),
          Units.number(c.tflopPerS()),
          roofs.isRoof(c) ? "<- the roof" : "");
    }
    section("Roofs, measured" + caption(cases, shared), table);
  }

  private void launches() {
    TextTable table = new TextTable("launch", "case", ">device", ">host", ">submit");
    List<CaseResult> cases = run.measured(CaseResult.LAUNCH);
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
            .filter(
                c ->
                    c.ok()
                        && !Set.of(CaseResult.STEP, CaseResult.LAUNCH, CaseResult.ROOF)
                            .contains(c.group()))
            .toList();
    TextTable table =
        new TextTable(
            "kernel",
            "case",
            ">device",
            ">p90",
            ">first run",
            ">GB/s",
            ">TFLOP/s",
            ">of roof",
            "roof");
    Set<String> shared = sharedParams(cases);
    for (CaseResult c : cases) {
      Roofs.Share share = roofs.share(c);
      table.row(
          c.shortName(),
          params(c, shared),
          Units.time(c.deviceTimeMedianUs()),
          Units.time(c.deviceTimeP90Us()),
          Units.time(c.firstRunUs()),
          Units.number(c.gbPerS()),
          Units.number(c.tflopPerS()),
          percent(share),
          bound(share));
    }
    section(
        "Kernels, device time" + caption(cases, shared),
        table,
        aboveRoof(cases.stream().map(roofs::share)),
        Set.of());
  }

  /** How a kernel can be faster than the roof that binds it. */
  private static List<String> aboveRoof(Stream<Roofs.Share> shares) {
    return shares
        .filter(share -> share != null && share.percent() > 100)
        .map(Roofs.Share::bound)
        .distinct()
        .sorted()
        .map(
            bound ->
                switch (bound) {
                  case READ_BANDWIDTH ->
                      "above 100 % of read: its data came from a cache, or other work slowed the"
                          + " machine while the roof was measured";
                  case PEAK_FLOPS ->
                      "above 100 % of flops: other work slowed the machine while the roof was"
                          + " measured";
                })
        .toList();
  }

  private static String percent(Roofs.Share share) {
    return share == null ? Units.NOTHING : Units.percent(share.percent());
  }

  static String bound(Roofs.Share share) {
    if (share == null) {
      return "";
    }
    return share.bound() == Roofs.Bound.READ_BANDWIDTH ? "read" : "flops";
  }

  /** One table a step: of eager and graph, whose kernels are the same, the graph's. */
  private void stepKernels() {
    Map<String, CaseResult> chosen = new LinkedHashMap<>();
    for (CaseResult c : run.measured(CaseResult.STEP)) {
      if (!c.parts().isEmpty()) {
        chosen.merge(
            c.shortName() + withoutMode(c),
            c,
            (a, b) -> b.param(Params.MODE).equals(Params.GRAPH) ? b : a);
      }
    }
    for (CaseResult c : chosen.values()) {
      double sum = c.sumOfPartsUs();
      TextTable table =
          new TextTable(
              "operation",
              "shape",
              ">calls",
              ">device",
              ">all calls",
              ">share",
              ">GB/s",
              ">TFLOP/s",
              ">of roof",
              "roof");
      List<Roofs.Share> shares = new ArrayList<>();
      for (CasePart p : c.parts()) {
        double seconds = p.deviceTimeMedianUs() * 1e-6;
        Work work = p.work();
        Roofs.Share share = roofs.share(work, seconds);
        shares.add(share);
        table.row(
            p.role(),
            p.shape(),
            Integer.toString(p.count()),
            Units.time(p.deviceTimeMedianUs()),
            Units.time(p.totalUs()),
            Units.percent(100 * p.totalUs() / sum),
            work.bytes() == 0 ? Units.NOTHING : Units.number(work.gbPerS(seconds)),
            work.flops() == 0 ? Units.NOTHING : Units.number(work.tflopPerS(seconds)),
            percent(share),
            bound(share));
      }
      section(
          "Kernels of " + title(c) + ", one by one", table, aboveRoof(shares.stream()), Set.of());
    }
  }

  private static Map<String, String> withoutMode(CaseResult c) {
    Map<String, String> rest = new TreeMap<>(c.params());
    rest.remove(Params.MODE);
    return rest;
  }

  private static String title(CaseResult c) {
    return phase(c) + " " + model(c) + " " + c.param(Params.BATCH);
  }

  /** {@code decode} for {@code DecodeStep}. */
  public static String phase(CaseResult c) {
    return c.shortName().replaceFirst("Step$", "").toLowerCase(Locale.ROOT);
  }

  /** The model of a step as people name it, with its ranks if there are several. */
  public static String model(CaseResult c) {
    String tp = c.param(Params.TP);
    // Of a path, what tells models apart: the folder of a config.json, or the file.
    String path = c.param(Params.MODEL).replaceFirst("/config\\.json$", "");
    String name = path.substring(path.lastIndexOf('/') + 1).replaceFirst("\\.json$", "");
    return name + (Set.of("", "1").contains(tp) ? "" : " TP" + tp);
  }

  private void steps() {
    TextTable table =
        new TextTable(
            "step",
            "model",
            "batch",
            "mode",
            ">latency",
            ">kernels",
            ">kernel sum",
            ">diff",
            ">launch",
            ">95 % interval",
            ">submit");
    Set<String> notes = new LinkedHashSet<>();
    for (CaseResult c : run.measured(CaseResult.STEP)) {
      double sum = c.sumOfPartsUs();
      OverKernels over = c.overKernels();
      // NaN where the number of kernels is not known, so that the quotients are not either.
      double kernels = c.kernels() == 0 ? Double.NaN : c.kernels();
      table.row(
          phase(c),
          model(c),
          c.param(Params.BATCH),
          c.param(Params.MODE),
          Units.time(c.deviceTimeMedianUs()),
          c.kernels() == 0 ? Units.NOTHING : Integer.toString(c.kernels()),
          Units.time(sum),
          Units.change(100 * over.medianUs() / sum),
          Units.time(over.medianUs() / kernels),
          interval(over.lowUs() / kernels, over.highUs() / kernels),
          Units.time(c.submitTimeMedianUs() / kernels));
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
            "diff: latency - kernel sum, taken round by round, median; launch: diff / kernels, with"
                + " its interval between rounds;",
            "submit: host time to queue the step / kernels"),
        notes);
  }

  static String interval(double lowUs, double highUs) {
    return Double.isNaN(lowUs) ? Units.NOTHING : Units.time(lowUs) + " to " + Units.time(highUs);
  }

  /** Medians of sessions that could not take as many samples as they wanted are less certain. */
  private void ceiling() {
    List<CaseResult> cases =
        run.cases().stream().filter(c -> c.ok() && !c.conditions().unmet().isEmpty()).toList();
    if (!cases.isEmpty()) {
      out.append("\nStopped at the time ceiling\n");
      cases.forEach(
          c ->
              out.append("  ")
                  .append(named(c))
                  .append(": ")
                  .append(c.conditions().unmet())
                  .append('\n'));
    }
  }

  /** A case in a line of its own. */
  private static String named(CaseResult c) {
    String cache = c.param(Params.CACHE);
    Set<String> left = new HashSet<>(Set.of("dtype", "seed"));
    if (cache.equals(Params.COLD)) {
      left.add(Params.CACHE);
    }
    return c.shortName() + " " + params(c, left);
  }

  private void tpot() {
    TextTable table =
        new TextTable(
            "model",
            "mode",
            ">in flight",
            ">context",
            ">input",
            ">decode",
            ">prefill",
            ">TPOT",
            ">TTFT",
            ">tokens/s",
            ">prefill share");
    Set<String> notes = new LinkedHashSet<>();
    for (ServedDecode served : ServedDecode.of(run.measured(CaseResult.STEP))) {
      CaseResult c = served.decode();
      Prediction p = served.prediction();
      table.row(
          model(c),
          c.param(Params.MODE),
          Integer.toString(served.batch().size()),
          Integer.toString(served.batch().maxKv()),
          Integer.toString(served.input()),
          Units.time(p.decodeStep().seconds() * 1e6),
          Units.time(p.prefillStep().seconds() * 1e6),
          served.tpot(),
          served.ttft(),
          served.saturated() ? Units.NOTHING : Units.number(p.outputTokensPerSecond()),
          Units.percent(100 * p.prefillShare().value()));
      if (p.state() != Prediction.State.OK) {
        notes.add(
            "%s %s, %d in flight: %s"
                .formatted(model(c), c.param(Params.MODE), served.batch().size(), p.remark()));
      }
    }
    section(
        "TPOT, predicted from the measured steps (not itself measured)",
        table,
        List.of(
            "closed loop, answers of "
                + ServedDecode.OUTPUT_TOKENS
                + " tokens: TPOT = decode / (1 - share of time in other requests' prefills);",
            "mean TTFT from requests that come one by one to all at once; no scheduler, tokenizer"
                + " or network time"),
        notes);
  }

  private void notMeasured() {
    List<CaseResult> cases = run.cases().stream().filter(c -> !c.ok()).toList();
    if (cases.isEmpty()) {
      return;
    }
    out.append("\nNot measured\n");
    for (CaseResult c : cases) {
      String what = c.status() == Status.TIMEOUT ? "time limit" : c.status().text();
      out.append("  ").append(what).append(": ").append(Printable.line(c.id())).append('\n');
      out.append("    ").append(Printable.line(c.reason()).replace(" | ", "\n    ")).append('\n');
      if (!c.reproduce().isEmpty()) {
        out.append("    again: ").append(Printable.line(c.reproduce())).append('\n');
      }
    }
  }

  /** Nobody should take a run with planted errors for one of the device as it is. */
  private void faults() {
    String faults = run.environment().settings().get(Environment.FAULTS);
    if (faults != null) {
      out.append("\nFaults were injected below this run, by ")
          .append(Environment.FAULTS)
          .append(": ");
      out.append(Printable.line(faults)).append('\n');
    }
  }

  /**
   * Parameters with one value in all cases that have them, if more than one case has them and no
   * other case of the same benchmark lacks them: what is left out of a name is a value too.
   */
  private static Set<String> sharedParams(List<CaseResult> cases) {
    Map<String, List<String>> values = new TreeMap<>();
    for (CaseResult c : cases) {
      c.params().forEach((k, v) -> values.computeIfAbsent(k, key -> new ArrayList<>()).add(v));
    }
    values.values().removeIf(list -> list.size() < 2 || Set.copyOf(list).size() > 1);
    for (CaseResult some : cases) {
      for (CaseResult other : cases) {
        if (some.benchmark().equals(other.benchmark())) {
          values.keySet().removeIf(p -> some.param(p).isEmpty() != other.param(p).isEmpty());
        }
      }
    }
    return values.keySet();
  }

  private static String params(CaseResult c, Set<String> shared) {
    return c.params().entrySet().stream()
        .filter(e -> !shared.contains(e.getKey()))
        .map(e -> e.getKey() + "=" + e.getValue())
        .collect(Collectors.joining(" "));
  }

  /** The shared parameters, as the end of a heading. */
  private static String caption(List<CaseResult> cases, Set<String> shared) {
    Map<String, String> values = new TreeMap<>();
    cases.forEach(c -> values.putAll(c.params()));
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
    out.append('\n').append(Printable.line(heading)).append('\n').append(table);
    explanation.forEach(line -> out.append("  ").append(line).append('\n'));
    notes.forEach(note -> out.append("  note: ").append(Printable.line(note)).append('\n'));
  }
}
