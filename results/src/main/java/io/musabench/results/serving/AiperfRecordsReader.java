package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/**
 * AIPerf's {@code profile_export.jsonl}, both generations: tags {@code ttft} and {@code
 * time_to_first_token}, start in {@code timestamp_ns} and {@code request_start_ns}. The unit beside
 * each value is authoritative.
 */
final class AiperfRecordsReader implements Reader {
  /** How far the sum of the gaps may be from the latency and still be the same number. */
  private static final double SNAP_MS = 1e-3;

  private final Request.Builder builder = Request.builder();
  private double[] gaps = new double[512];
  private int gapCount;
  private double value;
  private String unit;
  private boolean list;

  private double ttft;
  private double ttfo;
  private double latency;
  private double tokenLatency;
  private int output;
  private int usage;
  private int answerTokens;
  private int reasoningTokens;
  private long startNs;
  private boolean known;
  private boolean warmup;
  private boolean cancelled;
  private boolean error;
  private long warmups;

  @Override
  public List<Run> read(Source source) throws IOException {
    Run run = new Run("aiperf", source.name());
    run.ttftClock = Formula.TTFT_FIRST_TOKEN;
    RequestTable table = run.table();
    Lines.read(source, run, p -> record(p, table));
    if (warmups > 0) {
      run.notes.add(warmups + " warm-up requests left out");
    }
    return List.of(run);
  }

  private void record(JsonParser p, RequestTable table) throws IOException {
    clear();
    Json.object(p, this::part);
    if (!known) {
      throw new ServingFormatException("neither metadata nor metrics");
    }
    if (warmup) {
      warmups++;
      return;
    }
    table.add(request());
  }

  private void clear() {
    builder.clear();
    gapCount = 0;
    list = false;
    ttft = Double.NaN;
    ttfo = Double.NaN;
    latency = Double.NaN;
    tokenLatency = Double.NaN;
    output = Request.MISSING;
    usage = Request.MISSING;
    answerTokens = Request.MISSING;
    reasoningTokens = Request.MISSING;
    startNs = Request.NO_START;
    known = false;
    warmup = false;
    cancelled = false;
    error = false;
  }

