package io.musabench.bindings.runtime;

/** Which calls the runtime forbids while a stream is being captured. */
public enum CaptureMode {
  /** Unsafe calls (a synchronous copy, an allocation) fail from any thread. */
  GLOBAL(0),
  /** Unsafe calls fail from the capturing thread only. */
  THREAD_LOCAL(1),
  /** Nothing fails for being unsafe. */
  RELAXED(2);

  private final int code;

  CaptureMode(int code) {
    this.code = code;
  }

  /** The runtime's number for this mode. */
  public int code() {
    return code;
  }
}
