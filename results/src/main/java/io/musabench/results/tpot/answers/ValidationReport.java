package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.Printable;
import io.musabench.results.report.JsonText;
import io.musabench.results.report.TextTable;
import io.musabench.results.report.Units;
import io.musabench.results.tpot.Errors;
import io.musabench.results.tpot.HostTerms;
import io.musabench.results.tpot.Prediction;
import io.musabench.results.tpot.Validation;
import io.musabench.results.tpot.Validation.Cell;
import io.musabench.results.tpot.Validation.Line;
import io.musabench.results.tpot.Validation.Report;
import io.musabench.results.tpot.Validation.Split;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.kernels.KernelTimes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** A validation as text and as JSON. */
public final class ValidationReport {
  /** Raised when a field changes its meaning or goes away; new fields do not raise it. */
  public static final int SCHEMA_VERSION = 1;

  private static final int WORST = 8;

  private final String file;
  private final KernelTimes times;
  private final String engine;
  private final Report report;
  private final List<Split> splits;
  private final List<String> assumptions;

  /**
   * A report.
   *
   * @param file name of the table of measurements
   * @param times kernel times
   * @param engine the settings of the engine in words
   * @param validation what compares
   * @param report what came out
   * @param assumptions in words
   */
  public ValidationReport(
      String file,
      KernelTimes times,
      String engine,
      Validation validation,
      Report report,
      List<String> assumptions) {
    this.file = file;
    this.times = times;
    this.engine = engine;
    this.report = report;
    this.splits = validation.splits(report);
    this.assumptions = List.copyOf(assumptions);
  }

  /** For a terminal. */
  public String text() {
    StringBuilder out = new StringBuilder();
    out.append(Printable.line(file + " against kernel times of " + times.source().name()));
    out.append("\nengine: ").append(engine).append("\n\n");
    headline(out);
    TextTable table = new TextTable("prediction", ">rows", ">MAPE", ">bias", ">P90");
    boolean some = report.possible().rows() < report.tpot().rows();
    row(table, some ? "TPOT, rows that can be what they say" : "TPOT", report.possible());
    if (report.asGiven().rows() < report.possible().rows()) {
      row(table, "  without those taken in fp8", report.asGiven());
    }
    row(table, "baseline: kernel sum alone", baseline(Line::kernelSum));
    row(table, "baseline: roofline alone", baseline(Line::roofline));
    if (some) {
      row(table, "TPOT, all rows", report.tpot());
      row(table, "  kernel sum alone", report.kernelSum());
      row(table, "  roofline alone", report.roofline());
    }
    row(table, "TTFT, geometric middle of the interval", report.ttft().errors());
    out.append(table);
    out.append("  TTFT: ").append(Units.percent(100 * report.ttft().inside())).append(" of ");
    out.append(report.ttft().errors().rows());
    out.append(" unsaturated rows lie between staggered and burst arrivals\n");
    if (!splits.isEmpty()) {
      TextTable split =
          new TextTable(
              "host costs from",
              ">a step",
              ">a request",
              ">rows",
              ">MAPE",
              ">tried on",
              ">MAPE",
              ">bias");
      for (Split s : splits) {
        HostTerms t = s.terms();
        split.row(
            "TP" + s.tp(),
            plusMinus(t.gapSeconds(), t.gapError()),
            plusMinus(t.perRequestSeconds(), t.perRequestError()),
            Integer.toString(s.estimated().rows()),
            percent(s.estimated().mape()),
            s.tried().rows() + " rows of the others",
            percent(s.tried().mape()),
            Units.change(100 * s.tried().bias()));
      }
      out.append("\nHost costs estimated on one number of ranks, tried on the others\n");
      out.append(split);
    }
    TextTable cells = new TextTable("TP", ">input", ">rows", ">MAPE", ">bias", ">P90");
    for (Cell c : report.cells()) {
      cells.row(
          Integer.toString(c.tp()),
          Integer.toString(c.inputTokens()),
          Integer.toString(c.errors().rows()),
          percent(c.errors().mape()),
          Units.change(100 * c.errors().bias()),
          percent(c.errors().p90()));
    }
    out.append("\nTPOT by ranks and prompt length, without rows set aside\n").append(cells);
    TextTable worst =
        new TextTable(
                ">line",
                "model",
                ">TP",
                ">input",
                ">output",
                ">in flight",
                ">measured",
                ">predicted",
                ">90 %",
                ">error",
                "state",
                "from")
            .uncut();
    for (Line l : report.worst(WORST)) {
      Workload w = l.row().workload();
      worst.row(
          Long.toString(l.row().line()),
          l.row().model(),
          Integer.toString(l.row().tp()),
          Integer.toString(w.inputTokens()),
          Integer.toString(w.outputTokens()),
          Integer.toString(w.concurrency()),
          PredictionReport.time(l.row().tpotSeconds()),
          PredictionReport.time(l.prediction().tpot().value()),
          PredictionReport.range(l.prediction().tpot()),
          Units.change(100 * l.error()),
          l.setAside().isEmpty() ? state(l) : "set aside",
          l.prediction().provenance().text());
    }
    out.append("\nWorst rows\n").append(worst);
    for (Line l : report.lines()) {
      if (!l.setAside().isEmpty()) {
        out.append("  set aside: line ").append(l.row().line()).append(": ");
        out.append(Printable.line(l.setAside())).append('\n');
      }
    }
    out.append(LookupReport.text(times.source()));
    assumed().forEach(a -> out.append("  assumed: ").append(Printable.line(a)).append('\n'));
    return out.toString();
  }

