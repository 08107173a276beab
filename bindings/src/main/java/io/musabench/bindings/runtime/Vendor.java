package io.musabench.bindings.runtime;

/** Whose names a runtime library exports. */
public enum Vendor {
  /** {@code musa*}: MUSA itself, and the host device. */
  MUSA("musa"),
  /** {@code cuda*}. */
  CUDA("cuda");

  private final String prefix;

  Vendor(String prefix) {
    this.prefix = prefix;
  }

  /** What every function of the library begins with. */
  public String prefix() {
    return prefix;
  }
}
