package io.musabench.results.tpot.kernels;

/**
 * Kernel times that cannot be read. The message is one line that names the file, the line and the
 * column where there is one, and what is expected; it is fit to be shown to the user.
 */
public final class KernelSourceException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A problem without a cause in Java. */
  public KernelSourceException(String message) {
    super(message);
  }

  /** A problem with its cause. */
  public KernelSourceException(String message, Throwable cause) {
    super(message, cause);
  }
}
