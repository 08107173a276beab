package io.musabench.results.run;

import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/**
 * A run directory, or what is kept beside it, that cannot be written or read. The message is one
 * line that names the file and the reason, fit to be shown to the user.
 */
public final class RunException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean unwritten;

  /** A problem without a cause in Java. */
  public RunException(String message) {
    this(message, null);
  }

  /** What cannot be done, with the file system's reason in words. */
  public static RunException because(String what, Exception cause) {
    return new RunException(what + ": " + reason(cause), cause);
  }

  /** As {@link #because}, for what cannot be written: not the fault of what was asked for. */
  public static RunException unwritten(String what, Exception cause) {
    String reason = cause instanceof NoSuchFileException ? "its folder is gone" : reason(cause);
    return new RunException(what + ": " + reason, cause, true);
  }

  /** Whether something could not be written; otherwise it could not be read, or is refused. */
  public boolean unwritten() {
    return unwritten;
  }

  // Java's own messages are often the bare path, or a class name.
  private static String reason(Exception cause) {
    if (cause instanceof NoSuchFileException) {
      return "it does not exist";
    }
    if (cause instanceof AccessDeniedException) {
      return "permission denied";
    }
    if (cause instanceof FileAlreadyExistsException) {
      return "there is a file of that name";
    }
    if (cause instanceof NotDirectoryException) {
      return "it is not a folder";
    }
    // A damaged file is found while its rows are read, in a loop that cannot throw this as it is.
    if (cause instanceof UncheckedIOException unchecked) {
      return reason(unchecked.getCause());
    }
    if (cause instanceof CharacterCodingException) {
      return "it is not text in UTF-8";
    }
    boolean told = cause instanceof FileSystemException;
    String reason = told ? ((FileSystemException) cause).getReason() : cause.getMessage();
    return reason == null ? cause.getClass().getSimpleName() : reason;
  }

  /** A problem with its cause. */
  public RunException(String message, Throwable cause) {
    this(message, cause, false);
  }

  private RunException(String message, Throwable cause, boolean unwritten) {
    super(message, cause);
    this.unwritten = unwritten;
  }
}
