package io.musabench.results.audit;

import io.musabench.results.serving.Analysis;
import io.musabench.results.serving.Definitions;
import io.musabench.results.serving.Metric;
import io.musabench.results.serving.Run;
import io.musabench.results.serving.ServingFiles;
import io.musabench.results.serving.ServingFormatException;
import io.musabench.results.serving.Slo;
import io.musabench.results.serving.Stat;
import io.musabench.results.serving.Summary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Result files of serving benchmarks as rows of an end-to-end table. */
final class ServingRows {
  private ServingRows() {}

  /** Whether a file is of a known benchmark tool. A folder can be nothing else. */
  static boolean recognises(Path path) {
    try {
      return Files.isDirectory(path) || ServingFiles.recognises(path);
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Reads a result file, or every result file in a folder.
   *
   * @throws IllegalArgumentException if there is none or it is damaged, in one line
   */
  static EndToEndTable read(Path path) {
    List<Run> runs;
    try {
      runs =
          Files.isDirectory(path)
              ? ServingFiles.readDirectory(path, null).runs()
              : ServingFiles.read(path, null);
    } catch (ServingFormatException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    } catch (IOException e) {
      throw new IllegalArgumentException("Cannot read " + path + ": " + e, e);
    }
    List<EndToEndRow> rows = new ArrayList<>();
    for (Summary s : new Analysis(Definitions.COURSE, Slo.NONE, Map.of()).of(runs)) {
      rows.add(row(rows.size() + 1, s));
    }
    return new EndToEndTable(path.toString(), rows, List.of(), true);
  }

  private static EndToEndRow row(int number, Summary s) {
    Map<String, Cell> cells = new TreeMap<>();
    latencies(cells, Column.TTFT, s.stat(Metric.TTFT));
    latencies(cells, Column.TPOT, s.stat(Metric.TPOT));
    latencies(cells, Column.ITL, s.stat(Metric.ITL));
    latencies(cells, Column.E2E, s.stat(Metric.E2E));
    put(cells, Column.THROUGHPUT, s.requestsPerS());
    if (s.goodput().slo().stated()) {
      put(cells, Column.GOODPUT, s.goodput().requestsPerS());
    }
    put(cells, Column.ISL, Math.rint(s.meanInputTokens()));
    put(cells, Column.OSL, Math.rint(s.meanOutputTokens()));
    put(cells, Column.CONCURRENCY, s.concurrencyLimit());
    return new EndToEndRow(number, Map.of(Column.LABEL, s.run().source()), cells);
  }

  private static void latencies(Map<String, Cell> cells, String metric, Stat stat) {
    put(cells, metric + Column.MEAN, stat.mean());
    put(cells, metric + "_p50", stat.p50());
    put(cells, metric + "_p99", stat.p99());
  }

  private static void put(Map<String, Cell> cells, String key, double value) {
    if (value > 0 && Double.isFinite(value)) {
      cells.put(key, new Cell(key, value, 0));
    }
  }
}
