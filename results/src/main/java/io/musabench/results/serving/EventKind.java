package io.musabench.results.serving;

/** What one streamed event carries. */
public enum EventKind {
  /** A role, a finish reason, a usage record: no token. */
  EMPTY,
  /** Tokens of the model's reasoning. */
  REASONING,
  /** Tokens of the answer. */
  CONTENT
}
