package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * GuideLLM's {@code benchmarks.json}, the layout up to 0.3 and that of 0.5. The key {@code
 * time_per_output_token_ms} means (last - first token) / n in the old layout and (last token -
 * start) / n in the new one, so the layout decides the formula.
 *
 * <p>Nothing but the first and the last token of a request has a time here: there is no ITL of
 * single gaps, and what GuideLLM calls ITL is the course's TPOT, weighted by tokens.
 */
final class GuideLlmReader implements Reader {
  private final List<Run> runs = new ArrayList<>();
  private String version;
  private boolean newLayout;
  private Source source;

  @Override
  public List<Run> read(Source from) throws IOException {
    source = from;
    try (InputStream in = from.open();
        JsonParser p = Json.parser(in)) {
      p.nextToken();
      Json.object(
          p,
          (name, q) -> {
            switch (name) {
              case "metadata" -> {
                Flat f = new Flat();
                f.put("metadata", q);
                version = f.text("metadata.guidellm_version");
                newLayout = true;
              }
              case "benchmarks" -> Json.array(q, this::benchmark);
              default -> {
                return false;
              }
            }
            return true;
          });
    }
    if (runs.isEmpty()) {
      throw new ServingFormatException("it holds no benchmark");
    }
    return List.copyOf(runs);
  }

  private boolean benchmark(JsonParser p) throws IOException {
    Run run = new Run("guidellm", source.name() + " [" + (runs.size() + 1) + "]");
    run.toolVersion = version;
    Flat f = new Flat();
    Json.object(
        p,
        (name, q) -> {
          if (name.equals("requests")) {
            Json.object(
                q,
                (group, r) -> {
                  if (group.equals("total")) {
                    return false;
                  }
                  Json.array(
                      r,
                      row -> {
                        request(run, f, group, row);
                        return true;
                      });
                  return true;
                });
          } else {
            f.put(name, q);
          }
          return true;
        });
    finish(run, f);
    runs.add(run);
    return true;
  }

  private void request(Run run, Flat benchmark, String group, JsonParser p) throws IOException {
    Flat f = new Flat();
    f.put("r", p);
    String t = "r.info.timings.";
    String startText =
        f.text(t + "request_start", "r.start_time", "r.scheduler_info.request_start");
    long start = seconds(startText);
    long first = seconds(f.text(t + "first_token_iteration", "r.first_token_time"));
    long last = seconds(f.text(t + "last_token_iteration", "r.last_token_time"));
    long end = seconds(f.text(t + "request_end", "r.end_time", t + "resolve_end"));
    if (outside(benchmark, start, end)) {
      outsideWindow++;
      return;
    }
    Request.Builder b = Request.builder().someEventsOnly().startNs(start);
    double ttft = f.number("r.time_to_first_token_ms");
    ttft = Double.isNaN(ttft) ? Json.elapsedMs(start, first) : ttft;
    double content = Json.elapsedMs(start, seconds(f.text(t + "first_output_token_iteration")));
    double latency = f.number("r.request_latency") * 1000;
    if (!Double.isNaN(ttft)) {
      boolean reasoning = content > ttft;
      b.event(ttft, Request.MISSING, reasoning ? EventKind.REASONING : EventKind.CONTENT);
      if (reasoning) {
        b.event(content, Request.MISSING, EventKind.CONTENT);
      }
      double lastMs = Json.elapsedMs(start, last);
      if (!Double.isNaN(lastMs)) {
        b.event(Math.max(lastMs, ttft), Request.MISSING, EventKind.CONTENT);
      }
    }
    b.endMs(Double.isNaN(latency) ? Json.elapsedMs(start, end) : latency);
    b.inputTokens(Json.count(f.number("r.prompt_tokens", "r.input_metrics.text_tokens")));
    int output = Json.count(f.number("r.output_tokens", "r.output_metrics.text_tokens"));
    switch (group) {
      case "errored" -> b.status(Status.ERROR);
      case "incomplete" -> {
        b.status(Status.CUT);
        // These rows repeat the length that was asked for; only what was streamed counts.
        b.askedTokens(output);
        output = Json.count(f.number(t + "token_iterations"));
      }
      default -> b.status(Status.OK);
    }
    b.outputTokens(output, TokenSource.FILE);
    b.toolValues(f.number("r.time_per_output_token_ms"), f.number("r.inter_token_latency_ms"));
    long planned = seconds(f.text("r.scheduler_info.targeted_start_time", t + "targeted_start"));
    b.scheduleDelayMs(Json.elapsedMs(planned, start));
    String prompt = f.text("r.prompt", "r.request_args");
    if (prompt != null) {
      b.promptHash(PromptHash.of(prompt));
    }
    run.table().add(b.build());
  }

