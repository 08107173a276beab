package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.Printable;
import io.musabench.results.devices.DataSheet;
import io.musabench.results.devices.Figure;
import io.musabench.results.model.ElementType;
import io.musabench.results.report.JsonText;
import io.musabench.results.report.TextTable;
import io.musabench.results.report.Units;
import io.musabench.results.tpot.Bound;
import io.musabench.results.tpot.ClosedLoop;
import io.musabench.results.tpot.Prediction;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.StepTime;
import io.musabench.results.tpot.Term;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.kernels.KernelSource;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The same service on another device: each operation keeps the share of its roof, the roofs are
 * those of the other device's data sheet, launching costs the host the same. Everything in it is a
 * prediction.
 */
public final class WhatIf {
  /** Raised when a field changes its meaning or goes away; new fields do not raise it. */
  public static final int SCHEMA_VERSION = 1;

  private static final int MOST_OPERATIONS = 40;

  private final DataSheet fromSheet;
  private final DataSheet toSheet;
  private final Setup from;
  private final Setup to;
  private final List<String> assumptions = new ArrayList<>();
  private final List<Pair> pairs = new ArrayList<>();

  /** One load on both devices. */
  public record Pair(Prediction from, Prediction to) {}

  /**
   * An operation on both devices.
   *
   * @param phase {@code decode} or {@code prefill}
   * @param from the operation where it comes from
   * @param to the same call on the other device, where another batch may run
   * @param utilisation share of its roof, of both; NaN if a roof is not known
   */
  public record Carried(String phase, Term from, Term to, double utilisation) {
    /** Whether another roof limits it there. */
    public boolean flips() {
      return from.bound() != to.bound();
    }
  }

  /**
   * Predicts both.
   *
   * @param source kernel times; null: every kernel reaches {@code utilisation} of its roof
   * @throws IllegalArgumentException if a roof that is needed is not known, or the model does not
   *     fit
   */
  public WhatIf(
      Setup.Request asked,
      KernelSource source,
      double utilisation,
      DataSheet fromSheet,
      DataSheet toSheet,
      List<Workload> workloads) {
    this.fromSheet = fromSheet;
    this.toSheet = toSheet;
    assumptions.add(
        "everything here is predicted, and nothing of it was measured on " + toSheet.name());
    if (source == null) {
      assumptions.add(
          String.format(
              Locale.ROOT,
              "no kernel times were given: every kernel reaches %.0f %% of its roof",
              100 * utilisation));
      this.from = Setup.of(asked, assumed(fromSheet, utilisation));
      this.to = Setup.of(asked, assumed(toSheet, utilisation));
    } else {
      assumptions.add(
          String.format(
              Locale.ROOT,
              "each operation reaches the share of its roof that it reaches in %s, to %.0f %%;"
                  + " kernels bound by latency are carried over likewise",
              source.name(),
              100 * CarriedSource.CARRY_ERROR));
      Basis base = base(source);
      this.from = Setup.of(asked, carried(source, base, fromSheet));
      this.to = Setup.of(asked, carried(source, base, toSheet));
    }
    assumptions.add("launching costs the host the same on both");
    uncertain(fromSheet);
    uncertain(toSheet);
    for (Workload w : workloads) {
      pairs.add(
          new Pair(
              ClosedLoop.predictWithInterval(from.model(), w),
              ClosedLoop.predictWithInterval(to.model(), w)));
    }
    for (Setup s : List.of(from, to)) {
      s.assumptionsAfter().stream()
          .filter(a -> !assumptions.contains(a))
          // Without kernel times that is every kernel, and said above.
          .filter(a -> source != null || !a.startsWith("nobody measured"))
          .forEach(assumptions::add);
    }
  }

  private static KernelSource assumed(DataSheet sheet, double utilisation) {
    return new AssumedSource(Setup.roofs(sheet), utilisation, sheet.name());
  }

  /**
   * The roofs of which the kernels' shares are taken: of a data sheet, as those that they are
   * applied to, wherever there is one. A kernel may reach all of a roof that was measured, but
   * never all of what a data sheet says.
   */
  private Basis base(KernelSource source) {
    String device = source.device().orElse(null);
    Basis own = new Basis(source.roofs(), null);
    if (source.roofs().provenance() == Provenance.DATA_SHEET) {
      return own;
    }
    if (device == null && source.roofs().provenance() == Provenance.ASSUMED) {
      assumptions.add(
          "no device is named beside the kernel times: they are taken as those of "
              + fromSheet.name());
      return Basis.of(fromSheet);
    }
    Optional<DataSheet> sheet =
        device == null
            ? Optional.empty()
            : Stream.concat(Stream.of(fromSheet, toSheet), DataSheet.shipped().stream())
                .filter(s -> s.isOf(device))
                .findFirst();
    if (sheet.isEmpty()) {
      assumptions.add(
          "shares of the roof are not of a data sheet, because there is none of "
              + (device == null ? "the device that was measured" : device)
              + ": they are of what was measured there");
    }
    return sheet.map(Basis::of).orElse(own);
  }

