package io.musabench.results.report;

import io.musabench.results.compare.Comparison;
import io.musabench.results.compare.ComparisonReport;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.Params;
import io.musabench.results.run.Roofs;
import io.musabench.results.run.RunData;
import io.musabench.results.serving.Metric;
import io.musabench.results.serving.Stat;
import io.musabench.results.serving.Summary;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;

/** The short form of a report, for a comment on a change: what matters, the rest folded away. */
public final class MarkdownReport {
  private final StringBuilder out = new StringBuilder();

  private MarkdownReport() {}

  /**
   * The report.
   *
   * @param comparison null if there is none
   */
  public static String of(List<RunData> runs, Comparison comparison, List<Summary> serving) {
    MarkdownReport report = new MarkdownReport();
    if (comparison != null) {
      report.comparison(comparison);
    }
    if (CardsReport.areCards(runs)) {
      report.cards(new CardsReport(runs));
    }
    runs.forEach(report::run);
    report.serving(serving);
    return report.out.toString();
  }

  private void comparison(Comparison comparison) {
    StringWriter text = new StringWriter();
    try {
      ComparisonReport.MD.write(comparison, text);
    } catch (IOException e) {
      throw new UncheckedIOException("A StringWriter does not fail", e);
    }
    out.append(text).append('\n');
  }

  private void cards(CardsReport cards) {
    out.append("**Cards of one kind**\n\n");
    cards.verdict().forEach(line -> out.append("- ").append(line).append('\n'));
    out.append('\n');
  }

  private void run(RunData run) {
    Environment e = run.environment();
    long failed = run.cases().stream().filter(c -> !c.ok()).count();
    out.append("**musabench ").append(Markdown.escape(run.name())).append("**: ");
    out.append(run.cases().size()).append(" cases");
    out.append(failed > 0 ? ", **" + failed + " without a number**" : ", all measured and right");
    out.append("\n\n").append(Markdown.escape(known(e.device().name())));
    out.append(", driver ").append(Markdown.escape(known(e.device().driverVersion())));
    String revision = e.git() == null ? null : e.git().revision();
    out.append(", revision ").append(Markdown.escape(known(revision))).append("\n");
    if ("host".equals(e.target())) {
      out.append("\nThe device is that machine's CPU: no number below is a GPU's.\n");
    }
    Disturbances.of(run)
        .forEach(w -> out.append("\nwarning: ").append(Markdown.escape(w)).append('\n'));
    failures(run);
    steps(run);
    tpot(run);
    kernels(run);
    out.append('\n');
  }

  private static String known(String text) {
    return text == null ? "unknown" : text;
  }

  private void failures(RunData run) {
    Markdown table = new Markdown("without a number", "status", "reason");
    for (CaseResult c : run.cases()) {
      if (!c.ok()) {
        table.row(c.id(), c.status().text(), c.reason());
      }
    }
    add("", table);
  }

  private void steps(RunData run) {
    Markdown table =
        new Markdown("step", "model", "batch", "mode", ">latency", ">10 %", ">90 %", ">kernels");
    for (CaseResult c : run.measured(CaseResult.STEP)) {
      table.row(
          RunReport.phase(c),
          RunReport.model(c),
          c.param(Params.BATCH),
          c.param(Params.MODE),
          Units.time(c.deviceTimeMedianUs()),
          Units.time(c.deviceTimeP10Us()),
          Units.time(c.deviceTimeP90Us()),
          Integer.toString(c.kernels()));
    }
    add("Steps, measured", table);
  }

  private void tpot(RunData run) {
    Markdown table =
        new Markdown("model", "mode", ">in flight", ">context", ">TPOT", ">TTFT", ">tokens/s");
    for (ServedDecode served : ServedDecode.of(run.measured(CaseResult.STEP))) {
      table.row(
          RunReport.model(served.decode()),
          served.decode().param(Params.MODE),
          Integer.toString(served.batch().size()),
          Integer.toString(served.batch().maxKv()),
          served.tpot(),
          served.ttft(),
          served.saturated()
              ? Units.NOTHING
              : Units.number(served.prediction().outputTokensPerSecond()));
    }
    add("TPOT, *predicted* from the measured steps", table);
  }

  private void kernels(RunData run) {
    Markdown table = new Markdown("case", ">device", ">GB/s", ">TFLOP/s", ">of roof");
    Roofs roofs = run.roofs();
    for (CaseResult c : run.cases()) {
      if (c.ok() && !c.group().equals(CaseResult.STEP)) {
        Roofs.Share share = roofs.share(c);
        table.row(
            c.id(),
            Units.time(c.deviceTimeMedianUs()),
            Units.number(c.gbPerS()),
            Units.number(c.tflopPerS()),
            share == null ? Units.NOTHING : Units.percent(share.percent()));
      }
    }
    if (!table.isEmpty()) {
      out.append("\n<details><summary>other cases</summary>\n\n").append(table);
      out.append("\n</details>\n");
    }
  }

  private void serving(List<Summary> summaries) {
    Markdown table =
        new Markdown(
            "file", ">req/s", ">goodput", ">TTFT p50", ">p99", ">TPOT p50", ">p99", "checklist");
    for (Summary s : summaries) {
      table.row(
          s.run().source(),
          Units.number(s.requestsPerS()),
          Units.number(s.goodput().requestsPerS()),
          time(s.stat(Metric.TTFT), false),
          time(s.stat(Metric.TTFT), true),
          time(s.stat(Metric.TPOT), false),
          time(s.stat(Metric.TPOT), true),
          s.checklistPasses() ? "passes" : "does not pass");
    }
    add("Serving results", table);
  }

  private static String time(Stat stat, boolean tail) {
    return stat == null ? Units.NOTHING : Units.time(1e3 * (tail ? stat.p99() : stat.p50()));
  }

  private void add(String title, Markdown table) {
    if (!table.isEmpty()) {
      out.append(title.isEmpty() ? "\n" : "\n" + title + "\n\n").append(table);
    }
  }
}
