package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The JSON of evalscope's {@code perf}: the summary, whose keys carry their unit (and changed it
 * from seconds to milliseconds between versions), the table of percentiles, where -1 is "not
 * applicable", and the arguments and the throughput over time, which complete them. The database
 * beside them holds pickled objects and is never opened.
 */
final class EvalScopeReader implements Reader {
  private static final Pattern KEY = Pattern.compile("(.+?)\\s*\\(([^)]*)\\)\\s*");

  /** Which of its files. */
  enum File {
    SUMMARY,
    PERCENTILES,
    ARGUMENTS,
    WORKLOAD
  }

  private final File file;

  EvalScopeReader(File file) {
    this.file = file;
  }

  @Override
  public List<Run> read(Source source) throws IOException {
    Run run = new Run("evalscope", source.name());
    run.ttftClock = Formula.TTFT_FIRST_ANY;
    try (InputStream in = source.open();
        JsonParser p = Json.parser(in)) {
      p.nextToken();
      switch (file) {
        case PERCENTILES -> table(run, p);
        case SUMMARY -> {
          Map<String, Double> values = new HashMap<>();
          Json.object(
              p,
              (name, q) -> {
                if (values.size() < 1000 && q.currentToken() != JsonToken.VALUE_NULL) {
                  values.put(name.toLowerCase(Locale.ROOT), Json.number(q));
                  return true;
                }
                return false;
              });
          summary(run, values);
        }
        case ARGUMENTS -> arguments(run, scalars(p));
        default -> workload(run, scalars(p));
      }
    }
    if (!run.argumentsOnly && run.reported.isEmpty() && run.allZero.isEmpty()) {
      throw new ServingFormatException("none of its statistics can be read");
    }
    return List.of(run);
  }

  private static Flat scalars(JsonParser p) throws IOException {
    Flat f = new Flat();
    Json.object(
        p,
        (name, q) -> {
          f.put(name, q);
          return true;
        });
    return f;
  }

  private static void arguments(Run run, Flat f) {
    run.argumentsOnly = true;
    run.streaming = f.flag("stream");
    run.label("model", f.text("model_id", "model"));
    run.label("dataset", f.text("dataset"));
    // A list where several loads were asked for: the one of this run is in the summary.
    run.concurrencyLimit =
        f.has("parallel.[1]") ? Double.NaN : f.number("parallel", "parallel.[0]");
    double rate = f.number("rate", "rate.[0]");
    run.requestRate = rate > 0 ? rate : Double.NaN;
    double shortest = f.number("min_tokens");
    double longest = f.number("max_tokens");
    run.askedOutput = shortest == longest ? longest : Double.NaN;
    double shortestPrompt = f.number("min_prompt_length");
    double longestPrompt = f.number("max_prompt_length");
    if (String.valueOf(f.text("dataset")).contains("random") && shortestPrompt == longestPrompt) {
      run.askedInput = longestPrompt + Math.max(0, f.number("prefix_length"));
    }
  }

  private static void workload(Run run, Flat f) {
    run.argumentsOnly = true;
    for (int i = 0; i < 20 && f.has("rows.[" + i + "]"); i++) {
      String row = "rows.[" + i + "].";
      if ("Completion tok/s".equals(f.text(row + "metric"))) {
        run.notes.add(
            String.format(
                Locale.ROOT,
                "evalscope's output tokens/s: %s overall, %s without the first %.0f %% of the run,"
                    + " %s in the last %s s",
                Text.number(f.number(row + "overall")),
                Text.number(f.number(row + "steady_state")),
                100 * f.number("warmup_frac"),
                Text.number(f.number(row + "last_window")),
                Text.number(f.number("last_window_s"))));
      }
    }
  }

