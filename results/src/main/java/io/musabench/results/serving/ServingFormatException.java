package io.musabench.results.serving;

import java.io.IOException;

/**
 * A file that cannot be read as a result of a serving benchmark. The only exception that readers
 * throw because of what a file holds; the message names the file and what is wrong with it, in one
 * line but for line breaks in what the file holds.
 */
public final class ServingFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  private final boolean unknownFormat;

  /** A message without the file's name: the caller puts it in front. */
  ServingFormatException(String message) {
    this(message, false);
  }

  ServingFormatException(String message, boolean unknownFormat) {
    super(message);
    this.unknownFormat = unknownFormat;
  }

  ServingFormatException(String message, Throwable cause) {
    super(message, cause);
    this.unknownFormat = cause instanceof ServingFormatException e && e.unknownFormat;
  }

  /** Whether the file has the marks of no {@link Format}. */
  public boolean unknownFormat() {
    return unknownFormat;
  }
}
