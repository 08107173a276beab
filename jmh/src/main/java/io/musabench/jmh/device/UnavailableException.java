package io.musabench.jmh.device;

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
}
