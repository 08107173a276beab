package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;

/**
 * inference-perf: the summary of a run or of one stage, and the requests one by one. Seconds
 * throughout; the median is called {@code median}. The tokens of one chunk share its time, so a gap
 * of zero is an extra token of a chunk.
 */
final class InferencePerfReader implements Reader {
  private final boolean perRequest;

  InferencePerfReader(boolean perRequest) {
    this.perRequest = perRequest;
  }

  @Override
  public List<Run> read(Source source) throws IOException {
    Run run = new Run("inference-perf", source.name());
    run.ttftClock = Formula.TTFT_FIRST_CONTENT;
    try (InputStream in = source.open();
        JsonParser p = Json.parser(in)) {
      p.nextToken();
      if (perRequest) {
        run.table();
        Row row = new Row();
        Json.array(
            p,
            q -> {
              row.read(run, q);
              return true;
            });
        if (run.requests.size() == 0) {
          throw new ServingFormatException("no element of it has the times of a request");
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

  /** One request, with the times of its tokens; used again for the next. */
  private static final class Row {
    private final Request.Builder builder = Request.builder();
    private long[] times = new long[256];
    private int tokens;
    private long start;
    private long end;
    private boolean failed;
    private int input;
    private int output;
    private int usage;
    private String prompt;

    void read(Run run, JsonParser p) throws IOException {
      tokens = 0;
      start = Request.NO_START;
      end = Request.NO_START;
      failed = false;
      input = Request.MISSING;
      output = Request.MISSING;
      usage = Request.MISSING;
      prompt = null;
      Json.object(p, this::field);
      if (start == Request.NO_START && end == Request.NO_START) {
        run.unreadable++;
        return;
      }
      Request.Builder b = builder.clear().startNs(start).inputTokens(input);
      b.outputTokens(output, TokenSource.FILE);
      if (usage != Request.MISSING) {
        // The server counts exactly; the tool itself divides by its own count of the text.
        b.outputTokens(usage, TokenSource.USAGE).toolOutputTokens(output);
      }
      b.status(failed ? Status.ERROR : Status.OK).endMs(Json.elapsedMs(start, end));
      if (prompt != null) {
        b.promptHash(PromptHash.of(prompt));
      }
      int inChunk = 0;
      for (int i = 0; i < tokens; i++) {
        inChunk++;
        if (i + 1 == tokens || times[i + 1] != times[i]) {
          b.event(Json.elapsedMs(start, times[i]), inChunk, EventKind.CONTENT);
          inChunk = 0;
        }
      }
      if (tokens == 0) {
        b.someEventsOnly();
      }
      run.table().add(b.build());
    }

    private boolean field(String name, JsonParser p) throws IOException {
      switch (name) {
        case "start_time" -> start = Json.secondsAsNanoseconds(p);
        case "end_time" -> end = Json.secondsAsNanoseconds(p);
        case "request" -> prompt = Json.text(p);
        case "info" -> Json.object(p, this::info);
        case "error" -> {
          failed = p.currentToken() != JsonToken.VALUE_NULL;
          return false;
        }
        default -> {
          return false;
        }
      }
      return true;
    }

    /** Older versions have the counts right here, newer ones in objects of their own. */
    private boolean info(String name, JsonParser p) throws IOException {
      switch (name) {
        case "input_tokens", "prompt_tokens" -> input = Json.count(p);
        case "output_tokens" -> output = Json.count(p);
        case "completion_tokens" -> usage = Json.count(p);
        case "output_token_times" -> {
          if (tokens > 0) {
            return false;
          }
          Json.array(p, this::time);
        }
        case "request_metrics", "response_metrics", "server_usage", "text", "usage" ->
            Json.object(p, this::info);
        default -> {
          return false;
        }
      }
      return true;
    }

    private boolean time(JsonParser p) throws IOException {
      long t = Json.secondsAsNanoseconds(p);
      if (t != Request.NO_START) {
        if (tokens == times.length) {
          times = Arrays.copyOf(times, 2 * tokens);
        }
        times[tokens++] = t;
      }
      return true;
    }
  }

  private static void summary(Run run, Flat f) throws ServingFormatException {
    String latency = "successes.latency.";
    add(run, f, Formula.TTFT_FIRST_CONTENT, latency + "time_to_first_token");
    add(run, f, Formula.TPOT, latency + "time_per_output_token");
    add(run, f, Formula.ITL_ZERO, latency + "inter_token_latency");
    add(run, f, Formula.E2E_LAST_BYTE, latency + "request_latency");
    add(run, f, Formula.TPOT_INCL_FIRST, latency + "normalized_time_per_output_token");
    run.ok = f.count("successes.count");
    run.errors = f.count("failures.count");
    run.total = f.count("load_summary.count");
    if (run.total < 0 && run.ok >= 0) {
      run.total = run.ok + Math.max(0, run.errors);
    }
    if (run.total < 0 && run.reported.isEmpty()) {
      throw new ServingFormatException("it has neither counts nor latencies");
    }
    run.cancelled = run.total < 0 ? -1 : 0;
    run.requestsPerS = f.number("successes.throughput.requests_per_sec");
    run.outputTokensPerS = f.number("successes.throughput.output_tokens_per_sec");
    run.durationS = f.number("benchmark_time_seconds");
    if (Double.isNaN(run.durationS) && run.ok > 0) {
      run.durationS = run.ok / run.requestsPerS;
    }
    run.meanInput = f.number("successes.prompt_len.mean");
    run.promptLengths = f.lengths("successes.prompt_len");
    run.meanOutput = f.number("successes.output_len.mean");
    run.requestRate = f.number("load_summary.requested_rate");
    run.scheduleDelayMeanS = f.number("load_summary.schedule_delay.mean");
    run.scheduleDelayP99S = f.number("load_summary.schedule_delay.p99");
    run.concurrencyLimit = f.number("load_summary.concurrency");
    run.goodputPerS = f.number("successes.goodput_metrics.request_goodput");
    run.goodCount = f.number("successes.goodput_metrics.good_requests");
    if (f.has(latency + "time_to_first_token")) {
      run.streaming = Boolean.TRUE;
    }
  }

  private static void add(Run run, Flat f, Formula formula, String path) {
    String called = path.substring(path.lastIndexOf('.') + 1);
    run.add(f.statistics(formula, called, path, 1000));
  }
}
