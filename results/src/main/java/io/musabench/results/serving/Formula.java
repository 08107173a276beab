package io.musabench.results.serving;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The named formulas. The same word means different things to different tools; a number in a report
 * always stands beside one of these names.
 *
 * <p>Notation: <i>start</i> is when the request was sent, n the number of output tokens, k the
 * number of tokens in the first chunk (1 unless the file tells), latency the time by the {@code
 * e2e} formula in use.
 */
public enum Formula {
  TTFT_FIRST_TOKEN(
      Metric.TTFT, "ttft.first_token", true, "start to the first token, reasoning included"),
  TTFT_FIRST_CONTENT(
      Metric.TTFT, "ttft.first_content", true, "start to the first token of the answer"),
  TTFT_FIRST_ANY(
      Metric.TTFT, "ttft.first_any", false, "start to the first event, even one without a token"),
  TTFT_SERVER(
      Metric.TTFT, "ttft.server", false, "entry into the server's queue to the first token"),
  TTFO_FIRST_CONTENT(
      Metric.TTFO, "ttft.first_content", true, "start to the first token of the answer"),
  TPOT(Metric.TPOT, "tpot", true, "(latency - TTFT) / (n - k), one value a request"),
  TPOT_TOKEN_WEIGHTED(
      Metric.TPOT,
      "tpot.token_weighted",
      false,
      "(last token - first token) / (n - 1), each request weighted by its tokens"),
  TPOT_INCL_FIRST(Metric.TPOT, "tpot.incl_first", false, "latency / n: TTFT is part of it"),
  TPOT_OVER_N(Metric.TPOT, "tpot.over_n", false, "(last token - first token) / n"),
  ITL_CHUNK(Metric.ITL, "itl.chunk", true, "gaps between chunks with tokens, pooled"),
  ITL_SPREAD(Metric.ITL, "itl.spread", false, "a chunk's gap shared equally by its tokens, pooled"),
  ITL_ZERO(
      Metric.ITL, "itl.zero", false, "first token of a chunk has the gap, the others 0, pooled"),
  ITL_REQUEST_MEAN(
      Metric.ITL, "itl.request_mean", false, "(latency - TTFT) / (n - k), one value a request"),
  ITL_INCL_FIRST(Metric.ITL, "itl.incl_first", false, "latency / n: TTFT is part of it"),
  E2E_LAST_TOKEN(Metric.E2E, "e2e.last_token", true, "start to the last token"),
  E2E_LAST_BYTE(Metric.E2E, "e2e.last_byte", true, "start to the end of the response");

  private final Metric metric;
  private final String id;
  private final boolean course;
  private final String meaning;

  Formula(Metric metric, String id, boolean course, String meaning) {
    this.metric = metric;
    this.id = id;
    this.course = course;
    this.meaning = meaning;
  }

  /** What it is a formula of. */
  public Metric metric() {
    return metric;
  }

  /** The name that reports print. */
  public String id() {
    return id;
  }

  /** In words. */
  public String meaning() {
    return meaning;
  }

  /** Whether its values may stand in one column with the default definition's. */
  boolean comparable() {
    return course;
  }

  /** The formula of that name for that metric; {@code chunk} for {@code itl.chunk} is enough. */
  public static Optional<Formula> of(Metric metric, String name) {
    return Arrays.stream(values())
        .filter(f -> f.metric == metric)
        .filter(f -> f.id.equals(name) || f.id.equals(metric.id() + "." + name))
        .findFirst();
  }

  /** The names of the formulas of a metric. */
  public static List<String> names(Metric metric) {
    return Arrays.stream(values()).filter(f -> f.metric == metric).map(Formula::id).toList();
  }
}
