package io.musabench.bindings.runtime;

import java.util.Optional;

/** A runtime call returned an error. */
public final class DeviceException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String call;
  private final int code;
  private final String name;
  private final String text;

  /**
   * @param call the native function, for example {@code musaMalloc}, with its arguments where they
   *     help
   * @param code what it returned
   * @param name the runtime's name for the code
   * @param text the runtime's own description of the code
   */
  public DeviceException(String call, int code, String name, String text) {
    super(call + " failed: " + code + " " + name + ": " + text);
    this.call = call;
    this.code = code;
    this.name = name;
    this.text = text;
  }

  /** The native function that failed. */
  public String call() {
    return call;
  }

  /** The number it returned. */
  public int code() {
    return code;
  }

  /** The runtime's name for the number. */
  public String name() {
    return name;
  }

  /** The runtime's description of the number. */
  public String text() {
    return text;
  }

  /** The number as a constant; empty if this project does not know it. */
  public Optional<ErrorCode> errorCode() {
    return ErrorCode.of(code);
  }

  /** True if the device answers every later call with this error too. */
  public boolean isSticky() {
    return errorCode().map(ErrorCode::isSticky).orElse(false);
  }
}
