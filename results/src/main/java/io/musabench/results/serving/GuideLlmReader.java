package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * GuideLLM's {@code benchmarks.json} and {@code .yaml}, the layout up to 0.3, that of 0.4 and that
 * since 0.5. The key {@code time_per_output_token_ms} means (last - first token) / n in the old
 * layout and (last token - start) / n later: the requests tell which, and where there are none the
 * layout does.
 *
 * <p>Nothing but the first and the last token of a request has a time here: there is no ITL of
 * single gaps, and what GuideLLM calls ITL is the course's TPOT, weighted by tokens.
 *
 * <p>YAML comes with its keys in alphabetical order, the requests before the window that they are
 * measured in. So the file is read twice: first everything but the requests, then the requests.
 */
final class GuideLlmReader implements Reader {
  /** Distributions of single values, and of one turn or modality: large, and not looked at. */
  private static final String[] SKIPPED = {
    "pdf",
    "cumulative_distribution_function",
    "turns",
    "text",
    "image",
    "video",
    "audio",
    "tool_call"
  };

  /** Strategies that plan when a request is sent; the others take the next when they can. */
  private static final Set<String> PLANNED =
      Set.of("constant", "poisson", "async", "trace", "replay");

  private final List<Benchmark> benchmarks = new ArrayList<>();
  private final Flat report = new Flat();

  /** One benchmark of the report. */
  private static final class Benchmark {
    final Flat f = new Flat(SKIPPED);
    Run run;
    long fromNs = Request.NO_START;
    long toNs = Request.NO_START;
    boolean planned;
    long outsideWindow;
    long saysOverN;
    long saysInclFirst;
  }

  @Override
  public List<Run> read(Source source) throws IOException {
    String damage = null;
    try {
      walk(source, true);
    } catch (com.fasterxml.jackson.core.JsonProcessingException | ServingFormatException e) {
      damage = e.getMessage();
      // The last one is incomplete.
      if (!benchmarks.isEmpty()) {
        benchmarks.remove(benchmarks.size() - 1);
      }
      if (benchmarks.isEmpty()) {
        throw e;
      }
    }
    if (benchmarks.isEmpty()) {
      throw new ServingFormatException("it holds no benchmark");
    }
    for (int i = 0; i < benchmarks.size(); i++) {
      Benchmark b = benchmarks.get(i);
      String part = benchmarks.size() == 1 ? "" : " [" + (i + 1) + "]";
      b.run = new Run("guidellm", source.name() + part);
      b.run.toolVersion = report.text("metadata.guidellm_version");
      b.fromNs = seconds(b.f.text("scheduler_metrics.measure_start_time"));
      b.toNs = seconds(b.f.text("scheduler_metrics.measure_end_time"));
      b.planned = PLANNED.contains(String.valueOf(strategy(b.f, "type_")));
    }
    if (damage == null) {
      walk(source, false);
    } else {
      try {
        walk(source, false);
      } catch (com.fasterxml.jackson.core.JsonProcessingException | ServingFormatException e) {
        // Known already.
      }
      Run last = benchmarks.get(benchmarks.size() - 1).run;
      last.notes.add("a further benchmark after this one is cut off or damaged");
    }
    List<Run> runs = new ArrayList<>();
    for (Benchmark b : benchmarks) {
      b.run.toolTpot = tpot(b);
      finish(b.run, b.f, report);
      if (b.outsideWindow > 0) {
        b.run.notes.add(b.outsideWindow + " requests of warm-up and cool-down left out");
      }
      runs.add(b.run);
    }
    return runs;
  }

