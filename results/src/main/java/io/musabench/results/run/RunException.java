package io.musabench.results.run;

/**
 * A run directory that cannot be written or read. The message is one line that names the file and
 * the reason, fit to be shown to the user.
 */
public final class RunException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A problem without a cause in Java. */
  public RunException(String message) {
    super(message);
  }

  /** A problem with its cause. */
  public RunException(String message, Throwable cause) {
    super(message, cause);
  }
}
