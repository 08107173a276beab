package io.musabench.results.serving;

import io.musabench.results.Printable;
import java.io.PrintWriter;
import java.util.Comparator;
import java.util.List;

/** The comparison for a terminal. */
final class ComparisonText {
  private static final String ROW = "  %-36s %9s %9s %9s %9s %9s %10s %9s %9s%n";

  private ComparisonText() {}

  static void print(List<Comparison.Row> rows, PrintWriter out) {
    out.println("Comparison (ms; one definition a column)");
    out.printf(
        ROW,
        "run",
        "TTFT p50",
        "TTFT p99",
        "TPOT p50",
        "TPOT p99",
        "ITL p99",
        "E2E p50",
        "req/s",
        "good/s");
    for (Comparison.Row row : rows) {
      Summary s = row.summary();
      String name = Printable.line(s.run.source);
      out.printf(
          ROW,
          name.length() > 36 ? "…" + name.substring(name.length() - 35) : name,
          p50(row, Metric.TTFT),
          p99(row, Metric.TTFT),
          p50(row, Metric.TPOT),
          p99(row, Metric.TPOT),
          p99(row, Metric.ITL),
          p50(row, Metric.E2E),
          Text.number(s.requestsPerS),
          Text.number(s.goodput.requestsPerS()));
      for (String why : row.blanked()) {
        out.println("      not comparable: " + Printable.line(why));
      }
      row.remarks().forEach(remark -> out.println("      note: " + Printable.line(remark)));
    }
    sustained(rows, out);
  }

  /**
   * The other thing that is called goodput: the highest rate that a service bears with at least
   * nine in ten requests inside the limits (DistServe's definition, for one set of GPUs).
   */
  private static void sustained(List<Comparison.Row> rows, PrintWriter out) {
    rows.stream()
        .map(Comparison.Row::summary)
        .filter(s -> s.goodput.share() >= 0.9 && s.requestsPerS > 0)
        .max(Comparator.comparingDouble(s -> s.requestsPerS))
        .ifPresent(
            s ->
                out.printf(
                    "highest rate with at least 90 %% of the requests good: %s req/s in %s%n",
                    Text.number(s.requestsPerS), Printable.line(s.run.source)));
  }

  private static String p50(Comparison.Row row, Metric metric) {
    Stat s = row.stat(metric);
    return s == null ? "n/c" : Text.number(s.p50);
  }

  private static String p99(Comparison.Row row, Metric metric) {
    Stat s = row.stat(metric);
    return s == null ? "n/c" : Text.number(s.p99);
  }
}
