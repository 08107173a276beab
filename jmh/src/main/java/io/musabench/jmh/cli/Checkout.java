package io.musabench.jmh.cli;

import java.nio.file.Path;

/** Where this project's checkout is. */
final class Checkout {
  /** System property that the start script sets, so that it can be called from any folder. */
  static final String HOME = "musabench.home";

  private Checkout() {}

  /** The folder, or the working directory when nobody has said. */
  static Path folder() {
    return Path.of(System.getProperty(HOME, ""));
  }
}
