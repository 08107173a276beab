package io.musabench.jmh.cli;

import io.musabench.results.compare.Baselines;
import io.musabench.results.compare.MeasuredRun;
import io.musabench.results.run.EnvironmentKey;
import io.musabench.results.run.RunException;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** Where baselines and noise floors are. */
final class BaselinesOption {
  @Option(
      names = "--baselines",
      paramLabel = "DIR",
      scope = ScopeType.INHERIT,
      description = "where baselines and noise floors are (default: results/baselines)")
  private Path named;

  Path folder() {
    return named == null ? Checkout.folder().resolve("results/baselines") : named;
  }

  Baselines open() {
    return new Baselines(folder());
  }

  /** Refuses a folder that was named and is not there: without its noise floors more is SLOWER. */
  void check() {
    if (named != null && !open().exist()) {
      throw new UsageException("There is no folder of baselines " + named);
    }
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
