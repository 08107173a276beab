package io.musabench.jmh.cli;

import io.musabench.results.compare.Comparison;
import io.musabench.results.compare.Judge;
import io.musabench.results.compare.MeasuredRun;
import java.io.PrintWriter;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What to measure in pairs of forks, and how to judge it: of {@code ab} and {@code qualify}. */
final class PairOptions {
  /** Enough to find 3 % at half a per cent of noise, see scripts/calibrate. */
  private static final int PAIRS = 10;

  @Mixin private MeasureOptions measure;

  @Option(
      names = "--pairs",
      paramLabel = "N",
      description = "pairs of forks a case (default ${DEFAULT-VALUE})",
      defaultValue = "" + PAIRS)
  private int pairs;

  @Mixin private VerdictOptions verdict;

  VerdictOptions verdict() {
    return verdict;
  }

  /** Checks the values, before anything is measured. */
  void check() {
    verdict.check();
    if (pairs < Judge.LEAST_FORKS) {
      throw new UsageException("--pairs must be at least " + Judge.LEAST_FORKS);
    }
  }

  /**
   * Measures and judges the pairs.
   *
   * @param progress where progress goes
   * @param useNoise whether noise floors that were found before set the tolerance
   */
  Comparison compare(Setting a, Setting b, PrintWriter progress, boolean useNoise) {
    Catalog catalog = Catalog.load();
    Suite chosen = measure.select(catalog, BenchmarkParameters.table());
    PairRunner runner = new PairRunner(measure.campaign(progress, chosen, pairs));
    PairRunner.Measurement measured = runner.run(chosen.cases(), a, b);
    MeasuredRun base = MeasuredRun.read(measured.a());
    MeasuredRun candidate = MeasuredRun.read(measured.b());
    return Comparison.of(
        base,
        candidate,
        verdict.options(useNoise ? verdict.noise(candidate) : Map.of(), Set.of(), true));
  }
}
