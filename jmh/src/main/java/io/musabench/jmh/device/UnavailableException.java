package io.musabench.jmh.device;

import io.musabench.bindings.load.LibraryLoader;
import io.musabench.bindings.load.LoadAttempt;
import java.util.stream.Collectors;

/**
 * What a case needs is not on this machine, or cannot do what the case asks: a kernel that is not
 * installed, a library that does not load, a second device. The case is skipped, with the message
 * as the reason; it says what was looked for, where, and what would help.
 */
public final class UnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param message the reason
   */
  public UnavailableException(String message) {
    super(message);
  }

  /** For a library that did not load: which property names it, and what was tried. */
  static UnavailableException notLoaded(String library, String property, LibraryLoader loader) {
    return new UnavailableException(
        "%s did not load; set -D%s to its path. Tried:\n%s"
            .formatted(
                library,
                property,
                loader.attempts().stream()
                    .map(LoadAttempt::toString)
                    .collect(Collectors.joining("\n"))));
  }
}
