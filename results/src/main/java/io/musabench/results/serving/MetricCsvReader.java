package io.musabench.results.serving;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.apache.commons.csv.CSVException;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/**
 * The CSV of GenAI-Perf and of AIPerf: a table {@code Metric,avg,min,max,…}, then {@code
 * Metric,Value}, then perhaps tables of telemetry, which are left out. The unit stands in the
 * metric's name.
 */
final class MetricCsvReader implements Reader {
  private static final int MAX_RECORDS = 10_000;

  /** A hundred times what these files have; an open quote does not swallow more. */
  private static final int MAX_BYTES = 1 << 20;

  private final boolean aiperf;

  MetricCsvReader(boolean aiperf) {
    this.aiperf = aiperf;
  }

  @Override
  public List<Run> read(Source source) throws IOException {
    Flat f = new Flat();
    CSVFormat format = CSVFormat.DEFAULT.builder().setIgnoreEmptyLines(true).setTrim(true).get();
    try (InputStream all = source.open();
        InputStream in = new ByteArrayInputStream(all.readNBytes(MAX_BYTES));
        CSVParser parser =
            CSVParser.parse(new InputStreamReader(in, StandardCharsets.UTF_8), format)) {
      CSVRecord header = null;
      for (CSVRecord row : parser) {
        if (row.getRecordNumber() > MAX_RECORDS) {
          break;
        }
        if (row.get(0).equals("Metric")) {
          header = row;
        } else if (header != null && row.size() <= header.size()) {
          row(f, header, row);
        } else {
          header = null;
        }
      }
    } catch (CSVException | java.io.UncheckedIOException e) {
      throw new ServingFormatException("damaged CSV: " + e.getMessage(), e);
    }
    Run run = new Run(aiperf ? "aiperf" : "genai-perf", source.name());
    run.notes.add("a CSV file: two decimals, and nothing about the configuration");
    return List.of(MetricFileReader.run(f, run, aiperf));
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
