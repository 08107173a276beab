package io.musabench.jmh.cli;

import io.musabench.results.compare.Baselines;
import io.musabench.results.compare.Comparison;
import io.musabench.results.compare.ComparisonReport;
import io.musabench.results.compare.Judge;
import io.musabench.results.compare.MeasuredRun;
import io.musabench.results.compare.Tolerance;
import io.musabench.results.report.AcrossDevices;
import io.musabench.results.run.EnvironmentKey;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.RunException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code musabench compare}. */
@Command(
    name = "compare",
    mixinStandardHelpOptions = true,
    description = {
      "Says whether a candidate is slower than its base, case by case.",
      "",
      "Each side is a run directory, or the JSON of JMH of any project. The fork is the unit: both"
          + " need at least four of them (musabench run --forks 10).",
      "SLOWER and FASTER: beyond epsilon, with one false alarm in a hundred comparisons. SAME: the"
          + " 95 %% interval lies within epsilon. UNDECIDED: neither.",
      ""
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:no regression",
      "1:a case is slower, or missing in the candidate",
      "2:--strict, and a case is undecided or slower by its clock alone",
      "3:a case is not comparable: conditions differ, too few forks, or values that are no times",
      "64:usage: unknown option, or a file that is neither a run directory nor JMH's JSON"
    },
    footer = {
      "",
      "Examples:",
      "  musabench compare results/runs/A results/runs/B",
      "  musabench compare --baseline main results/runs/latest",
      "  musabench compare --across-devices results/runs/S5000 results/runs/S4000",
      "  musabench compare --format md base.json candidate.json",
      "  musabench compare --accept library.runtime --strict A B"
    })
final class CompareCommand implements Callable<Integer> {
  @Parameters(
      paramLabel = "RUN",
      arity = "0..*",
      description = "base and candidate; with --baseline the candidate alone")
  private List<Path> runs = List.of();

  @Option(
      names = "--baseline",
      paramLabel = "NAME",
      description = "the base is this baseline of the candidate's device")
  private String baseline;

  @Option(
      names = "--baselines",
      paramLabel = "DIR",
      description = "where baselines and noise floors are (default: results/baselines)")
  private Path baselines = Checkout.folder().resolve("results/baselines");

  @Option(
      names = "--format",
      paramLabel = "NAME",
      defaultValue = "text",
      description = "text, md, json, junit or csv (default ${DEFAULT-VALUE})")
  private ComparisonReport format;

  @Option(
      names = "--alpha",
      paramLabel = "P",
      description = "chance of a false alarm among all cases together (default 0.01)")
  private double alpha = Judge.ALPHA;

  @Option(
      names = "--epsilon",
      paramLabel = "PERCENT",
      description =
          "least change that counts (default 1%%); twice a case's own noise and the resolution of"
              + " events raise it")
  private String epsilon;

  @Option(
      names = "--accept",
      paramLabel = "NAME",
      description =
          "a condition that may differ, by its name in the report; library.kernels, the library"
              + " under test, always may")
  private List<String> accepted = List.of();

  @Option(names = "--strict", description = "undecided cases are a failure, exit code 2")
  private boolean strict;

  @Option(
      names = "--across-devices",
      description =
          "no verdict, but both runs side by side: times, rates, shares of the roofs and of the"
              + " data sheets, steps and TPOT")
  private boolean acrossDevices;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    try {
      if (acrossDevices) {
        out.print(acrossDevices());
        out.flush();
        return Comparison.FINE;
      }
      Comparison comparison = compare();
      format.write(comparison, out);
      out.flush();
      return comparison.exitCode();
    } catch (RunException e) {
      throw new UsageException(e.getMessage());
    }
  }

  private String acrossDevices() {
    if (runs.size() != 2 || format != ComparisonReport.TEXT) {
      throw new UsageException("--across-devices takes two run directories and prints text");
    }
    return AcrossDevices.text(
        RunDirectory.open(runs.get(0)).read(), RunDirectory.open(runs.get(1)).read());
  }

  private Comparison compare() {
    int wanted = baseline == null ? 2 : 1;
    if (runs.size() != wanted) {
      throw new ParameterException(
          spec.commandLine(),
          baseline == null ? "name two runs: BASE CANDIDATE" : "name one run: CANDIDATE");
    }
    Baselines kept = new Baselines(baselines);
    MeasuredRun candidate = MeasuredRun.read(runs.get(wanted - 1));
    MeasuredRun base = MeasuredRun.read(baseline == null ? runs.get(0) : kept(kept, candidate));
    if (base.ownFormat() != candidate.ownFormat()) {
      throw new UsageException(
          "one side is a run directory and the other a JSON file; their cases have other names");
    }
    return Comparison.of(base, candidate, options(noise(kept, candidate)));
  }

  private Path kept(Baselines kept, MeasuredRun candidate) {
    if (!candidate.ownFormat()) {
      throw new UsageException("--baseline needs a run directory: a JSON file names no device");
    }
    String device = EnvironmentKey.device(candidate.environment());
    return kept.find(device, baseline).path();
  }

  /** What {@code qualify} found for this device, driver and clock mode; often nothing. */
  private static Map<String, Double> noise(Baselines kept, MeasuredRun candidate) {
    if (!candidate.ownFormat()) {
      return Map.of();
    }
    return kept.noise(EnvironmentKey.device(candidate.environment()))
        .read(EnvironmentKey.of(candidate.environment()));
  }

  private Comparison.Options options(Map<String, Double> noise) {
    if (!(alpha > 0 && alpha < 1)) {
      throw new UsageException("--alpha must lie between 0 and 1");
    }
    Set<String> names = new HashSet<>(accepted);
    names.add(Comparison.UNDER_TEST);
    double least = epsilon == null ? Tolerance.LEAST : Percent.parse("--epsilon", epsilon);
    return new Comparison.Options(new Judge(alpha), least, noise, names, strict);
  }
}
