package io.musabench.jmh.cli;

import io.musabench.jmh.cli.PairRunner.Turns;
import io.musabench.results.compare.Comparison;
import io.musabench.results.compare.Judge;
import io.musabench.results.compare.MeasuredRun;
import io.musabench.results.run.RunException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
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

  @Option(
      names = "--turns",
      paramLabel = "UNIT",
      description = {
        "how the two forks of a pair alternate. samples: both run, and measure in turns of 50 ms or"
            + " one sample, so that what disturbs one disturbs the other; takes up to twice"
            + " --time-limit, and memory for both, without which a case goes on as with forks."
            + " forks: one runs after the other (default: samples on the host device, forks"
            + " elsewhere)"
      })
  private String turns;

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
    turns();
    try {
      verdict.baselines().checkNoise(); // They are read, or added to, after minutes of measuring.
    } catch (RunException e) {
      throw UsageException.of(e);
    }
  }

  /** Null for what suits the device. */
  private Turns turns() {
    if (turns == null) {
      return null;
    }
    for (Turns unit : Turns.values()) {
      if (unit.text().equals(turns)) {
        return unit;
      }
    }
    List<String> units = Stream.of(Turns.values()).map(Turns::text).toList();
    throw new UsageException(Suggestions.unknown("unit of --turns", turns, units));
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
    PairRunner runner = new PairRunner(measure.campaign(progress, chosen, pairs), turns());
    PairRunner.Measurement measured = runner.run(chosen.cases(), a, b);
    MeasuredRun base = MeasuredRun.read(measured.a());
    MeasuredRun candidate = MeasuredRun.read(measured.b());
    return Comparison.of(
        base,
        candidate,
        verdict.options(useNoise ? verdict.noise(candidate) : Map.of(), Set.of(), true));
  }
}
