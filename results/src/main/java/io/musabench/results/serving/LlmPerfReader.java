package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/**
 * LLMPerf's two files: the flat summary and the individual responses. Numbers may be in quotes.
 * What LLMPerf calls inter-token latency is the whole latency divided by n; rows that failed hold
 * it undivided. No start times, so no rate can be exact.
 */
final class LlmPerfReader implements Reader {
  private final boolean individual;

  LlmPerfReader(boolean individual) {
    this.individual = individual;
  }

  @Override
  public List<Run> read(Source source) throws IOException {
    Run run = new Run("llmperf", source.name());
    run.ttftClock = Formula.TTFT_FIRST_CONTENT;
    run.streaming = Boolean.TRUE;
    try (InputStream in = source.open();
        JsonParser p = Json.parser(in)) {
      p.nextToken();
      if (individual) {
        run.table();
        Json.array(
            p,
            q -> {
              response(run, q);
              return true;
            });
        if (run.requests.size() == 0) {
          throw new ServingFormatException("no element of it is a response");
        }
      } else {
        Flat f = new Flat();
        Json.object(
            p,
            (name, q) -> {
              f.put(name, q);
              return true;
            });
        summary(run, f);
      }
    } catch (com.fasterxml.jackson.core.JsonProcessingException | java.io.EOFException e) {
      if (run.requests == null || run.requests.size() == 0) {
        throw e;
      }
      run.notes.add("the file is cut off or damaged; what came before was read");
    }
    return List.of(run);
  }

  private static void response(Run run, JsonParser p) throws IOException {
    Flat f = new Flat();
    f.put("r", p);
    if (f.text("r.end_to_end_latency_s", "r.ttft_s", "r.error_code") == null) {
      run.unreadable++;
      return;
    }
    String code = f.text("r.error_code");
    boolean failed = code != null && !code.isBlank() && !code.equalsIgnoreCase("none");
    double ttft = f.number("r.ttft_s") * 1000;
    double latency = f.number("r.end_to_end_latency_s") * 1000;
    Request.Builder b = Request.builder().someEventsOnly();
    b.status(failed ? Status.ERROR : Status.OK);
    if (!Double.isNaN(ttft)) {
      b.event(ttft, Request.MISSING, EventKind.CONTENT);
    }
    b.endMs(latency);
    b.inputTokens(Json.count(f.number("r.number_input_tokens")));
    b.outputTokens(Json.count(f.number("r.number_output_tokens")), TokenSource.FILE);
    b.toolValues(Double.NaN, f.number("r.inter_token_latency_s") * 1000);
    run.table().add(b.build());
  }

  private static void summary(Run run, Flat f) throws ServingFormatException {
    add(run, f, Formula.TTFT_FIRST_CONTENT, "ttft_s");
    add(run, f, Formula.ITL_INCL_FIRST, "inter_token_latency_s");
    add(run, f, Formula.E2E_LAST_BYTE, "end_to_end_latency_s");
    if (run.reported.isEmpty()) {
      throw new ServingFormatException("none of its statistics can be read");
    }
    run.ok = f.count("results_num_completed_requests");
    run.total = f.count("results_num_requests_started");
    run.errors = f.count("results_number_errors");
    run.cancelled = run.total < 0 ? -1 : 0;
    run.requestsPerS = f.number("results_num_completed_requests_per_min") / 60;
    run.outputTokensPerS = f.number("results_mean_output_throughput_token_per_s");
    run.durationS = run.ok > 0 ? run.ok / run.requestsPerS : Double.NaN;
    run.concurrencyLimit = f.number("num_concurrent_requests");
    run.meanInput = f.number("results_number_input_tokens_mean");
    run.stdInput = f.number("results_number_input_tokens_stddev");
    run.meanOutput = f.number("results_number_output_tokens_mean");
    run.askedInput = f.number("mean_input_tokens");
    run.askedOutput = f.number("mean_output_tokens");
    run.toolVersion = f.text("version");
    run.label("model", f.text("model"));
    run.label("framework", f.text("framework"));
  }

  private static void add(Run run, Flat f, Formula formula, String word) {
    Reported r = new Reported(formula, word);
    String prefix = "results_" + word + "_";
    for (var e : f.all().entrySet()) {
      if (e.getKey().startsWith(prefix)) {
        r.set(e.getKey().substring(prefix.length()), Json.number(e.getValue()) * 1000);
      }
    }
    run.add(r);
  }
}
