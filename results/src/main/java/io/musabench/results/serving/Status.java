package io.musabench.results.serving;

/** How a request ended. */
public enum Status {
  /** Answered with at least one token. */
  OK,
  /** Refused, failed, or answered with nothing at all. */
  ERROR,
  /** Given up by the client on purpose, as benchmarks of cancellation do. */
  CANCELLED,
  /** Still running when the benchmark's time was over. */
  CUT
}
