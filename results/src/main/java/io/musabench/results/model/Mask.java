package io.musabench.results.model;

/** Which keys a query sees. */
public enum Mask {
  /** Every key. */
  FULL,
  /** Keys up to its own position; the last query sees the last key (bottom-right aligned). */
  CAUSAL
}
