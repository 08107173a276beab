package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.Printable;
import io.musabench.results.devices.DataSheet;
import io.musabench.results.devices.Figure;
import io.musabench.results.model.ElementType;
import io.musabench.results.model.ModelOperations;
import io.musabench.results.model.Precision;
import io.musabench.results.report.JsonText;
import io.musabench.results.report.TextTable;
import io.musabench.results.report.Units;
import io.musabench.results.tpot.Bound;
import io.musabench.results.tpot.ClosedLoop;
import io.musabench.results.tpot.Estimate;
import io.musabench.results.tpot.Intervals;
import io.musabench.results.tpot.Intervals.Cause;
import io.musabench.results.tpot.Intervals.Numbers;
import io.musabench.results.tpot.Prediction;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.StepModel;
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

  /** What intervals cover here. */
  static final String INTERVAL =
      "kernel times and clocks; that shares of the roof carry over, the figures of data sheets, host"
          + " gap, scheduler not in it";

  private static final int MOST_OPERATIONS = 40;

  private final DataSheet fromSheet;
  private final DataSheet toSheet;
  private final Setup from;
  private final Setup to;
  private final List<String> assumptions = new ArrayList<>();
  private final List<Pair> pairs = new ArrayList<>();

  /**
   * One load on both devices.
   *
   * @param tpotRatio TPOT there over TPOT here: what the error of a kernel does to both is not in
   *     its interval
   * @param throughputRatio the same of requests a second; the interval holds requests that come one
   *     by one and all at once
   * @param operations those of both phases
   */
  public record Pair(
      Prediction from,
      Prediction to,
      Estimate tpotRatio,
      Estimate throughputRatio,
      List<Carried> operations) {
    /** Copies the list. */
    public Pair {
      operations = List.copyOf(operations);
    }
  }

  /**
   * An operation on both devices.
   *
   * @param phase {@code decode} or {@code prefill}
   * @param from the operation where it comes from
   * @param to the same call on the other device, where another batch may run
   * @param utilisation share of its roof, of both; NaN if a roof is not known, or if it is
   *     contained in another operation
   * @param fromSeconds time of one call where it comes from
   * @param toSeconds time there
   * @param ratio of these two
   */
  public record Carried(
      String phase,
      Term from,
      Term to,
      Estimate utilisation,
      Estimate fromSeconds,
      Estimate toSeconds,
      Estimate ratio) {
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
              "each operation reaches the share of its roof that it reaches in %s, which nobody"
                  + " measured there and no interval contains; kernels bound by latency are carried"
                  + " over likewise",
              source.name()));
      Basis base = base(source);
      this.from = Setup.of(asked, carried(source, base, fromSheet));
      this.to = Setup.of(asked, carried(source, base, toSheet));
    }
    assumptions.add("launching costs the host the same on both");
    uncertain(fromSheet);
    uncertain(toSheet);
    for (Workload w : workloads) {
      pairs.add(
          pair(
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

  /**
   * Compares the devices under errors that they share: a kernel's share of the roof is the same
   * number on both, so they are off together. The clock of each is its own.
   */
  private Pair pair(Prediction here, Prediction there) {
    StepModel a = from.model();
    StepModel b = to.model();
    List<Term> terms = new ArrayList<>();
    List<String> phases = new ArrayList<>();
    once("decode", here.decodeStep(), phases, terms);
    once("prefill", here.prefillStep(), phases, terms);
    List<Term> others = terms.stream().map(b::again).toList();
    Set<String> operations = new LinkedHashSet<>();
    terms.forEach(t -> operations.add(ModelOperations.operation(t.role())));
    List<Cause> causes = new ArrayList<>();
    operations.forEach(o -> causes.add(Cause.operation(o)));
    for (StepModel one : List.of(a, b)) {
      causes.add((model, term) -> model == one ? one.engine().clockError() : 0);
    }
    Numbers numbers =
        moved -> {
          Prediction p = ClosedLoop.predict(moved.of(a), here.workload());
          Prediction q = ClosedLoop.predict(moved.of(b), here.workload());
          double[] all = new double[LOOP + EACH * terms.size()];
          all[0] = q.tpot().value() / p.tpot().value();
          all[1] = q.requestsPerSecond() / p.requestsPerSecond();
          all[2] = q.burstRequestsPerSecond() / p.burstRequestsPerSecond();
          for (int i = 0; i < terms.size(); i++) {
            Term t = terms.get(i);
            double seconds = moved.seconds(a, t) / t.count();
            double other = moved.seconds(b, others.get(i)) / t.count();
            int at = LOOP + EACH * i;
            // What is contained in another operation has no share of its own.
            all[at] = seconds == 0 ? Double.NaN : a.roof(t) / seconds;
            all[at + 1] = seconds;
            all[at + 2] = other;
            all[at + 3] = other / seconds;
          }
          return all;
        };
    List<Estimate> found =
        new Intervals(causes, a, here.decodeStep())
            .of(numbers, here.provenance().worse(there.provenance()));
    Basis roofs = Basis.of(fromSheet);
    List<Carried> carried = new ArrayList<>();
    for (int i = 0; i < terms.size(); i++) {
      Term t = terms.get(i);
      Term u = others.get(i);
      Estimate[] of =
          found.subList(LOOP + EACH * i, LOOP + EACH * (i + 1)).toArray(Estimate[]::new);
      Provenance own = t.time().provenance();
      Provenance other = u.time().provenance();
      Precision precision = a.engine().layout().model().precision(t.role(), a.engine().precision());
      carried.add(
          new Carried(
              phases.get(i),
              t,
              u,
              of[0].within(0, 1).from(own.worse(roofs.provenance(t.call(), precision))),
              of[1].within(a.roof(t), Double.POSITIVE_INFINITY).from(own),
              of[2].within(b.roof(u), Double.POSITIVE_INFINITY).from(other),
              of[3].from(own.worse(other))));
    }
    Estimate rate = found.get(1);
    Estimate burst = found.get(2);
    return new Pair(
        here,
        there,
        found.get(0),
        new Estimate(
            rate.value(),
            Math.min(rate.low(), burst.low()),
            Math.max(rate.high(), burst.high()),
            rate.provenance()),
        carried);
  }

  /** Numbers of a loop before those of its operations, and how many these are. */
  private static final int LOOP = 3;

  private static final int EACH = 4;

  /** The first of each role: two shapes of one role differ in nothing that matters here. */
  private static void once(String phase, StepTime step, List<String> phases, List<Term> terms) {
    Set<String> seen = new LinkedHashSet<>();
    for (Term t : step.terms()) {
      if (seen.add(t.role())) {
        phases.add(phase);
        terms.add(t);
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
    for (Carried c : pair.operations()) {
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
                ">90 %",
                ">TTFT",
                ">req/s",
                ">90 %",
                ">decode step",
                ">90 %",
                ">prefill",
                ">90 %",
                "bound",
                "from")
            .uncut();
    for (Pair pair : pairs) {
      row(table, fromSheet, from, pair.from());
      row(table, toSheet, to, pair.to());
    }
    out.append(table);
    out.append("  90 %: interval, ").append(INTERVAL).append(";\n");
    out.append(
        "  a kernel's share of the roof is off alike on both, so that it cancels in ratios\n");
    for (Pair pair : pairs) {
      out.append("  ").append(pair.from().workload().concurrency()).append(" in flight: TPOT x");
      out.append(ratio(pair.tpotRatio())).append(", req/s x").append(ratio(pair.throughputRatio()));
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

  private static String ratio(Estimate e) {
    return Units.number(e.value()) + " (" + range(e) + ")";
  }

  private static String range(Estimate e) {
    return Double.isNaN(e.value())
        ? Units.NOTHING
        : Units.number(e.low()) + " - " + Units.number(e.high());
  }

  private static void row(TextTable table, DataSheet sheet, Setup setup, Prediction p) {
    Estimate decode = Intervals.step(setup.model(), p.decodeStep()).seconds();
    Estimate prefill = Intervals.step(setup.model(), p.prefillStep()).seconds();
    table.row(
        Integer.toString(p.workload().concurrency()),
        sheet.name(),
        PredictionReport.time(p.tpot().value()),
        PredictionReport.range(p.tpot()),
        PredictionReport.ttft(p),
        Units.number(p.requestsPerSecond()),
        range(p.throughput()),
        PredictionReport.time(decode.value()),
        PredictionReport.range(decode),
        PredictionReport.time(prefill.value()),
        PredictionReport.range(prefill),
        p.state() == Prediction.State.OK
            ? p.bound().text()
            : p.bound().text() + ", " + p.state().name().toLowerCase(Locale.ROOT),
        p.provenance().text());
  }

  private void operations(StringBuilder out, Pair pair) {
    TextTable table =
        new TextTable(
                "phase",
                "operation",
                ">of roof",
                ">90 %",
                ">" + fromSheet.name(),
                ">90 %",
                ">" + toSheet.name(),
                ">90 %",
                ">ratio",
                ">90 %",
                "bound",
                "there",
                "from")
            .uncut();
    pair.operations().stream()
        .limit(MOST_OPERATIONS)
        .forEach(
            c ->
                table.row(
                    c.phase(),
                    c.from().role(),
                    Units.percent(100 * c.utilisation().value()),
                    range(c.utilisation().times(100)),
                    PredictionReport.time(c.fromSeconds().value()),
                    PredictionReport.range(c.fromSeconds()),
                    PredictionReport.time(c.toSeconds().value()),
                    PredictionReport.range(c.toSeconds()),
                    Units.number(c.ratio().value()),
                    range(c.ratio()),
                    c.from().bound().text(),
                    c.to().bound().text() + (c.flips() ? " (flips)" : ""),
                    c.to().time().provenance().text()));
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
    root.put("interval", INTERVAL);
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
      prediction(node.putObject("from"), from, pair.from());
      prediction(node.putObject("to"), to, pair.to());
      Estimates.json(node, "tpot_ratio", "", 1, pair.tpotRatio());
      Estimates.json(node, "throughput_ratio", "", 1, pair.throughputRatio());
      node.put("provenance", pair.tpotRatio().provenance().text());
      node.put("from_step_bound", pair.from().decodeStep().bound().text());
      node.put("to_step_bound", pair.to().decodeStep().bound().text());
      JsonText.texts(node, "flips", flips(pair));
      ArrayNode operations = node.putArray("operations");
      for (Carried c : pair.operations()) {
        ObjectNode one = operations.addObject();
        one.put("phase", c.phase());
        one.put("role", c.from().role());
        Estimates.json(one, "utilisation", "", 1, c.utilisation());
        Estimates.json(one, "from", "_us", 1e6, c.fromSeconds());
        Estimates.json(one, "to", "_us", 1e6, c.toSeconds());
        Estimates.json(one, "ratio", "", 1, c.ratio());
        one.put("utilisation_provenance", c.utilisation().provenance().text());
        one.put("from_provenance", c.fromSeconds().provenance().text());
        one.put("to_provenance", c.toSeconds().provenance().text());
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

  private static void prediction(ObjectNode node, Setup setup, Prediction p) {
    StepModel model = setup.model();
    Estimates.json(node, "tpot", "_ms", 1e3, p.tpot());
    JsonText.number(node, "ttft_staggered_ms", 1e3 * p.ttftStaggered().value());
    JsonText.number(node, "ttft_burst_ms", 1e3 * p.ttftBurst().value());
    JsonText.number(node, "ttft_low_ms", 1e3 * p.ttftStaggered().low());
    JsonText.number(node, "ttft_high_ms", 1e3 * p.ttftBurst().high());
    Estimates.json(node, "requests_per_s", "", 1, p.throughput());
    Estimates.json(
        node, "decode_step", "_ms", 1e3, Intervals.step(model, p.decodeStep()).seconds());
    Estimates.json(
        node, "prefill_step", "_ms", 1e3, Intervals.step(model, p.prefillStep()).seconds());
    node.put("state", p.state().name().toLowerCase(Locale.ROOT));
    node.put("remark", p.remark());
    node.put("bound", p.bound().text());
    node.put("host_bound", p.decodeStep().hostBound());
    node.put("provenance", p.provenance().text());
  }
}
