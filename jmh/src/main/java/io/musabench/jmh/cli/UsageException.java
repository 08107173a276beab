package io.musabench.jmh.cli;

/** The command line asks for something that does not exist; the message is for the user. */
final class UsageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UsageException(String message) {
    super(message);
  }
}
