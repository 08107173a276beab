package io.musabench.bindings.ffi;

/** A kernel refused its arguments, or failed before its work was queued. */
public final class FfiException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String kind;
  private final String text;
  private final String kernel;

  /**
   * @param kind the error kind the kernel raised: {@code TypeError}, {@code ValueError}, {@code
   *     RuntimeError}, {@code InternalError}
   * @param text its message
   * @param kernel the kernel's name
   */
  public FfiException(String kind, String text, String kernel) {
    super(kernel + ": " + kind + ": " + text);
    this.kind = kind;
    this.text = text;
    this.kernel = kernel;
  }

  /** The error kind the kernel raised. */
  public String kind() {
    return kind;
  }

  /** The kernel's own message. */
  public String text() {
    return text;
  }

  /** The kernel's name. */
  public String kernel() {
    return kernel;
  }
}
