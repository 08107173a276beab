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

  /** A version number of this vendor in words: MUSA's 10504 is 1.5.4, CUDA's 12040 is 12.4. */
  public String versionText(int version) {
    return this == MUSA
        ? version / 10_000 + "." + version / 100 % 100 + "." + version % 100
        : version / 1000 + "." + version % 1000 / 10;
  }
}
