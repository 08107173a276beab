package io.musabench.results.serving;

/** The latencies of a request that are summarised, all in milliseconds. */
public enum Metric {
  /** Time to first token. */
  TTFT("ttft"),
  /** Time to the first token of the answer, after any reasoning. */
  TTFO("ttfo"),
  /** Time per output token after the first. */
  TPOT("tpot"),
  /** Gap between neighbouring streamed tokens. */
  ITL("itl"),
  /** Latency of the whole request. */
  E2E("e2e");

  private final String id;

  Metric(String id) {
    this.id = id;
  }

  /** The key in the JSON output. */
  public String id() {
    return id;
  }
}