  /** The assumptions of the kernel times and of the engine, after those of single rows. */
  private List<String> assumed() {
    List<String> all = new ArrayList<>();
    for (Line l : report.lines()) {
      if (!l.narrowed().isEmpty()) {
        all.add("line " + l.row().line() + ": " + l.narrowed());
      }
    }
    all.addAll(assumptions);
    return all;
  }

  private void headline(StringBuilder out) {
    int set = report.tpot().rows() - report.possible().rows();
    out.append("TPOT, nothing fitted: MAPE ");
    if (set > 0) {
      out.append(percent(report.possible().mape())).append(" over the ");
      out.append(report.possible().rows()).append(" rows that can be what they say, ");
    }
    out.append(percent(report.tpot().mape())).append(" over all ");
    out.append(report.tpot().rows()).append(" rows\n");
    int narrowed = report.possible().rows() - report.asGiven().rows();
    if (narrowed > 0) {
      out.append("  of these ").append(narrowed).append(" name no precision and are taken in fp8,");
      out.append(" because at least half of their series is too fast for bf16;\n  without them ");
      out.append(percent(report.asGiven().mape())).append(" over ");
      out.append(report.asGiven().rows()).append(" rows\n");
    }
    if (set > 0 || narrowed > 0) {
      out.append("  ").append(Validation.SET_ASIDE_RULE.replace("; ", ";\n  ")).append('\n');
    }
    List<Line> lines = withInterval(true);
    long inside = lines.stream().filter(Line::tpotInside).count();
    out.append("  the 90 % interval of TPOT (").append(Estimates.COVERED);
    out.append(") holds ").append(inside).append(" of ").append(lines.size());
    out.append(" measured values\n\n");
  }

  private List<Line> withInterval(boolean comparable) {
    return report.lines().stream()
        .filter(l -> l.prediction().tpot().hasInterval())
        .filter(l -> !comparable || l.setAside().isEmpty())
        .toList();
  }

  private void coverage(ObjectNode node, boolean comparable) {
    List<Line> lines = withInterval(comparable);
    double inside = lines.stream().filter(Line::tpotInside).count();
    JsonText.number(
        node, "interval_coverage", lines.isEmpty() ? Double.NaN : inside / lines.size());
    node.put("interval", Estimates.COVERED);
  }

  /** Errors of a simpler prediction over the rows that are not set aside. */
  private Errors baseline(ToDoubleFunction<Line> seconds) {
    return Errors.of(
        report.lines().stream()
            .filter(l -> l.setAside().isEmpty())
            .map(l -> seconds.applyAsDouble(l) / l.row().tpotSeconds() - 1)
            .toList());
  }

  private static String state(Line l) {
    return l.prediction().state().name().toLowerCase(Locale.ROOT);
  }

  private static String plusMinus(double seconds, double error) {
    return PredictionReport.time(seconds) + " +- " + PredictionReport.time(error);
  }

  private static void row(TextTable table, String name, Errors e) {
    table.row(
        name,
        Integer.toString(e.rows()),
        percent(e.mape()),
        Units.change(100 * e.bias()),
        percent(e.p90()));
  }

  private static String percent(double share) {
    return Units.percent(100 * share);
  }

