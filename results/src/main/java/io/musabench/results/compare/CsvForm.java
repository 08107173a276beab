package io.musabench.results.compare;

import io.musabench.results.stats.Interval;
import java.io.IOException;
import java.io.Writer;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;

/** A comparison as CSV. */
final class CsvForm {
  private static final int SCHEMA_VERSION = 1;

  private CsvForm() {}

  static void write(Comparison comparison, Writer out) throws IOException {
    CSVFormat format =
        CSVFormat.RFC4180
            .builder()
            .setRecordSeparator("\n")
            .setHeader(
                "schema_version",
                "case",
                "verdict",
                "base_us",
                "base_forks",
                "candidate_us",
                "candidate_forks",
                "change_percent",
                "change_low_percent",
                "change_high_percent",
                "epsilon_percent",
                "adjusted_p",
                "more_forks",
                "clock_effect",
                "remark")
            .get();
    CSVPrinter csv = new CSVPrinter(out, format);
    for (CaseComparison row : comparison.rows()) {
      boolean judged = row.ratio() != null;
      Interval ratio = judged ? row.ratio().ratio(Judge.LEVEL) : null;
      csv.printRecord(
          SCHEMA_VERSION,
          row.id(),
          row.verdict().text(),
          time(row.base()),
          row.base() == null ? "" : row.base().forks().size(),
          time(row.candidate()),
          row.candidate() == null ? "" : row.candidate().forks().size(),
          judged ? cell(Cells.percent(row.ratio().ratio())) : "",
          judged ? cell(Cells.percent(ratio.low())) : "",
          judged ? cell(Cells.percent(ratio.high())) : "",
          judged ? cell(100 * row.tolerance().fraction()) : "",
          cell(row.p()),
          row.moreForks().isPresent() ? row.moreForks().getAsInt() : "",
          row.clockEffect(),
          row.remark());
    }
    csv.flush();
  }

  private static String time(MeasuredCase c) {
    return c == null ? "" : cell(c.timeUs());
  }

  private static String cell(double value) {
    return Double.isFinite(value) ? Double.toString(value) : "";
  }
}
