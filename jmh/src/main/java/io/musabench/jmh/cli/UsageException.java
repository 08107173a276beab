package io.musabench.jmh.cli;

import io.musabench.results.run.RunException;

/** The command line asks for something that does not exist; the message is for the user. */
final class UsageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UsageException(String message) {
    super(message);
  }

  /**
   * For commands that read what the user names: what cannot be read is the user's to mend; what
   * cannot be written stays what it is.
   */
  static RuntimeException of(RunException e) {
    return e.unwritten() ? e : new UsageException(e.getMessage());
  }

  /** The message in one line, whatever a library below put into it. */
  static String oneLine(Exception e) {
    return String.valueOf(e.getMessage()).replaceAll("\\s*\\R\\s*", " ");
  }
}
