package io.musabench.results.tpot;

import java.util.Locale;

/** What limits a step or a service. */
public enum Bound {
  /** Reading weights and KV cache. */
  MEMORY_BANDWIDTH,
  /** Arithmetic. */
  COMPUTE,
  /** Communication between the ranks. */
  LINK,
  /** Launching: the device waits for the host. */
  HOST,
  /** Requests wait because the KV cache is full. */
  KV_CAPACITY,
  /** Requests wait because the server runs no more at a time. */
  RUNNING_LIMIT,
  /** Requests wait because steps are full of tokens. */
  TOKEN_BUDGET,
  /** Half of the time or more goes to prefills. */
  PREFILL,
  /** No roofs are known to tell. */
  UNKNOWN;

  /** Name in reports and files: {@code memory bandwidth} for {@link #MEMORY_BANDWIDTH}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
