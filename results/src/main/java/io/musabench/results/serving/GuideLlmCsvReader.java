package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.commons.csv.CSVRecord;

/**
 * GuideLLM's {@code benchmarks.csv}: one benchmark a row. Up to 0.3 one header line names group,
 * metric and statistic in one ({@code Successful Time to first token ms mean}); later there are
 * three, for group, metric and statistic.
 */
final class GuideLlmCsvReader implements Reader {
  /** What a list of percentiles holds, in its order. */
  private static final String[] PERCENTILES = {
    "min", "p001", "p01", "p05", "p10", "p25", "p75", "p90", "p95", "p99", "max"
  };

  /** The later layout's words for the keys of the JSON. */
  private static final Map<String, String> GROUPS =
      Map.of(
          "Request Latency|Sec", "request_latency",
          "Time to First Token|ms", "time_to_first_token_ms",
          "Time per Output Token|ms", "time_per_output_token_ms",
          "Inter Token Latency|ms", "inter_token_latency_ms",
          "Server Throughput|Requests/Sec", "requests_per_second",
          "Server Throughput|Concurrency", "request_concurrency",
          "Token Metrics|Input Tokens", "prompt_token_count",
          "Token Metrics|Output Tokens", "output_token_count",
          "Token Throughput|Output Tokens/Sec", "output_tokens_per_second");

  private final List<CSVRecord> headers = new ArrayList<>();
  private final List<Run> runs = new ArrayList<>();
  private int columns;

  @Override
  public List<Run> read(Source source) throws IOException {
    Csv.read(source, row -> row(row, source));
    if (runs.isEmpty()) {
      throw new ServingFormatException("no row holds a benchmark");
    }
    if (runs.size() == 1) {
      runs.get(0).source = source.name();
    }
    return runs;
  }

  private void row(CSVRecord row, Source source) throws IOException {
    boolean layered = !headers.isEmpty() && headers.get(0).get(0).equals("Run Info");
    if (headers.isEmpty() || layered && headers.size() < 3) {
      headers.add(row);
      columns = Math.max(columns, row.size());
      return;
    }
    Run run = new Run("guidellm", source.name() + " [" + (runs.size() + 1) + "]");
    if (row.size() != columns) {
      // A later benchmark leaves out metrics that it has nothing of, and shifts the rest.
      run.notes.add("row " + row.getRecordNumber() + " has other columns than the header says");
      if (!runs.isEmpty()) {
        runs.get(0).notes.addAll(run.notes);
      }
      return;
    }
    Flat f = new Flat();
    Flat report = new Flat();
    for (int i = 0; i < columns; i++) {
      if (layered) {
        later(f, report, word(0, i), word(1, i), word(2, i), row.get(i));
      } else {
        early(f, word(0, i), row.get(i));
      }
    }
    run.toolVersion = report.text("metadata.guidellm_version");
    // 0.3 names its request loader; 0.4 has its layout and the later meaning.
    boolean old = !layered && headers.get(0).toList().contains("Request Loader");
    run.toolTpot = old ? Formula.TPOT_OVER_N : Formula.TPOT_INCL_FIRST;
    GuideLlmReader.finish(run, f, report);
    if (!run.reported.isEmpty() || run.ok >= 0) {
      runs.add(run);
    }
  }

  private String word(int header, int column) {
    CSVRecord h = headers.get(header);
    return column < h.size() ? h.get(column) : "";
  }

  private static void early(Flat f, String name, String value) {
    String[] words = name.split(" ", 2);
    boolean group = words[0].matches("Successful|Errored|Incomplete|Total") && words.length == 2;
    if (name.equals("Duration")) {
      f.set("duration", value);
    } else if (group && words[1].equals("Requests")) {
      f.set("request_totals." + words[0].toLowerCase(Locale.ROOT), value);
    } else if (group) {
      for (String statistic : new String[] {" mean", " median", " std dev", " [min, 0.1, 1,"}) {
        int at = words[1].indexOf(statistic);
        if (at > 0) {
          String metric = words[1].substring(0, at).toLowerCase(Locale.ROOT).replace(' ', '_');
          String path = "metrics." + metric + "." + words[0].toLowerCase(Locale.ROOT);
          statistic(f, path, statistic.strip(), value);
          return;
        }
      }
    }
  }

  private static void later(
      Flat f, Flat report, String group, String name, String statistic, String value)
      throws IOException {
    String[] words = name.split(" ", 2);
    String metric = words.length == 2 ? GROUPS.get(group + "|" + words[1]) : null;
    if (metric != null) {
      String path = "metrics." + metric + "." + words[0].toLowerCase(Locale.ROOT);
      statistic(f, path, statistic.toLowerCase(Locale.ROOT), value);
    } else if (group.equals("Request Counts")) {
      f.set("request_totals." + name.toLowerCase(Locale.ROOT), value);
    } else if (group.equals("Timings") && name.equals("Duration")) {
      f.set("duration", value);
    } else if (group.equals("Benchmark") && name.equals("Strategy")) {
      f.set("config.strategy.type_", value);
    } else if (group.equals("Runtime Info")) {
      json(report, name.equals("Metadata") ? "metadata" : "args", value);
    } else if (group.equals("Run Info") && name.equals("Backend")) {
      json(f, "config.backend", value);
    }
  }

  private static void json(Flat f, String path, String text) throws IOException {
    try (JsonParser p = Json.FACTORY.createParser(text)) {
      p.nextToken();
      f.put(path, p);
    } catch (JsonProcessingException e) {
      // A cell that is not JSON after all says nothing.
    }
  }

  private static void statistic(Flat f, String path, String name, String value) {
    if (name.equals("mean") || name.equals("median")) {
      f.set(path + "." + name, value);
    } else if (name.equals("std dev")) {
      f.set(path + ".std_dev", value);
    } else {
      String[] values = value.replace("[", "").replace("]", "").split(",");
      for (int i = 0; i < values.length && i < PERCENTILES.length; i++) {
        boolean end = i == 0 || i == PERCENTILES.length - 1;
        f.set(path + (end ? "." : ".percentiles.") + PERCENTILES[i], values[i].strip());
      }
    }
  }
}
