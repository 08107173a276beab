package io.musabench.results.serving;

/** Where the number of output tokens of a request came from. */
public enum TokenSource {
  /** Nobody knows it. */
  UNKNOWN("unknown"),
  /** The server's own {@code usage} record. */
  USAGE("usage"),
  /** The result file says so, without saying how it counted. */
  FILE("file"),
  /** Token ids or per-event counts in the stream. */
  EVENTS("events"),
  /** One token assumed for each streamed chunk. */
  CHUNKS("chunks");

  private final String id;

  TokenSource(String id) {
    this.id = id;
  }

  /** The word used in reports. */
  public String id() {
    return id;
  }
}
