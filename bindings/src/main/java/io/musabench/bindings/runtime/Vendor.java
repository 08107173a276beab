package io.musabench.bindings.runtime;

import java.util.List;

/** Whose names a runtime library exports, and under which names and where the library is found. */
public enum Vendor {
  /** {@code musa*}: MUSA itself, and the host device. */
  MUSA(
      "musa",
      "mu",
      // SDK 5, 4.3, 4.0 and the ones before.
      List.of(
          "libmusart.so",
          "libmusart.so.5",
          "libmusart.so.4",
          "libmusart.so.1.5",
          "libmusart.so.1.0"),
      List.of("libmusa.so", "libmusa.so.1", "libmusa.so.4"),
      List.of("MUSA_HOME", "MUSA_PATH", "MUSA_INSTALL_PATH")),
  /** {@code cuda*}. */
  CUDA(
      "cuda",
      "cu",
      List.of("libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"),
      List.of("libcuda.so.1", "libcuda.so"),
      List.of("CUDA_HOME", "CUDA_PATH"));

  private final String prefix;
  private final String driverPrefix;
  private final List<String> runtimeLibraries;
  private final List<String> driverLibraries;
  private final List<String> homeVariables;

  Vendor(
      String prefix,
      String driverPrefix,
      List<String> runtimeLibraries,
      List<String> driverLibraries,
      List<String> homeVariables) {
    this.prefix = prefix;
    this.driverPrefix = driverPrefix;
    this.runtimeLibraries = runtimeLibraries;
    this.driverLibraries = driverLibraries;
    this.homeVariables = homeVariables;
  }

  /**
   * What every function of the runtime begins with, and the name of an installation's folder:
   * {@code /usr/local/musa}, {@code /usr/local/musa-5.1.0}.
   */
  public String prefix() {
    return prefix;
  }

  /** What every function of the driver API begins with. */
  public String driverPrefix() {
    return driverPrefix;
  }

  /** Names that releases have used for the runtime; the first is the one without a version. */
  public List<String> runtimeLibraries() {
    return runtimeLibraries;
  }

  /** Names that releases have used for the driver API's library. */
  public List<String> driverLibraries() {
    return driverLibraries;
  }

  /** Environment variables that hold an installation's folder. */
  public List<String> homeVariables() {
    return homeVariables;
  }

  /** A version number of this vendor in words: MUSA's 10504 is 1.5.4, CUDA's 12040 is 12.4. */
  public String versionText(int version) {
    return switch (this) {
      case MUSA -> version / 10_000 + "." + version / 100 % 100 + "." + version % 100;
      case CUDA -> version / 1000 + "." + version % 1000 / 10;
    };
  }
}
