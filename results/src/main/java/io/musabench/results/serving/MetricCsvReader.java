package io.musabench.results.serving;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.apache.commons.csv.CSVRecord;

/**
 * The CSV of GenAI-Perf and of AIPerf: a table {@code Metric,avg,min,max,…}, then {@code
 * Metric,Value}, then perhaps tables of telemetry, which are left out. The unit stands in the
 * metric's name.
 */
final class MetricCsvReader implements Reader {
  private final boolean aiperf;

  MetricCsvReader(boolean aiperf) {
    this.aiperf = aiperf;
  }

  @Override
  public List<Run> read(Source source) throws IOException {
    Flat f = new Flat();
    CSVRecord[] header = {null};
    Csv.read(
        source,
        row -> {
          if (row.get(0).equals("Metric")) {
            header[0] = row;
          } else if (header[0] != null && row.size() <= header[0].size()) {
            row(f, header[0], row);
          } else {
            header[0] = null;
          }
        });
    Run run = new Run(aiperf ? "aiperf" : "genai-perf", source.name());
    run.notes.add("a CSV file: two decimals, and nothing about the configuration");
    MetricFileReader.run(f, run, aiperf);
    if (aiperf && run.errors > 0) {
      run.cancelled = -1;
      run.notes.add("a CSV file does not tell cancelled requests from errors: all count as errors");
    }
    return List.of(run);
  }

  private static void row(Flat f, CSVRecord header, CSVRecord row) {
    String name = row.get(0);
    int open = name.lastIndexOf('(');
    String unit = open > 0 ? name.substring(open + 1, Math.max(open + 1, name.length() - 1)) : "";
    String words = (open > 0 ? name.substring(0, open) : name).strip();
    String tag = words.toLowerCase(Locale.ROOT).replace(' ', '_').replace('-', '_');
    f.set(tag + ".unit", unit);
    for (int i = 1; i < row.size(); i++) {
      String statistic = header.get(i).equals("Value") ? "avg" : header.get(i);
      f.set(tag + "." + statistic, row.get(i));
    }
  }
}