  private void walk(Source source, boolean scalars) throws IOException {
    int[] index = {0};
    try (InputStream in = source.open();
        JsonParser p = Json.parserOfEither(in)) {
      p.nextToken();
      Json.object(
          p,
          (name, q) -> {
            if (name.equals("benchmarks")) {
              Json.array(
                  q,
                  r -> {
                    if (scalars) {
                      benchmarks.add(new Benchmark());
                    } else if (index[0] >= benchmarks.size()) {
                      return false;
                    }
                    benchmark(benchmarks.get(index[0]++), r, scalars);
                    return true;
                  });
            } else if (scalars) {
              report.put(name, q);
            } else {
              return false;
            }
            return true;
          });
    }
  }

  private static void benchmark(Benchmark b, JsonParser p, boolean scalars) throws IOException {
    Json.object(
        p,
        (name, q) -> {
          if (name.equals("requests") == scalars) {
            return false;
          }
          if (scalars) {
            b.f.put(name, q);
            return true;
          }
          Json.object(
              q,
              (group, r) -> {
                if (group.equals("total")) {
                  return false;
                }
                Json.array(
                    r,
                    row -> {
                      request(b, group, row);
                      return true;
                    });
                return true;
              });
          return true;
        });
  }

  private static void request(Benchmark benchmark, String group, JsonParser p) throws IOException {
    Flat f = new Flat();
    f.put("r", p);
    String now = "r.info.timings.";
    String between = "r.scheduler_info.request_timings.";
    long start =
        seconds(
            f.text(
                now + "request_start",
                between + "request_start",
                "r.start_time",
                "r.scheduler_info.request_start"));
    long first =
        seconds(
            f.text(
                now + "first_token_iteration",
                now + "first_iteration",
                between + "first_iteration",
                "r.first_token_time"));
    long last =
        seconds(
            f.text(
                now + "last_token_iteration",
                now + "last_iteration",
                between + "last_iteration",
                "r.last_token_time"));
    long end =
        seconds(
            f.text(
                now + "request_end", between + "request_end", "r.end_time", now + "resolve_end"));
    if (outside(benchmark, start, end)) {
      benchmark.outsideWindow++;
      return;
    }
    Request.Builder b = Request.builder().someEventsOnly().startNs(start);
    double ttft = f.number("r.time_to_first_token_ms");
    ttft = Double.isNaN(ttft) ? Json.elapsedMs(start, first) : ttft;
    double content = Json.elapsedMs(start, seconds(f.text(now + "first_output_token_iteration")));
    double latency = f.number("r.request_latency") * 1000;
    double lastMs = Json.elapsedMs(start, last);
    if (!Double.isNaN(ttft)) {
      boolean reasoning = content > ttft;
      b.event(ttft, Request.MISSING, reasoning ? EventKind.REASONING : EventKind.CONTENT);
      if (reasoning) {
        b.event(content, Request.MISSING, EventKind.CONTENT);
      }
      if (!Double.isNaN(lastMs)) {
        b.event(Math.max(lastMs, ttft), Request.MISSING, EventKind.CONTENT);
      }
    }
    b.endMs(Double.isNaN(latency) ? Json.elapsedMs(start, end) : latency);
    b.inputTokens(
        Json.count(
            f.number(
                "r.prompt_tokens", "r.input_metrics.total_tokens", "r.input_metrics.text_tokens")));
    int output =
        Json.count(
            f.number(
                "r.output_tokens",
                "r.output_metrics.total_tokens",
                "r.output_metrics.text_tokens"));
    double toolTpot = f.number("r.time_per_output_token_ms");
    switch (group) {
      case "errored" -> b.status(Status.ERROR);
      case "incomplete" -> {
        b.status(Status.CUT);
        // These rows repeat the length that was asked for; only what was streamed counts.
        b.askedTokens(output);
        output = Json.count(f.number(now + "token_iterations"));
      }
      default -> {
        b.status(Status.OK);
        vote(benchmark, toolTpot, lastMs, ttft, output);
      }
    }
    b.outputTokens(output, TokenSource.FILE);
    b.toolValues(toolTpot, f.number("r.inter_token_latency_ms"));
    if (benchmark.planned) {
      String planned =
          f.text(
              now + "targeted_start",
              between + "targeted_start",
              "r.scheduler_info.targeted_start_time");
      b.scheduleDelayMs(Json.elapsedMs(seconds(planned), start));
    }
    String prompt = f.text("r.prompt", "r.request_args");
    if (prompt != null) {
      b.promptHash(PromptHash.of(prompt));
    }
    benchmark.run.table().add(b.build());
  }

