package io.musabench.jmh.cli;

import io.musabench.results.compare.Comparison;
import io.musabench.results.compare.Judge;
import io.musabench.results.compare.MeasuredRun;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code musabench ab}. */
@Command(
    name = "ab",
    mixinStandardHelpOptions = true,
    description = {
      "Measures cases under two settings in alternating forks, A B B A, and says whether B is slower"
          + " than A.",
      "",
      "What drifts between forks, such as the clock of a warm device, is the same for both of a"
          + " pair. A setting is a folder with a build of the libraries, a kernel library,"
          + " -Dname=value or NAME=value; a side without one is measured as it is. Both sides are"
          + " saved as run directories.",
      ""
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:no regression",
      "1:a case is slower, fails or crashes more often under B",
      "2:--strict, and a case is undecided or slower by its clock alone",
      "3:a case could not be compared",
      "64:usage: unknown name, bad value or empty selection",
      "69:no usable device, or a library cannot be loaded",
      "70:an error inside musabench",
      "74:a run directory cannot be written",
      "130:stopped by Ctrl-C; the finished cases are saved"
    },
    footer = {
      "",
      "Examples:",
      "  musabench ab PagedDecode --a build-main/lib --b build-new/lib",
      "  musabench ab Gemm --b MUSABENCH_ISA=scalar",
      "  musabench ab DecodeStep --inject 3%%    (a test of the gate itself)"
    })
final class AbCommand implements Callable<Integer> {
  /** Enough to find 3 % at half a per cent of noise, see scripts/calibrate. */
  static final int PAIRS = 10;

  @Mixin private MeasureOptions measure;

  @Option(names = "--a", paramLabel = "SETTING", description = "setting of A; may be repeated")
  private List<String> a = List.of();

  @Option(names = "--b", paramLabel = "SETTING", description = "setting of B; may be repeated")
  private List<String> b = List.of();

  @Option(
      names = "--pairs",
      paramLabel = "N",
      description = "pairs of forks a case (default ${DEFAULT-VALUE})",
      defaultValue = "" + PAIRS)
  private int pairs;

  @Option(
      names = "--inject",
      paramLabel = "PERCENT",
      description = "make B's measured times longer by so much, to see that the gate finds it")
  private String inject;

  @Mixin private VerdictOptions verdict;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr(); // Output may be JSON: progress goes here.
    verdict.check();
    checkPairs(pairs);
    Setting first = Setting.parse("--a", a);
    Setting second = Setting.parse("--b", b);
    if (inject != null) {
      second = second.slower(Percent.parse("--inject", inject));
    }
    if (first.equals(second)) {
      throw new UsageException("A and B are the same; to find the noise, use: musabench qualify");
    }
    Comparison comparison = compare(measure, verdict, pairs, first, second, err, true);
    verdict.print(comparison, out);
    return comparison.exitCode();
  }

  static void checkPairs(int pairs) {
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
  static Comparison compare(
      MeasureOptions measure,
      VerdictOptions verdict,
      int pairs,
      Setting a,
      Setting b,
      PrintWriter progress,
      boolean useNoise) {
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
