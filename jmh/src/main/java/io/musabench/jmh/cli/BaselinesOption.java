package io.musabench.jmh.cli;

import io.musabench.results.compare.Baselines;
import io.musabench.results.compare.MeasuredRun;
import io.musabench.results.run.EnvironmentKey;
import io.musabench.results.run.RunException;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Option;

/** Where a command that compares finds baselines and noise floors. */
final class BaselinesOption {
  @Option(
      names = "--baselines",
      paramLabel = "DIR",
      description = "where baselines and noise floors are (default: results/baselines)")
  private Path folder = Checkout.folder().resolve("results/baselines");

  Baselines open() {
    return new Baselines(folder);
  }

  /** What {@code qualify} found for this device, driver and clock mode; often nothing. */
  Map<String, Double> noise(MeasuredRun candidate) {
    if (!candidate.ownFormat()) {
      return Map.of();
    }
    try {
      return open()
          .noise(EnvironmentKey.device(candidate.environment()))
          .read(EnvironmentKey.of(candidate.environment()));
    } catch (RunException e) {
      throw UsageException.of(e);
    }
  }
}
