package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.util.List;

/**
 * The request log of LLMServingSim's vLLM runs. Arrival is an epoch, everything else a monotonic
 * clock, so the two are never subtracted: TTFT runs from the request's entry into the server's
 * queue, and says so.
 */
final class ServingSimReader implements Reader {
  private long queued;
  private long first;
  private long last;
  private final Request.Builder builder = Request.builder();

  @Override
  public List<Run> read(Source source) throws IOException {
    Run run = new Run("llmservingsim", source.name());
    run.ttftClock = Formula.TTFT_SERVER;
    run.notes.add("times are the server's: TTFT starts when the request enters its queue");
    run.streaming = Boolean.TRUE;
    RequestTable table = run.table();
    Lines.read(source, run, p -> request(p, table));
    return List.of(run);
  }

  private void request(JsonParser p, RequestTable table) throws IOException {
    builder.clear().someEventsOnly();
    queued = Request.NO_START;
    first = Request.NO_START;
    last = Request.NO_START;
    Json.object(p, this::field);
    if (queued == Request.NO_START && first == Request.NO_START && last == Request.NO_START) {
      throw new ServingFormatException("no time in it");
    }
    builder.startNs(queued);
    double ttft = Json.elapsedMs(queued, first);
    double end = Json.elapsedMs(queued, last);
    if (!Double.isNaN(ttft)) {
      builder.event(ttft, Request.MISSING, EventKind.CONTENT);
      if (!Double.isNaN(end)) {
        builder.event(end, Request.MISSING, EventKind.CONTENT);
      }
    }
    table.add(builder.endMs(end).build());
  }

  private boolean field(String name, JsonParser p) throws IOException {
    switch (name) {
      case "input_toks" -> builder.inputTokens(Json.count(p));
      case "output_toks" -> builder.outputTokens(Json.count(p), TokenSource.FILE);
      case "queued_ts" -> queued = Json.secondsAsNanoseconds(p);
      case "first_token_ts" -> first = Json.secondsAsNanoseconds(p);
      case "last_token_ts" -> last = Json.secondsAsNanoseconds(p);
      default -> {
        return false;
      }
    }
    return true;
  }
}
