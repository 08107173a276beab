package io.musabench.jmh.cli;

/** No device can be used; the message, possibly of several lines, says what to do. */
final class NoTargetException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NoTargetException(String message) {
    super(message);
  }
}
