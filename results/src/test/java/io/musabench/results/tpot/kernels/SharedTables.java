package io.musabench.results.tpot.kernels;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;

/** Shared kernel tables, which are not part of the project. */
final class SharedTables {
  private SharedTables() {}

  /** Their folder, or the test is skipped. */
  static Path h100() {
    return find(Path.of("shared", "data", "h100"));
  }

  /** Attention of one request and of batches on an RTX 4090, or the test is skipped. */
  static Path chunkedAttention() {
    return find(
        Path.of(
            "shared",
            "data",
            "serving",
            "servingsim",
            "llmservingsim_profile__RTX4090__meta-llama_Llama-3.1-8B_bf16_tp1__attention.csv"));
  }

  private static Path find(Path relative) {
    for (Path p = Path.of("").toAbsolutePath(); p != null; p = p.getParent()) {
      if (Files.exists(p.resolve(relative))) {
        return p.resolve(relative);
      }
    }
    assumeTrue(false, "skipped: no shared kernel tables (" + relative + " in no folder above)");
    throw new AssertionError();
  }
}