  private long outsideWindow;

  /** Warm-up and cool-down: rows that do not overlap the measured window of the new layout. */
  private static boolean outside(Flat f, long start, long end) {
    long from = seconds(f.text("scheduler_metrics.measure_start_time"));
    long to = seconds(f.text("scheduler_metrics.measure_end_time"));
    if (from == Request.NO_START || to == Request.NO_START || from >= to) {
      return false;
    }
    return start != Request.NO_START && end != Request.NO_START && (end < from || start > to);
  }

  private static long seconds(String text) {
    return text == null ? Request.NO_START : Json.nanoseconds(text, 9);
  }

  private void finish(Run run, Flat f) {
    boolean old = !newLayout && (f.has("run_stats") || f.has("request_totals"));
    Formula tpot = old ? Formula.TPOT_OVER_N : Formula.TPOT_INCL_FIRST;
    run.toolTpot = tpot;
    run.ttftClock = old ? Formula.TTFT_FIRST_CONTENT : Formula.TTFT_FIRST_TOKEN;
    String m = "metrics.";
    add(run, f, run.ttftClock, m + "time_to_first_token_ms", 1);
    add(run, f, Formula.TPOT_TOKEN_WEIGHTED, m + "inter_token_latency_ms", 1);
    add(run, f, tpot, m + "time_per_output_token_ms", 1);
    add(run, f, Formula.E2E_LAST_BYTE, m + "request_latency", 1000);
    run.ok = f.count("request_totals.successful", "metrics.request_totals.successful");
    run.errors = f.count("request_totals.errored", "metrics.request_totals.errored");
    run.cut = f.count("request_totals.incomplete", "metrics.request_totals.incomplete");
    run.total = f.count("request_totals.total", "metrics.request_totals.total");
    run.cancelled = run.ok < 0 ? -1 : 0;
    run.durationS = f.number("duration");
    if (Double.isNaN(run.durationS)) {
      String s = "scheduler_metrics.measure_";
      run.durationS =
          Json.elapsedMs(
                  seconds(f.text(s + "start_time", "start_time")),
                  seconds(f.text(s + "end_time", "end_time")))
              / 1000;
    }
    run.requestsPerS = f.number(m + "requests_per_second.successful.mean");
    run.outputTokensPerS = f.number(m + "output_tokens_per_second.successful.mean");
    run.meanConcurrency = f.number(m + "request_concurrency.successful.mean");
    run.peakConcurrency = f.number(m + "request_concurrency.total.max");
    run.meanInput = f.number(m + "prompt_token_count.successful.mean");
    run.stdInput = f.number(m + "prompt_token_count.successful.std_dev");
    run.meanOutput = f.number(m + "output_token_count.successful.mean");
    run.label("model", f.text("worker.backend_model", "config.backend.model"));
    String data = f.text("request_loader.data", "config.requests.data");
    run.askedOutput = asked(data, "output_tokens");
    run.askedInput = asked(data, "prompt_tokens");
    // GuideLLM streams unless told otherwise, and says nothing of it in old files.
    boolean sample = run.requests != null && run.ok > run.requests.count(Status.OK);
    if (sample) {
      run.notes.add(
          "holds "
              + run.requests.count(Status.OK)
              + " of "
              + run.ok
              + " answered requests: the file's own statistics are used");
      run.requests = null;
    }
    if (outsideWindow > 0) {
      run.notes.add(outsideWindow + " requests of warm-up and cool-down left out");
      outsideWindow = 0;
    }
  }

  private static double asked(String data, String key) {
    if (data == null) {
      return Double.NaN;
    }
    var m = java.util.regex.Pattern.compile(key + "\"?\\s*[=:]\\s*(\\d{1,9})").matcher(data);
    return m.find() ? Double.parseDouble(m.group(1)) : Double.NaN;
  }

  private static void add(Run run, Flat f, Formula formula, String path, double toMs) {
    String called = path.substring(path.indexOf('.') + 1);
    Reported r = f.statistics(formula, called, path + ".successful", toMs);
    Reported percentiles = f.statistics(formula, called, path + ".successful.percentiles", toMs);
    // p05 is the fifth percentile, p001 the 0.1st and p999 the 99.9th.
    percentiles.percentiles.forEach(
        (p, v) -> {
          if (p == 1 && f.has(path + ".successful.percentiles.p01")) {
            r.percentiles.put(
                1.0, Json.number(f.text(path + ".successful.percentiles.p01")) * toMs);
          } else {
            r.percentiles.put(p, v);
          }
        });
    if (r.count != 0) {
      run.add(r);
    }
  }
}
