package io.musabench.jmh.device;

/** A kernel's output differs from the reference: the case has no valid time. */
public final class WrongResultException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param message which output differs where, by how much, and how much is allowed
   */
  public WrongResultException(String message) {
    super(message);
  }
}
