package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/**
 * Our own request log: JSON Lines, one canonical request a line.
 *
 * <pre>{@code
 * {"schema": "musabench.request/1", "start_ns": 1759522419159192408, "scheduled_ns": …,
 *  "status": "ok|error|cancelled|cut", "end_ms": 412.5,
 *  "events": [[100.0, 1, "content"], [120.0, 2, "content|reasoning|empty"]],
 *  "input_tokens": 1024, "output_tokens": 256, "asked_tokens": 256, "token_source": "usage",
 *  "prompt": "…"}
 * }</pre>
 *
 * Only {@code schema} is required; times of events are milliseconds since the start, token counts
 * of events may be null.
 */
final class OwnRecordsReader implements Reader {
  /** The value of {@code schema} that this version reads. */
  static final String SCHEMA = "musabench.request/1";

  private final Request.Builder builder = Request.builder();
  private boolean known;
  private long start;
  private long scheduled;
  private int output;
  private TokenSource tokenSource;
  private boolean events;
  private boolean kinds;

  @Override
  public List<Run> read(Source source) throws IOException {
    Run run = new Run("musabench", source.name());
    RequestTable table = run.table();
    Lines.read(source, run, p -> request(p, table));
    run.tellsReasoning = kinds;
    return List.of(run);
  }

  private void request(JsonParser p, RequestTable table) throws IOException {
    builder.clear();
    known = false;
    events = false;
    start = Request.NO_START;
    scheduled = Request.NO_START;
    output = Request.MISSING;
    tokenSource = TokenSource.FILE;
    Json.object(p, this::field);
    if (!known) {
      throw new ServingFormatException("a line is not of schema " + SCHEMA);
    }
    builder.startNs(start).scheduleDelayMs(Json.elapsedMs(scheduled, start));
    builder.outputTokens(output, tokenSource);
    if (!events) {
      builder.someEventsOnly();
    }
    table.add(builder.build());
  }

  private boolean field(String name, JsonParser p) throws IOException {
    switch (name) {
      case "schema" -> known = SCHEMA.equals(Json.text(p));
      case "start_ns" -> start = Json.nanoseconds(p);
      case "scheduled_ns" -> scheduled = Json.nanoseconds(p);
      case "status" -> builder.status(word(Status.class, p, Status.ERROR));
      case "end_ms" -> builder.endMs(Json.number(p));
      case "input_tokens" -> builder.inputTokens(Json.count(p));
      case "output_tokens" -> output = Json.count(p);
      case "asked_tokens" -> builder.askedTokens(Json.count(p));
      case "token_source" -> tokenSource = word(TokenSource.class, p, TokenSource.FILE);
      case "prompt" -> {
        String text = Json.text(p);
        builder.promptHash(text == null ? 0 : PromptHash.of(text));
      }
      case "events" -> {
        events = true;
        Json.array(p, this::event);
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private boolean event(JsonParser p) throws IOException {
    if (p.currentToken() != JsonToken.START_ARRAY) {
      return false;
    }
    double[] ms = {Double.NaN};
    int[] tokens = {Request.MISSING};
    EventKind[] kind = {EventKind.CONTENT};
    int[] i = {0};
    Json.array(
        p,
        q -> {
          switch (i[0]++) {
            case 0 -> ms[0] = Json.number(q);
            case 1 -> tokens[0] = Json.count(q);
            case 2 -> {
              kind[0] = word(EventKind.class, q, EventKind.CONTENT);
              kinds = true;
            }
            default -> {
              return false;
            }
          }
          return true;
        });
    if (!Double.isNaN(ms[0])) {
      builder.event(ms[0], tokens[0], kind[0]);
    }
    return true;
  }

  private static <E extends Enum<E>> E word(Class<E> type, JsonParser p, E otherwise)
      throws IOException {
    String text = Json.text(p);
    for (E e : type.getEnumConstants()) {
      if (e.name().toLowerCase(Locale.ROOT).equals(text)) {
        return e;
      }
    }
    return otherwise;
  }
}