  private boolean part(String name, JsonParser p) throws IOException {
    switch (name) {
      case "metadata" -> {
        known = true;
        Json.object(p, this::metadata);
      }
      case "metrics" -> {
        known = true;
        Json.object(p, this::metric);
      }
      case "error" -> {
        error = p.currentToken() != JsonToken.VALUE_NULL;
        if (error) {
          Json.object(p, this::error);
        }
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private boolean metadata(String name, JsonParser p) throws IOException {
    switch (name) {
      case "timestamp_ns", "request_start_ns" -> startNs = Json.nanoseconds(p);
      case "benchmark_phase", "credit_phase" -> warmup = "warmup".equals(Json.text(p));
      case "was_cancelled" -> cancelled |= p.currentToken() == JsonToken.VALUE_TRUE;
      default -> {
        return false;
      }
    }
    return true;
  }

  private boolean error(String name, JsonParser p) throws IOException {
    if (name.equals("type") || name.equals("error_type")) {
      String type = Json.text(p);
      cancelled |= type != null && type.contains("Cancel");
      return true;
    }
    return false;
  }

  private boolean metric(String name, JsonParser p) throws IOException {
    boolean gapList = name.equals("inter_chunk_latency");
    switch (name) {
      case "min_request_timestamp" -> {
        if (startNs == Request.NO_START) {
          Json.object(
              p,
              (key, q) -> {
                if (key.equals("value")) {
                  startNs = Json.nanoseconds(q);
                  return true;
                }
                return false;
              });
          return true;
        }
        return false;
      }
      case "ttft",
          "time_to_first_token",
          "time_to_first_output_token",
          "request_latency",
          "inter_token_latency",
          "inter_chunk_latency",
          "output_sequence_length",
          "usage_completion_tokens",
          "output_token_count",
          "reasoning_token_count",
          "input_sequence_length" -> {
        value = Double.NaN;
        unit = "ms";
        Json.object(p, (key, q) -> valueAndUnit(key, q, gapList));
      }
      default -> {
        return false;
      }
    }
    double ms = toMs(unit);
    switch (name) {
      case "ttft", "time_to_first_token" -> ttft = value * ms;
      case "time_to_first_output_token" -> ttfo = value * ms;
      case "request_latency" -> latency = value * ms;
      case "inter_token_latency" -> tokenLatency = value * ms;
      case "output_sequence_length" -> output = Json.count(value);
      case "usage_completion_tokens" -> usage = Json.count(value);
      case "output_token_count" -> answerTokens = Json.count(value);
      case "reasoning_token_count" -> reasoningTokens = Json.count(value);
      case "input_sequence_length" -> builder.inputTokens(Json.count(value));
      default -> {
        for (int i = 0; i < gapCount && ms != 1; i++) {
          gaps[i] *= ms;
        }
      }
    }
    return true;
  }

  private boolean valueAndUnit(String key, JsonParser p, boolean gapList) throws IOException {
    if (key.equals("unit")) {
      unit = Json.text(p);
      return true;
    }
    if (!key.equals("value")) {
      return false;
    }
    if (gapList && p.currentToken() == JsonToken.START_ARRAY) {
      list = true;
      for (JsonToken t = p.nextToken(); t != JsonToken.END_ARRAY; t = p.nextToken()) {
        if (t == null) {
          throw new ServingFormatException("the line ends in the middle of an array");
        }
        if (gapCount == gaps.length) {
          gaps = Arrays.copyOf(gaps, 2 * gapCount);
        }
        gaps[gapCount++] = Json.number(p);
      }
    } else {
      value = Json.number(p);
    }
    return true;
  }

  /** Milliseconds in a unit of time; 1 for everything else. */
  static double toMs(String unit) {
    if (unit == null) {
      return 1;
    }
    return switch (unit) {
      case "ns" -> 1e-6;
      case "us" -> 1e-3;
      case "s", "sec", "seconds" -> 1e3;
      default -> 1;
    };
  }

  private Request request() {
    builder.startNs(startNs).endMs(latency).toolValues(tokenLatency, Double.NaN);
    if (output == Request.MISSING && usage != Request.MISSING) {
      builder.outputTokens(usage, TokenSource.USAGE);
    } else if (output == Request.MISSING && answerTokens != Request.MISSING) {
      builder.outputTokens(answerTokens + Math.max(0, reasoningTokens), TokenSource.FILE);
    } else {
      builder.outputTokens(output, TokenSource.FILE);
    }
    builder.status(cancelled ? Status.CANCELLED : error ? Status.ERROR : Status.OK);
    if (!list) {
      builder.someEventsOnly();
    }
    if (Double.isNaN(ttft)) {
      return builder.build();
    }
    boolean reasoning = ttfo > ttft + SNAP_MS;
    // Later times are counted from the TTFT: without a real one only the end is known.
    double t = ttft > 0 ? ttft : Double.NaN;
    builder.event(ttft, Request.MISSING, reasoning ? EventKind.REASONING : EventKind.CONTENT);
    for (int i = 0; i < gapCount; i++) {
      t += gaps[i];
      boolean last = i == gapCount - 1;
      double at = last && !(Math.abs(t - latency) >= SNAP_MS) ? latency : t;
      boolean before = reasoning && at < ttfo - SNAP_MS;
      EventKind kind = before ? EventKind.REASONING : EventKind.CONTENT;
      builder.event(at, gaps[i], Request.MISSING, kind);
    }
    if (!list) {
      if (reasoning) {
        builder.event(ttfo, Request.MISSING, EventKind.CONTENT);
      }
      if (!Double.isNaN(latency)) {
        builder.event(latency, Request.MISSING, EventKind.CONTENT);
      }
    }
    return builder.build();
  }
}