  /** Warm-up and cool-down: rows that do not overlap the measured window. */
  private static boolean outside(Benchmark b, long start, long end) {
    if (b.fromNs == Request.NO_START || b.toNs == Request.NO_START || b.fromNs >= b.toNs) {
      return false;
    }
    return start != Request.NO_START
        && end != Request.NO_START
        && (end < b.fromNs || start > b.toNs);
  }

  /** Which of its two meanings the TPOT of a row has. */
  private static void vote(Benchmark b, double toolTpot, double lastMs, double ttft, int n) {
    double overN = Math.abs(toolTpot * n - (lastMs - ttft));
    double inclFirst = Math.abs(toolTpot * n - lastMs);
    if (n > 0 && ttft > 1 && Math.min(overN, inclFirst) < 0.01) {
      b.saysOverN += overN < inclFirst ? 1 : 0;
      b.saysInclFirst += inclFirst < overN ? 1 : 0;
    }
  }

  private static Formula tpot(Benchmark b) {
    if (b.saysOverN != b.saysInclFirst) {
      return b.saysOverN > b.saysInclFirst ? Formula.TPOT_OVER_N : Formula.TPOT_INCL_FIRST;
    }
    boolean old =
        !b.f.has("config")
            && !b.f.has("scheduler")
            && !b.f.has("benchmarker")
            && (b.f.has("run_stats") || b.f.has("request_totals"));
    return old ? Formula.TPOT_OVER_N : Formula.TPOT_INCL_FIRST;
  }

  private static long seconds(String text) {
    return text == null ? Request.NO_START : Json.nanoseconds(text, 9);
  }

  private static String strategy(Flat f, String key) {
    return f.text("args.strategy." + key, "config.strategy." + key, "scheduler.strategy." + key);
  }

  /**
   * Fills a run from the statistics of a benchmark by path; also used for the CSV files, which hold
   * the same. {@code run.toolTpot} is known already.
   */
  static void finish(Run run, Flat f, Flat report) {
    boolean old = run.toolTpot == Formula.TPOT_OVER_N;
    run.ttftClock = old ? Formula.TTFT_FIRST_CONTENT : Formula.TTFT_FIRST_TOKEN;
    String m = "metrics.";
    add(run, f, run.ttftClock, m + "time_to_first_token_ms", 1);
    add(run, f, Formula.TTFO_FIRST_CONTENT, m + "time_to_first_output_token_ms", 1);
    add(run, f, Formula.TPOT_TOKEN_WEIGHTED, m + "inter_token_latency_ms", 1);
    add(run, f, run.toolTpot, m + "time_per_output_token_ms", 1);
    add(run, f, Formula.E2E_LAST_BYTE, m + "request_latency", 1000);
    run.ok = f.count("request_totals.successful", "metrics.request_totals.successful");
    run.errors = f.count("request_totals.errored", "metrics.request_totals.errored");
    run.cut = f.count("request_totals.incomplete", "metrics.request_totals.incomplete");
    run.total = f.count("request_totals.total", "metrics.request_totals.total");
    run.cancelled = run.ok < 0 ? -1 : 0;
    run.durationS = f.number("duration");
    run.measuredFromNs = seconds(f.text("scheduler_metrics.measure_start_time"));
    run.measuredToNs = seconds(f.text("scheduler_metrics.measure_end_time"));
    if (Double.isNaN(run.durationS)) {
      long from = seconds(f.text("scheduler_metrics.measure_start_time", "start_time"));
      long to = seconds(f.text("scheduler_metrics.measure_end_time", "end_time"));
      run.durationS = Json.elapsedMs(from, to) / 1000;
    }
    run.requestsPerS = f.number(m + "requests_per_second.successful.mean");
    run.outputTokensPerS = f.number(m + "output_tokens_per_second.successful.mean");
    run.meanConcurrency = f.number(m + "request_concurrency.successful.mean");
    run.peakConcurrency = f.number(m + "request_concurrency.total.max");
    run.meanInput = f.number(m + "prompt_token_count.successful.mean");
    run.stdInput = f.number(m + "prompt_token_count.successful.std_dev");
    run.meanOutput = f.number(m + "output_token_count.successful.mean");
    run.goodputPerS = f.number(m + "request_goodput.successful.mean");
    run.judgedCount = f.number(m + "slo_determined_requests");
    run.goodCount = f.number(m + "slo_attainment") * run.judgedCount;
    Slo slo =
        new Slo(
            f.number("config.slo.ttft_ms"),
            f.number("config.slo.tpot_ms"),
            f.number("config.slo.e2el_ms"));
    run.slo = slo.stated() ? slo : null;
    run.label(
        "model",
        firstText(f.text("worker.backend_model", "config.backend.model"), report, "args.model"));
    load(run, f);
    asked(run, f, report);
    if (run.requests != null && run.ok > run.requests.count(Status.OK)) {
      run.notes.add(
          "holds "
              + run.requests.count(Status.OK)
              + " of "
              + run.ok
              + " answered requests: the file's own statistics are used");
      run.requests = null;
    }
  }

