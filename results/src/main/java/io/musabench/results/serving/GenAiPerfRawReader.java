package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code profile_export.json} of perf_analyzer, the raw data behind GenAI-Perf: nanosecond times of
 * every response and what came, which is server-sent events, Triton text, or Triton token ids. One
 * run an experiment.
 */
final class GenAiPerfRawReader implements Reader {
  private final Request.Builder builder = Request.builder();
  private final StreamEvents events = new StreamEvents();
  private final List<Run> runs = new ArrayList<>();
  private Source source;
  private Run run;

  private long timestamp;
  private final List<Long> arrivals = new ArrayList<>();
  private final List<Output> outputs = new ArrayList<>();
  private boolean streamAsked;
  private boolean streamSeen;

  /** One response: text of a stream, text of Triton, or a number of token ids. */
  private record Output(String response, String text, int ids) {}

  @Override
  public List<Run> read(Source from) throws IOException {
    source = from;
    String endpoint = null;
    String kind = null;
    try (InputStream in = from.open();
        JsonParser p = Json.parser(in)) {
      p.nextToken();
      while (p.nextToken() == JsonToken.FIELD_NAME) {
        String name = p.currentName();
        p.nextToken();
        switch (name) {
          case "experiments" -> Json.array(p, this::experiment);
          case "endpoint" -> endpoint = Json.text(p);
          case "service_kind" -> kind = Json.text(p);
          default -> p.skipChildren();
        }
      }
    } catch (JsonProcessingException | java.io.EOFException | ServingFormatException e) {
      if (run == null || run.requests == null) {
        throw e;
      }
      run.notes.add("the file is cut off or damaged here; what came before was read");
      if (!runs.contains(run)) {
        runs.add(run);
      }
    }
    if (runs.isEmpty()) {
      throw new ServingFormatException("it holds no experiment");
    }
    for (Run r : runs) {
      r.source = runs.size() == 1 ? source.name() : r.source;
      r.label("endpoint", endpoint);
      r.label("service_kind", kind);
    }
    return List.copyOf(runs);
  }

  private boolean experiment(JsonParser p) throws IOException {
    run = new Run("genai-perf", source.name() + " [" + (runs.size() + 1) + "]");
    run.tellsReasoning = true;
    run.table();
    streamAsked = false;
    streamSeen = false;
    Json.object(
        p,
        (name, q) -> {
          switch (name) {
            case "experiment" -> Json.object(q, this::load);
            case "requests" -> Json.array(q, this::request);
            default -> {
              return false;
            }
          }
          return true;
        });
    if (streamAsked || streamSeen) {
      run.streaming = Boolean.TRUE;
    }
    runs.add(run);
    return true;
  }

  private String mode;
  private double load;

  private boolean load(String name, JsonParser p) throws IOException {
    switch (name) {
      case "mode" -> mode = Json.text(p);
      case "value" -> load = Json.number(p);
      default -> {
        return false;
      }
    }
    if ("concurrency".equals(mode)) {
      run.concurrencyLimit = load;
    } else if ("request_rate".equals(mode)) {
      run.requestRate = load;
    }
    return true;
  }

  private boolean request(JsonParser p) throws IOException {
    builder.clear();
    arrivals.clear();
    outputs.clear();
    timestamp = Request.NO_START;
    Json.object(
        p,
        (name, q) -> {
          switch (name) {
            case "timestamp" -> timestamp = Json.nanoseconds(q);
            case "response_timestamps" ->
                Json.array(
                    q,
                    r -> {
                      arrivals.add(Json.nanoseconds(r));
                      return true;
                    });
            case "response_outputs" -> Json.array(q, this::output);
            case "request_inputs" -> Json.object(q, this::input);
            default -> {
              return false;
            }
          }
          return true;
        });
    run.table().add(assemble());
    return true;
  }

  private boolean output(JsonParser p) throws IOException {
    String[] texts = {null, null};
    int[] ids = {0};
    Json.object(
        p,
        (name, q) -> {
          switch (name) {
            case "response" -> texts[0] = Json.text(q);
            case "text_output" -> texts[1] = Json.text(q);
            case "output_ids" -> {
              if (q.currentToken() == JsonToken.START_ARRAY) {
                Json.array(
                    q,
                    r -> {
                      ids[0]++;
                      return false;
                    });
              } else {
                ids[0] = Json.count(q) == Request.MISSING ? 0 : 1;
              }
            }
            default -> {
              return false;
            }
          }
          return true;
        });
    outputs.add(new Output(texts[0], texts[1], ids[0]));
    return true;
  }

  private boolean input(String name, JsonParser p) throws IOException {
    switch (name) {
      case "payload" -> payload(p);
      case "input_lengths" -> builder.inputTokens(Json.count(p));
      case "request_output_len", "max_tokens" -> builder.askedTokens(Json.count(p));
      case "streaming" -> streamAsked |= p.currentToken() == JsonToken.VALUE_TRUE;
      default -> {
        return false;
      }
    }
    return true;
  }

  /** The body sent to the server, itself JSON: in a string or as it is. */
  private void payload(JsonParser p) throws IOException {
    if (p.currentToken() != JsonToken.VALUE_STRING) {
      Json.object(p, this::body);
      return;
    }
    String text = p.getText();
    builder.promptHash(PromptHash.of(text));
    try (JsonParser q = Json.FACTORY.createParser(text)) {
      q.nextToken();
      Json.object(q, this::body);
    } catch (JsonProcessingException e) {
      // The request is what it is; only its options stay unknown.
    }
  }

  private boolean body(String name, JsonParser p) throws IOException {
    switch (name) {
      case "stream" -> streamAsked |= p.currentToken() == JsonToken.VALUE_TRUE;
      case "max_tokens", "max_completion_tokens" -> builder.askedTokens(Json.count(p));
      case "model" -> run.label("model", Json.text(p));
      default -> {
        return false;
      }
    }
    return true;
  }

  private Request assemble() throws IOException {
    builder.startNs(timestamp);
    events.start(builder);
    int n = Math.min(arrivals.size(), outputs.size());
    double end = Double.NaN;
    for (int i = 0; i < n; i++) {
      double ms = Json.elapsedMs(timestamp, arrivals.get(i));
      if (Double.isNaN(ms)) {
        continue;
      }
      Output o = outputs.get(i);
      end = ms;
      if (o.response != null) {
        events.record(o.response, ms);
      } else if (o.ids > 0) {
        builder.event(ms, o.ids, EventKind.CONTENT);
      } else {
        boolean some = o.text != null && !o.text.isEmpty();
        int tokens = some ? Request.MISSING : 0;
        builder.event(ms, tokens, some ? EventKind.CONTENT : EventKind.EMPTY);
      }
    }
    builder.endMs(end);
    streamSeen |= n > 1;
    if (events.usageInput != Request.MISSING) {
      builder.inputTokens(events.usageInput);
    }
    if (events.usageOutput != Request.MISSING) {
      builder.outputTokens(events.usageOutput, TokenSource.USAGE);
    }
    if (events.failed) {
      builder.status(Status.ERROR);
    }
    return builder.build();
  }
}
