package io.musabench.bindings.ffi;

/** A kernel refused its arguments, or failed before its work was queued. */
public final class FfiException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String kind;
  private final String text;
  private final String kernel;
  private final String backtrace;

  /**
   * @param kind the error kind the kernel raised: {@code TypeError}, {@code ValueError}, {@code
   *     RuntimeError}, {@code InternalError}
   * @param text its message
   * @param kernel the kernel's name
   */
  public FfiException(String kind, String text, String kernel) {
    this(kind, text, kernel, "");
  }

  /**
   * As the other, with the backtrace that the error carries.
   *
   * @param backtrace lines of native frames, most recent call first; empty if there is none
   */
  public FfiException(String kind, String text, String kernel, String backtrace) {
    super(
        kernel
            + ": "
            + kind
            + ": "
            + text
            + (backtrace.isBlank() ? "" : "\nraised at, most recent call first:\n" + backtrace));
    this.kind = kind;
    this.text = text;
    this.kernel = kernel;
    this.backtrace = backtrace;
  }

  /** The error kind the kernel raised. */
  public String kind() {
    return kind;
  }

  /** The kernel's own message. */
  public String text() {
    return text;
  }

  /** Native frames, most recent call first, as the error carries them; may be empty. */
  public String backtrace() {
    return backtrace;
  }

  /** The kernel's name. */
  public String kernel() {
    return kernel;
  }
}
