package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/**
 * Server-sent events of an OpenAI-compatible server, as clients record them: one record may hold
 * several events, or a splinter of one that the next record completes. Feeds a {@link
 * Request.Builder}.
 */
final class StreamEvents {
  private static final int MAX_PENDING = 16 << 20;

  private Request.Builder builder;
  private final StringBuilder pending = new StringBuilder();

  /** The server's own counts, or {@link Request#MISSING}. */
  int usageOutput;

  int usageInput;
  boolean failed;

  /** When {@code [DONE]} or the last event came, in milliseconds; NaN if nothing did. */
  double endMs;

  /** Whether every answer was a whole one and none a chunk of a stream. */
  boolean whole;

  private boolean anyChoice;
  private boolean content;
  private boolean reasoning;

  void start(Request.Builder b) {
    builder = b;
    pending.setLength(0);
    usageOutput = Request.MISSING;
    usageInput = Request.MISSING;
    failed = false;
    endMs = Double.NaN;
    whole = false;
  }

  /** One record of the client that arrived {@code ms} after the start. */
  void record(String text, double ms) throws IOException {
    endMs = ms;
    if (pending.isEmpty() && text.startsWith("{")) {
      json(text, ms);
      return;
    }
    if (pending.length() + text.length() > MAX_PENDING) {
      throw new ServingFormatException("a server-sent event is longer than 16 MiB");
    }
    pending.append(text);
    int from = 0;
    for (int end = blankLine(from); end >= 0; end = blankLine(from)) {
      event(pending.substring(from, end), ms);
      from = end;
      while (from < pending.length()
          && (pending.charAt(from) == '\n' || pending.charAt(from) == '\r')) {
        from++;
      }
    }
    pending.delete(0, from);
    // Some clients strip the blank line at the end: what is whole by itself is an event.
    String rest = pending.toString();
    if (!rest.isBlank() && complete(rest)) {
      event(rest, ms);
      pending.setLength(0);
    }
  }

  private int blankLine(int from) {
    int lf = pending.indexOf("\n\n", from);
    int crlf = pending.indexOf("\r\n\r\n", from);
    return lf < 0 ? crlf : crlf < 0 ? lf : Math.min(lf, crlf);
  }

  private static boolean complete(String text) {
    String data = data(text);
    return data.equals("[DONE]") || (data.endsWith("}") && parses(data));
  }

  private static boolean parses(String json) {
    try (JsonParser p = Json.FACTORY.createParser(json)) {
      while (p.nextToken() != null) {
        // Only whether it is whole matters.
      }
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** The data lines of an event, without their prefix. */
  private static String data(String event) {
    StringBuilder data = new StringBuilder();
    event
        .lines()
        .filter(line -> line.startsWith("data:"))
        .forEach(line -> data.append(line.substring(5).strip()));
    return data.toString();
  }

  private void event(String text, double ms) throws IOException {
    if (text.lines().anyMatch(line -> line.strip().equals("event: error"))) {
      failed = true;
      return;
    }
    String data = data(text);
    if (!data.isEmpty() && !data.equals("[DONE]")) {
      json(data, ms);
    }
  }

  private void json(String text, double ms) throws IOException {
    anyChoice = false;
    content = false;
    reasoning = false;
    try (JsonParser p = Json.FACTORY.createParser(text)) {
      p.nextToken();
      Json.object(p, this::root);
    } catch (JsonProcessingException e) {
      // One damaged chunk is a chunk without a token.
      return;
    }
    if (content || reasoning) {
      builder.event(ms, Request.MISSING, content ? EventKind.CONTENT : EventKind.REASONING);
    } else if (anyChoice) {
      builder.event(ms, 0, EventKind.EMPTY);
    }
  }

  private boolean root(String name, JsonParser p) throws IOException {
    switch (name) {
      case "choices" -> Json.array(p, this::choice);
      case "usage" -> Json.object(p, this::usage);
      // Triton's generate endpoint and Hugging Face's have no choices.
      case "text_output", "generated_text" -> {
        anyChoice = true;
        content |= nonEmpty(p);
      }
      case "error" -> {
        failed |= p.currentToken() != JsonToken.VALUE_NULL;
        return false;
      }
      case "object" -> {
        String object = Json.text(p);
        whole |= "chat.completion".equals(object);
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private boolean choice(JsonParser p) throws IOException {
    Json.object(
        p,
        (name, q) -> {
          anyChoice = true;
          switch (name) {
            case "delta", "message" -> Json.object(q, this::delta);
            case "text" -> content |= nonEmpty(q);
            default -> {
              return false;
            }
          }
          return true;
        });
    return true;
  }

  private boolean delta(String name, JsonParser p) throws IOException {
    switch (name) {
      case "content" -> content |= nonEmpty(p);
      case "reasoning", "reasoning_content" -> reasoning |= nonEmpty(p);
      case "tool_calls" -> {
        boolean[] any = {false};
        Json.array(
            p,
            q -> {
              any[0] = true;
              return false;
            });
        content |= any[0];
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private static boolean nonEmpty(JsonParser p) throws IOException {
    String text = Json.text(p);
    return text != null && !text.isEmpty();
  }

  private boolean usage(String name, JsonParser p) throws IOException {
    switch (name) {
      // Reasoning tokens are part of completion_tokens already.
      case "completion_tokens" -> usageOutput = Json.count(p);
      case "prompt_tokens" -> usageInput = Json.count(p);
      default -> {
        return false;
      }
    }
    return true;
  }
}
