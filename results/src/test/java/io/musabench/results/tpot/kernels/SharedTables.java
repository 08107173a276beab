package io.musabench.results.tpot.kernels;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;

/** The shared kernel tables of an H100, which are not part of the project. */
final class SharedTables {
  private SharedTables() {}

  /** Their folder, or the test is skipped. */
  static Path h100() {
    Path relative = Path.of("shared", "data", "h100");
    for (Path p = Path.of("").toAbsolutePath(); p != null; p = p.getParent()) {
      if (Files.isDirectory(p.resolve(relative))) {
        return p.resolve(relative);
      }
    }
    assumeTrue(false, "skipped: no shared kernel tables (" + relative + " in no folder above)");
    throw new AssertionError();
  }
}