  /** As JSON. */
  public String json() {
    ObjectNode root = JsonText.root(SCHEMA_VERSION);
    root.put("file", file);
    root.putObject("kernels").put("name", times.source().name());
    root.put("engine", engine);
    root.put("fitted_constants", 0);
    ObjectNode comparable = root.putObject("tpot");
    errors(comparable, report.possible());
    coverage(comparable, true);
    errors(root.putObject("tpot_as_given"), report.asGiven());
    ObjectNode all = root.putObject("tpot_all_rows");
    errors(all, report.tpot());
    coverage(all, false);
    root.put("rows_of_assumed_precision", report.possible().rows() - report.asGiven().rows());
    root.put("set_aside_rule", Validation.SET_ASIDE_RULE);
    ObjectNode ttft = root.putObject("ttft");
    errors(ttft, report.ttft().errors());
    JsonText.number(ttft, "inside_share", report.ttft().inside());
    ObjectNode baselines = root.putObject("baselines");
    errors(baselines.putObject("kernel_sum"), baseline(Line::kernelSum));
    errors(baselines.putObject("roofline"), baseline(Line::roofline));
    errors(baselines.putObject("kernel_sum_all_rows"), report.kernelSum());
    errors(baselines.putObject("roofline_all_rows"), report.roofline());
    ArrayNode excluded = root.putArray("excluded");
    for (Line l : report.lines()) {
      if (!l.setAside().isEmpty()) {
        ObjectNode node = excluded.addObject();
        node.put("line", l.row().line());
        node.put("reason", l.setAside());
      }
    }
    ArrayNode fits = root.putArray("splits");
    for (Split s : splits) {
      ObjectNode node = fits.addObject();
      node.put("estimated_on_tp", s.tp());
      JsonText.number(node, "gap_ms", 1e3 * s.terms().gapSeconds());
      JsonText.number(node, "gap_error_ms", 1e3 * s.terms().gapError());
      JsonText.number(node, "per_request_us", 1e6 * s.terms().perRequestSeconds());
      JsonText.number(node, "per_request_error_us", 1e6 * s.terms().perRequestError());
      errors(node.putObject("estimated"), s.estimated());
      errors(node.putObject("tried"), s.tried());
    }
    ArrayNode cells = root.putArray("cells");
    for (Cell c : report.cells()) {
      ObjectNode node = cells.addObject();
      node.put("tp", c.tp());
      node.put("input_tokens", c.inputTokens());
      errors(node, c.errors());
    }
    ArrayNode rows = root.putArray("rows");
    report.lines().forEach(l -> line(rows.addObject(), l));
    ArrayNode worst = root.putArray("worst");
    report.worst(WORST).forEach(l -> line(worst.addObject(), l));
    LookupReport.json(root, times.source());
    JsonText.texts(root, "assumptions", assumed());
    return JsonText.print(root);
  }

  private static void errors(ObjectNode node, Errors e) {
    node.put("rows", e.rows());
    JsonText.number(node, "mape_pct", 100 * e.mape());
    JsonText.number(node, "bias_pct", 100 * e.bias());
    JsonText.number(node, "p90_pct", 100 * e.p90());
  }

  private static void line(ObjectNode node, Line l) {
    Workload w = l.row().workload();
    Prediction p = l.prediction();
    node.put("line", l.row().line());
    node.put("model", l.row().model());
    node.put("tp", l.row().tp());
    node.put("isl", w.inputTokens());
    node.put("osl", w.outputTokens());
    node.put("concurrency", w.concurrency());
    JsonText.number(node, "measured_tpot_ms", 1e3 * l.row().tpotSeconds());
    Estimates.json(node, "predicted_tpot", "_ms", 1e3, p.tpot());
    node.put("tpot_in_interval", l.tpotInside());
    JsonText.number(node, "error_pct", 100 * l.error());
    JsonText.number(node, "measured_ttft_ms", 1e3 * l.row().ttftSeconds());
    JsonText.number(node, "predicted_ttft_staggered_ms", 1e3 * p.ttftStaggered().value());
    JsonText.number(node, "predicted_ttft_burst_ms", 1e3 * p.ttftBurst().value());
    JsonText.number(node, "predicted_ttft_low_ms", 1e3 * p.ttftStaggered().low());
    JsonText.number(node, "predicted_ttft_high_ms", 1e3 * p.ttftBurst().high());
    if (l.hasTtft()) {
      node.put("ttft_inside", l.ttftInside());
    } else {
      node.putNull("ttft_inside");
    }
    JsonText.number(node, "kernel_sum_ms", 1e3 * l.kernelSum());
    JsonText.number(node, "roofline_ms", 1e3 * l.roofline());
    Estimates.json(node, "requests_per_s", "", 1, p.throughput());
    node.put("state", state(l));
    node.put("saturated", l.saturated());
    node.put("bound", p.bound().text());
    node.put("provenance", p.provenance().text());
    node.put("precision", l.precision().toString());
    node.put("precision_assumed", l.narrowed());
    node.put("set_aside", l.setAside());
  }
}