  private static KernelSource carried(KernelSource source, Basis base, DataSheet sheet) {
    Basis to = Basis.of(sheet);
    boolean same =
        near(base.roofs().readGbPerS(), to.roofs().readGbPerS())
            && near(
                base.roofs().tflopPerS(ElementType.BF16), to.roofs().tflopPerS(ElementType.BF16));
    // Times of that very device need not be carried anywhere.
    return new CarriedSource(source, same ? to : base, to, sheet.name());
  }

  private static boolean near(double a, double b) {
    return Math.abs(a - b) <= 0.01 * b;
  }

  private void uncertain(DataSheet sheet) {
    for (Map.Entry<String, Figure> f : sheet.figures().entrySet()) {
      if (f.getValue().confidence() == Figure.Confidence.ASSUMED) {
        assumptions.add(
            sheet.name()
                + ", "
                + f.getKey()
                + " "
                + Units.number(f.getValue().value())
                + ": "
                + f.getValue().source());
      }
    }
  }

  /** Whether the side that it comes from is predicted from kernel times of that very device. */
  boolean fromOwnKernels() {
    return from.model().times().source() instanceof CarriedSource carried && carried.own();
  }

  /** Both predictions of each load. */
  public List<Pair> pairs() {
    return List.copyOf(pairs);
  }

  /** The operations of both phases on both devices. */
  public List<Carried> operations(Pair pair) {
    List<Carried> all = new ArrayList<>();
    carried("decode", pair.from().decodeStep(), all);
    carried("prefill", pair.from().prefillStep(), all);
    return all;
  }

  private void carried(String phase, StepTime step, List<Carried> all) {
    Set<String> seen = new LinkedHashSet<>();
    for (Term t : step.terms()) {
      // The first of a role: two shapes of one role differ in nothing that matters here.
      if (seen.add(t.role())) {
        double share =
            t.time().seconds() == 0 ? Double.NaN : from.model().roof(t) / t.time().seconds();
        all.add(new Carried(phase, t, to.model().again(t), share));
      }
    }
  }

  private List<String> flips(Pair pair) {
    List<String> flips = new ArrayList<>();
    Bound here = pair.from().decodeStep().bound();
    Bound there = pair.to().decodeStep().bound();
    if (here != there) {
      flips.add("the whole decode step: " + here.text() + " -> " + there.text());
    }
    for (Carried c : operations(pair)) {
      if (c.flips()) {
        flips.add(
            c.phase()
                + " "
                + c.from().role()
                + ": "
                + c.from().bound().text()
                + " -> "
                + c.to().bound().text());
      }
    }
    return flips;
  }

  /** For a terminal. */
  public String text() {
    StringBuilder out = new StringBuilder();
    out.append(PredictionReport.heading(from));
    out.append("\nPREDICTED: ").append(fromSheet.name()).append(" and ").append(toSheet.name());
    out.append(", from kernels carried over by their share of the roof\n");
    TextTable table =
        new TextTable(
            ">in flight",
            "device",
            ">TPOT",
            ">90 %, kernels only",
            ">TTFT",
            ">req/s",
            ">decode step",
            ">prefill",
            "bound");
    for (Pair pair : pairs) {
      row(table, fromSheet, pair.from());
      row(table, toSheet, pair.to());
    }
    out.append(table);
    for (Pair pair : pairs) {
      out.append("  ").append(pair.from().workload().concurrency()).append(" in flight: TPOT x");
      out.append(Units.number(ratio(pair)));
      List<String> flips = flips(pair);
      out.append(
          flips.isEmpty() ? "; no operation changes what binds it" : "; now bound otherwise: ");
      out.append(String.join(", ", flips)).append('\n');
    }
    if (pairs.size() == 1) {
      operations(out, pairs.get(0));
    }
    assumptions.forEach(a -> out.append("  assumed: ").append(Printable.line(a)).append('\n'));
    return out.toString();
  }

  private static double ratio(Pair pair) {
    return pair.to().tpot().value() / pair.from().tpot().value();
  }

  private static void row(TextTable table, DataSheet sheet, Prediction p) {
    table.row(
        Integer.toString(p.workload().concurrency()),
        sheet.name(),
        PredictionReport.time(p.tpot().value()),
        PredictionReport.time(p.tpot().low()) + " - " + PredictionReport.time(p.tpot().high()),
        PredictionReport.time(p.ttftStaggered().value())
            + " - "
            + PredictionReport.time(p.ttftBurst().value()),
        Units.number(p.requestsPerSecond()),
        PredictionReport.time(p.decodeStep().seconds()),
        PredictionReport.time(p.prefillStep().seconds()),
        p.state() == Prediction.State.OK
            ? p.bound().text()
            : p.bound().text() + ", " + p.state().name().toLowerCase(Locale.ROOT));
  }

