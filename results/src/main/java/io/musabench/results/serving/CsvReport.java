package io.musabench.results.serving;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;

/** One row a run, units in the column names, empty where unknown. */
final class CsvReport {
  private static final Metric[] METRICS = {Metric.TTFT, Metric.TPOT, Metric.ITL, Metric.E2E};

  private CsvReport() {}

  static void write(List<Summary> summaries, Appendable out) throws IOException {
    List<String> header =
        new ArrayList<>(
            List.of("file", "tool", "basis", "requests", "ok", "error", "cancelled", "duration_s"));
    for (Metric m : METRICS) {
      for (String statistic : List.of("mean", "p50", "p90", "p95", "p99", "min", "max")) {
        header.add(m.id() + "_" + statistic + "_ms");
      }
      header.add(m.id() + "_formula");
    }
    header.addAll(
        List.of(
            "throughput_req_s",
            "output_tokens_per_s",
            "goodput_req_s",
            "goodput_share",
            "goodput_share_low",
            "goodput_share_high",
            "slo_ttft_ms",
            "slo_tpot_ms",
            "not_comparable"));
    CSVPrinter csv =
        new CSVPrinter(out, CSVFormat.DEFAULT.builder().setRecordSeparator('\n').get());
    csv.printRecord(header);
    for (Comparison.Row row : Comparison.of(summaries)) {
      csv.printRecord(row(row));
    }
    csv.flush();
  }

  private static List<Object> row(Comparison.Row r) {
    Summary s = r.summary();
    List<Object> row = new ArrayList<>();
    row.add(s.run.source);
    row.add(s.run.tool);
    row.add(s.run.hasRequests() ? "requests" : "statistics");
    row.add(count(s.total));
    row.add(count(s.ok));
    row.add(count(s.errors));
    row.add(count(s.cancelled));
    row.add(number(s.durationS));
    for (Metric m : METRICS) {
      Stat t = s.stat(m);
      double[] values = {t.mean, t.p50, t.p90, t.p95, t.p99, t.min, t.max};
      for (double v : values) {
        row.add(number(v));
      }
      row.add(t.formula.id());
    }
    Goodput g = s.goodput;
    row.add(number(s.requestsPerS));
    row.add(number(s.outputTokensPerS));
    row.add(number(g.requestsPerS()));
    row.add(number(g.share()));
    row.add(number(g.low()));
    row.add(number(g.high()));
    row.add(number(g.slo().ttftMs()));
    row.add(number(g.slo().tpotMs()));
    row.add(String.join("; ", r.blanked()));
    return row;
  }

  private static Object number(double v) {
    return Double.isNaN(v) ? "" : v;
  }

  private static Object count(long n) {
    return n < 0 ? "" : n;
  }

  /** The columns of an end-to-end table, which {@code musabench tpot identify} reads. */
  static void endToEnd(List<Summary> summaries, Appendable out) throws IOException {
    CSVPrinter csv =
        new CSVPrinter(out, CSVFormat.DEFAULT.builder().setRecordSeparator('\n').get());
    csv.printRecord(
        "config",
        "ttft_p50_ms",
        "ttft_p99_ms",
        "tpot_ms",
        "itl_p99_ms",
        "throughput_req_s",
        "goodput_req_s");
    for (Comparison.Row row : Comparison.of(summaries)) {
      Summary s = row.summary();
      if (s.requestsPerS == 0) {
        // Nothing was answered: a row of an end-to-end table says how fast something was.
        continue;
      }
      Stat ttft = row.stat(Metric.TTFT);
      Stat tpot = row.stat(Metric.TPOT);
      Stat itl = row.stat(Metric.ITL);
      csv.printRecord(
          s.run.source,
          number(ttft == null ? Double.NaN : ttft.p50),
          number(ttft == null ? Double.NaN : ttft.p99),
          number(tpot == null ? Double.NaN : tpot.mean),
          number(itl == null ? Double.NaN : itl.p99),
          number(s.requestsPerS),
          number(s.goodput.requestsPerS()));
    }
    csv.flush();
  }
}
