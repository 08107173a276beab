package io.musabench.results.serving;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The tools whose own numbers can be reproduced from canonical requests, each with its definitions,
 * its habits, and what sets them apart from the course's.
 */
public enum Compat {
  GENAI_PERF(
      "genai-perf",
      "TTFT ignores reasoning; what it calls ITL is the course's TPOT, rounded to a nanosecond",
      "its goodput pairs the TTFTs of all requests with the TPOTs of those that have one, by"
          + " position, and counts the shorter list",
      "its request throughput counts empty answers too",
      "a request at the limit is good"),
  AIPERF(
      "aiperf",
      "what it calls ITL is the course's TPOT; the gaps between chunks are its ICL",
      "a request of one token, and any request without a value, is not good",
      "a request at the limit is good"),
  VLLM(
      "vllm",
      "TTFT stops at the first event with choices, even an empty one",
      "a request of one token is left out of TPOT's statistics, but its TPOT counts as 0 for"
          + " goodput",
      "ITL is per chunk, pooled; rates use the tool's own duration; a request at the limit is good"),
  SGLANG(
      "sglang",
      "its native client spreads a chunk's gap over the chunk's tokens; its OpenAI client does not",
      "it has no goodput; rates use the tool's own duration"),
  GUIDELLM(
      "guidellm",
      "what it calls TPOT is latency / n from 0.5 on (TTFT included) and (last - first) / n before",
      "its TPOT and ITL are weighted by tokens, percentiles are taken from the inverted CDF",
      "request latency runs to the end of the response; rates are over the measured window, if there"
          + " is one",
      "its goodput judges by its ITL, which is the course's TPOT, and leaves out what it cannot judge;"
          + " a request at the limit is good"),
  LLMPERF(
      "llmperf",
      "what it calls ITL is latency / n: TTFT is part of it",
      "failed requests are dropped; its standard deviation divides by n - 1; it has no goodput"),
  EVALSCOPE(
      "evalscope",
      "percentiles are the value at index ⌊n·p/100⌋ (the newest versions: nearest rank), rounded to"
          + " two decimals of ms, those of the latency to two decimals of s",
      "a request of one token has a TPOT of 0, which stays in the statistics",
      "duration runs from the first start to the last end, failed requests included"),
  INFERENCE_PERF(
      "inference-perf",
      "ITL counts the extra tokens of a chunk with a gap of 0; TPOT divides by the tokens of the text,"
          + " not by the server's count",
      "a request of one token has neither TTFT nor TPOT and is not good",
      "request latency runs to the end of the response; duration from the first start to the last"
          + " end, failed requests included; a request at the limit is good");

  private final String id;
  private final List<String> differences;

  Compat(String id, String... differences) {
    this.id = id;
    this.differences = List.of(differences);
  }

  /** The name on the command line. */
  public String id() {
    return id;
  }

  /** What differs from the course's definitions, in words. */
  public List<String> differences() {
    return differences;
  }

  /** The tool of that name. */
  public static Optional<Compat> named(String id) {
    return Arrays.stream(values()).filter(c -> c.id.equals(id)).findFirst();
  }

  /** All names. */
  public static List<String> names() {
    return Arrays.stream(values()).map(Compat::id).toList();
  }

  /** The tool's choices. */
  public Definitions definitions() {
    Definitions d = Definitions.COURSE.withCompat(this).withInclusive(true);
    return switch (this) {
      case GENAI_PERF ->
          d.with(Formula.TTFT_FIRST_CONTENT)
              .with(Formula.ITL_REQUEST_MEAN)
              .with(Definitions.SingleToken.EXCLUDE)
              .with(Definitions.Failed.EXCLUDE);
      case AIPERF ->
          d.with(Formula.ITL_REQUEST_MEAN)
              .with(Definitions.SingleToken.FAIL)
              .with(Definitions.Failed.EXCLUDE);
      case VLLM ->
          d.with(Formula.TTFT_FIRST_ANY)
              .with(Definitions.Failed.EXCLUDE)
              .with(Definitions.Duration.TOOL);
      case SGLANG ->
          d.with(Formula.TTFT_FIRST_CONTENT)
              .with(Definitions.Failed.EXCLUDE)
              .with(Definitions.Duration.TOOL);
      case GUIDELLM ->
          d.with(Formula.TPOT_INCL_FIRST)
              .with(Formula.ITL_REQUEST_MEAN)
              .with(Formula.E2E_LAST_BYTE)
              .with(Definitions.SingleToken.EXCLUDE)
              .with(PercentileMethod.NEAREST_RANK);
      case LLMPERF ->
          d.with(Formula.TTFT_FIRST_CONTENT)
              .with(Formula.ITL_INCL_FIRST)
              .with(Formula.E2E_LAST_BYTE)
              .with(Definitions.Failed.EXCLUDE);
      case EVALSCOPE ->
          d.with(Formula.TTFT_FIRST_ANY)
              .with(Formula.E2E_LAST_BYTE)
              .with(PercentileMethod.INDEX)
              .with(Definitions.Failed.EXCLUDE);
      case INFERENCE_PERF ->
          d.with(Formula.TTFT_FIRST_CONTENT)
              .with(Formula.ITL_ZERO)
              .with(Formula.E2E_LAST_BYTE)
              .with(Definitions.SingleToken.FAIL)
              .with(Definitions.Failed.EXCLUDE);
    };
  }

  /** Whether a value that is missing makes a request bad, instead of leaving it out. */
  boolean missingIsBad() {
    return this == AIPERF || this == INFERENCE_PERF;
  }

  /** Whether each request's TPOT and ITL counts as often as it has tokens. */
  boolean weightedByTokens() {
    return this == GUIDELLM;
  }

  int ddof() {
    return this == LLMPERF ? 1 : 0;
  }

  /** Rounds as the tool does: a value that goes into the statistics. */
  double roundTpot(double ms) {
    return this == GENAI_PERF ? Math.rint(ms * 1e6) / 1e6 : ms;
  }

  /** Rounds as the tool does: a percentile that it prints, the latency in seconds. */
  double roundPercentile(Metric metric, double ms) {
    double unit = metric == Metric.E2E ? 1000 : 1;
    return this == EVALSCOPE ? Math.rint(ms / unit * 100) / 100 * unit : ms;
  }

  /** Whether failed requests stretch the time that rates are divided by. */
  boolean failedInSpan() {
    return this == EVALSCOPE || this == INFERENCE_PERF;
  }
}