  private static void summary(Run run, Map<String, Double> values) {
    for (Map.Entry<String, Double> e : values.entrySet()) {
      Matcher m = KEY.matcher(e.getKey());
      if (!m.matches()) {
        continue;
      }
      String word = m.group(1).replaceFirst("^(avg|average)\\s+", "");
      Formula formula = formula(word, run);
      double toMs = unit(m.group(2));
      if (formula != null && !Double.isNaN(toMs) && e.getValue() >= 0) {
        Reported r = new Reported(formula, e.getKey());
        r.set("mean", e.getValue() * toMs);
        run.add(r);
      }
    }
    run.durationS = first(values, "test duration (s)", "time taken for tests (s)");
    run.total = count(values, "total requests");
    run.ok = count(values, "success requests", "succeed requests");
    run.errors = count(values, "failed requests");
    run.cancelled = run.total < 0 ? -1 : 0;
    run.requestsPerS =
        first(values, "req throughput (req/s)", "request throughput (req/s)", "average qps");
    run.outputTokensPerS =
        first(
            values,
            "output throughput (tok/s)",
            "output token throughput (tok/s)",
            "average output tokens per second");
    run.concurrencyLimit = first(values, "concurrency", "number of concurrency");
    double rate = first(values, "request rate (req/s)");
    run.requestRate = rate > 0 ? rate : Double.NaN;
    run.meanInput = first(values, "avg input tokens", "average input tokens per request");
    run.meanOutput = first(values, "avg output tokens", "average output tokens per request");
  }

  private static double first(Map<String, Double> values, String... keys) {
    for (String key : keys) {
      Double v = values.get(key);
      if (v != null && v >= 0) {
        return v;
      }
    }
    return Double.NaN;
  }

  private static long count(Map<String, Double> values, String... keys) {
    double v = first(values, keys);
    return Double.isNaN(v) ? -1 : Math.round(v);
  }

  private static double unit(String unit) {
    return switch (unit) {
      case "ms" -> 1;
      case "s" -> 1000;
      default -> Double.NaN;
    };
  }

  private static Formula formula(String word, Run run) {
    return switch (word) {
      case "ttft", "time to first token" -> run.ttftClock;
      case "tpot", "time per output token" -> Formula.TPOT;
      case "itl", "inter-token latency", "package latency" -> Formula.ITL_CHUNK;
      case "latency" -> Formula.E2E_LAST_BYTE;
      default -> null;
    };
  }

  /** Rows of a percentile each, or one object of columns; older versions say "Percentile". */
  private static void table(Run run, JsonParser p) throws IOException {
    Map<Formula, Reported> found = new HashMap<>();
    Map<String, String> prompt = new HashMap<>();
    if (p.currentToken() == JsonToken.START_OBJECT) {
      Map<String, List<String>> columns = new HashMap<>();
      Json.object(
          p,
          (name, q) -> {
            List<String> column = new ArrayList<>();
            Json.array(
                q,
                r -> {
                  String text = Json.text(r);
                  if (column.size() < 100) {
                    column.add(text == null ? "" : text);
                  }
                  return true;
                });
            if (columns.size() < 100) {
              columns.put(name.toLowerCase(Locale.ROOT), column);
            }
            return true;
          });
      for (int i = 0; i < 100; i++) {
        Map<String, String> row = new HashMap<>();
        for (Map.Entry<String, List<String>> e : columns.entrySet()) {
          if (i < e.getValue().size()) {
            row.put(e.getKey(), e.getValue().get(i));
          }
        }
        row(run, row, found, prompt);
      }
    } else {
      Json.array(
          p,
          q -> {
            Map<String, String> row = new HashMap<>();
            Json.object(
                q,
                (name, r) -> {
                  String text = Json.text(r);
                  if (text != null && row.size() < 100) {
                    row.put(name.toLowerCase(Locale.ROOT), text);
                  }
                  return true;
                });
            row(run, row, found, prompt);
            return true;
          });
    }
    found.values().forEach(run::add);
    if (!prompt.isEmpty()) {
      run.promptLengths =
          new Run.Tokens(
              length(prompt, "min"),
              length(prompt, "25%"),
              length(prompt, "75%"),
              length(prompt, "max"));
    }
  }

  private static double length(Map<String, String> tokens, String rank) {
    return tokens.containsKey(rank) ? Json.number(tokens.get(rank)) : Double.NaN;
  }

  private static void row(
      Run run, Map<String, String> row, Map<Formula, Reported> found, Map<String, String> prompt) {
    String rank = row.getOrDefault("percentiles", row.get("percentile"));
    if (rank != null && row.containsKey("input tokens")) {
      prompt.put(rank, row.get("input tokens"));
    }
    for (Map.Entry<String, String> e : row.entrySet()) {
      Matcher m = KEY.matcher(e.getKey());
      Formula formula = rank != null && m.matches() ? formula(m.group(1), run) : null;
      double toMs = formula == null ? Double.NaN : unit(m.group(2));
      double value = Json.number(e.getValue()) * toMs;
      if (value >= 0) {
        found.computeIfAbsent(formula, f -> new Reported(f, e.getKey())).set(rank, value);
      }
    }
  }
}
