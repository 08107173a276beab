package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The JSON of evalscope's {@code perf}: the summary, whose keys carry their unit (and changed it
 * from seconds to milliseconds between versions), and the table of percentiles, where -1 is "not
 * applicable". The database beside them holds pickled objects and is never opened.
 */
final class EvalScopeReader implements Reader {
  private static final Pattern KEY = Pattern.compile("(.+?)\\s*\\(([^)]*)\\)\\s*");

  private final boolean percentiles;

  EvalScopeReader(boolean percentiles) {
    this.percentiles = percentiles;
  }

  @Override
  public List<Run> read(Source source) throws IOException {
    Run run = new Run("evalscope", source.name());
    run.ttftClock = Formula.TTFT_FIRST_ANY;
    try (InputStream in = source.open();
        JsonParser p = Json.parser(in)) {
      p.nextToken();
      if (percentiles) {
        table(run, p);
      } else {
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
    }
    if (run.reported.isEmpty() && run.allZero.isEmpty()) {
      throw new ServingFormatException("none of its statistics can be read");
    }
    return List.of(run);
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

  private static void table(Run run, JsonParser p) throws IOException {
    Map<Formula, Reported> found = new HashMap<>();
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
          String rank = row.get("percentiles");
          for (Map.Entry<String, String> e : row.entrySet()) {
            Matcher m = KEY.matcher(e.getKey());
            Formula formula = rank != null && m.matches() ? formula(m.group(1), run) : null;
            double toMs = formula == null ? Double.NaN : unit(m.group(2));
            double value = Json.number(e.getValue()) * toMs;
            if (value >= 0) {
              found.computeIfAbsent(formula, f -> new Reported(f, e.getKey())).set(rank, value);
            }
          }
          return true;
        });
    found.values().forEach(run::add);
  }
}