  private static String firstText(String found, Flat other, String path) {
    return found == null ? other.text(path) : found;
  }

  private static void load(Run run, Flat f) {
    String type = String.valueOf(strategy(f, "type_"));
    run.label("strategy", strategy(f, "type_"));
    switch (type) {
      case "synchronous" -> run.concurrencyLimit = 1;
      case "concurrent" -> run.concurrencyLimit = number(strategy(f, "streams"));
      case "constant", "poisson", "async" -> run.requestRate = number(strategy(f, "rate"));
      default -> run.concurrencyLimit = number(strategy(f, "max_concurrency"));
    }
  }

  private static double number(String text) {
    return text == null ? Double.NaN : Json.number(text);
  }

  /** The lengths of synthetic prompts and answers, in a text or in an object. */
  private static void asked(Run run, Flat f, Flat report) {
    String data = f.text("request_loader.data", "config.requests.data", "config.requests.data.[0]");
    data = firstText(data, report, "args.data");
    data = firstText(data, report, "args.data.[0]");
    run.askedInput = asked(data, report, "prompt_tokens");
    run.askedOutput = asked(data, report, "output_tokens");
  }

  private static double asked(String data, Flat report, String key) {
    if (data == null) {
      return report.number("args.data.[0]." + key, "args.data." + key);
    }
    Matcher m = Pattern.compile(key + "['\"]?\\s*[=:]\\s*(\\d{1,9})").matcher(data);
    return m.find() ? Double.parseDouble(m.group(1)) : Double.NaN;
  }

  private static void add(Run run, Flat f, Formula formula, String path, double toMs) {
    String called = path.substring(path.indexOf('.') + 1);
    Reported r = f.statistics(formula, called, path + ".successful", toMs);
    Reported percentiles = f.statistics(formula, called, path + ".successful.percentiles", toMs);
    // p05 is the fifth percentile, p001 the 0.1st and p999 the 99.9th.
    percentiles.percentiles.forEach(
        (p, v) -> {
          String first = f.text(path + ".successful.percentiles.p01");
          if (p == 1 && first != null) {
            r.percentiles.put(1.0, Json.number(first) * toMs);
          } else if (p < 100) {
            r.percentiles.put(p, v);
          }
        });
    if (r.count != 0) {
      run.add(r);
    }
  }
}
