package io.musabench.results.serving;

import java.io.IOException;

/**
 * A file that cannot be read as a result of a serving benchmark. The only exception that readers
 * throw because of what a file holds; the message names the file and what is wrong with it.
 */
public final class ServingFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  /** A message without the file's name: the caller puts it in front. */
  ServingFormatException(String message) {
    super(message);
  }

  ServingFormatException(String message, Throwable cause) {
    super(message, cause);
  }
}