  private void operations(StringBuilder out, Pair pair) {
    TextTable table =
        new TextTable(
            "phase",
            "operation",
            ">of roof",
            ">" + fromSheet.name(),
            ">" + toSheet.name(),
            ">ratio",
            "bound",
            "there");
    operations(pair).stream()
        .limit(MOST_OPERATIONS)
        .forEach(
            c ->
                table.row(
                    c.phase(),
                    c.from().role(),
                    Units.percent(100 * c.utilisation()),
                    PredictionReport.time(c.from().time().seconds()),
                    PredictionReport.time(c.to().time().seconds()),
                    Units.number(c.to().time().seconds() / c.from().time().seconds()),
                    c.from().bound().text(),
                    c.to().bound().text() + (c.flips() ? " (flips)" : "")));
    out.append("\nOne call of each operation\n").append(table);
  }

  /** As JSON. */
  public String json() {
    return JsonText.print(tree());
  }

  /** The same as a tree. */
  public ObjectNode tree() {
    ObjectNode root = JsonText.root(SCHEMA_VERSION);
    root.put("prediction", true);
    root.put("interval", PredictionReport.INTERVAL);
    root.put("from_own_kernels", fromOwnKernels());
    PredictionReport.head(root, from);
    device(root.putObject("from"), fromSheet);
    device(root.putObject("to"), toSheet);
    ArrayNode rows = root.putArray("rows");
    Set<String> seen = new LinkedHashSet<>();
    ArrayNode flips = root.putArray("flips");
    for (Pair pair : pairs) {
      ObjectNode node = rows.addObject();
      node.put("concurrency", pair.from().workload().concurrency());
      prediction(node.putObject("from"), pair.from());
      prediction(node.putObject("to"), pair.to());
      JsonText.number(node, "tpot_ratio", ratio(pair));
      JsonText.number(
          node,
          "throughput_ratio",
          pair.to().requestsPerSecond() / pair.from().requestsPerSecond());
      node.put("from_step_bound", pair.from().decodeStep().bound().text());
      node.put("to_step_bound", pair.to().decodeStep().bound().text());
      JsonText.texts(node, "flips", flips(pair));
      ArrayNode operations = node.putArray("operations");
      for (Carried c : operations(pair)) {
        ObjectNode one = operations.addObject();
        one.put("phase", c.phase());
        one.put("role", c.from().role());
        JsonText.number(one, "utilisation", c.utilisation());
        JsonText.number(one, "from_us", 1e6 * c.from().time().seconds());
        JsonText.number(one, "to_us", 1e6 * c.to().time().seconds());
        one.put("from_provenance", c.from().time().provenance().text());
        one.put("to_provenance", c.to().time().provenance().text());
        one.put("from_bound", c.from().bound().text());
        one.put("to_bound", c.to().bound().text());
        one.put("flips", c.flips());
        if (c.flips()
            && seen.add(
                pair.from().workload().concurrency() + " " + c.phase() + " " + c.from().role())) {
          ObjectNode flip = flips.addObject();
          flip.put("concurrency", pair.from().workload().concurrency());
          flip.put("phase", c.phase());
          flip.put("role", c.from().role());
          flip.put("from_bound", c.from().bound().text());
          flip.put("to_bound", c.to().bound().text());
        }
      }
    }
    JsonText.texts(root, "assumptions", assumptions);
    return root;
  }

  private static void device(ObjectNode node, DataSheet sheet) {
    node.put("name", sheet.name());
    ObjectNode figures = node.putObject("figures");
    sheet
        .figures()
        .forEach(
            (name, figure) -> {
              ObjectNode one = figures.putObject(name);
              JsonText.number(one, "value", figure.value());
              one.put("source", figure.source());
              one.put("confidence", figure.confidence().name().toLowerCase(Locale.ROOT));
            });
  }

  private static void prediction(ObjectNode node, Prediction p) {
    JsonText.number(node, "tpot_ms", 1e3 * p.tpot().value());
    JsonText.number(node, "tpot_low_ms", 1e3 * p.tpot().low());
    JsonText.number(node, "tpot_high_ms", 1e3 * p.tpot().high());
    JsonText.number(node, "ttft_staggered_ms", 1e3 * p.ttftStaggered().value());
    JsonText.number(node, "ttft_burst_ms", 1e3 * p.ttftBurst().value());
    JsonText.number(node, "requests_per_s", p.requestsPerSecond());
    JsonText.number(node, "decode_step_ms", 1e3 * p.decodeStep().seconds());
    JsonText.number(node, "prefill_step_ms", 1e3 * p.prefillStep().seconds());
    node.put("state", p.state().name().toLowerCase(Locale.ROOT));
    node.put("remark", p.remark());
    node.put("bound", p.bound().text());
    node.put("host_bound", p.decodeStep().hostBound());
    node.put("provenance", p.provenance().text());
  }
}
