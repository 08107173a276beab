package io.musabench.jmh.cli;

import io.musabench.results.compare.Comparison;
import io.musabench.results.compare.ComparisonReport;
import io.musabench.results.compare.MeasuredRun;
import io.musabench.results.report.AcrossDevices;
import io.musabench.results.run.EnvironmentKey;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.RunException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
      "The two run directories of one musabench ab are judged by their pairs, as ab judges them.",
      ""
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:no regression",
      "1:a case is slower in the candidate, missing there, or crashes more often",
      "2:--strict, and a case is undecided or slower by its clock alone",
      "3:a case is not comparable: conditions differ, too few forks, or values that are no times",
      "64:usage: unknown option, or a file that is neither a run directory nor JMH's JSON",
      "70:an error inside musabench",
      "74:what is printed cannot be written"
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
      names = "--accept",
      paramLabel = "NAME",
      description =
          "a condition that may differ, by its name in the report; library.kernels, the library"
              + " under test, always may")
  private List<String> accepted = List.of();

  @Option(
      names = "--across-devices",
      description =
          "no verdict, but both runs side by side: times, rates, shares of the roofs and of the"
              + " data sheets, steps and TPOT")
  private boolean acrossDevices;

  @Mixin private VerdictOptions verdict;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    try {
      if (acrossDevices) {
        out.print(acrossDevices());
        out.flush();
        return Comparison.FINE;
      }
      Comparison comparison = compare();
      verdict.print(comparison, out);
      return comparison.exitCode();
    } catch (RunException e) {
      throw UsageException.of(e);
    }
  }

  private String acrossDevices() {
    if (runs.size() != 2 || baseline != null || verdict.format() != ComparisonReport.TEXT) {
      throw new UsageException(
          "--across-devices takes two run directories, no --baseline, and prints text");
    }
    return AcrossDevices.text(
        RunDirectory.open(runs.get(0)).read(), RunDirectory.open(runs.get(1)).read());
  }

  private Comparison compare() {
    verdict.check();
    verdict.checkBaselines();
    int wanted = baseline == null ? 2 : 1;
    if (runs.size() != wanted) {
      throw new ParameterException(
          spec.commandLine(),
          baseline == null ? "name two runs: BASE CANDIDATE" : "name one run: CANDIDATE");
    }
    MeasuredRun candidate = MeasuredRun.read(runs.get(wanted - 1));
    MeasuredRun base = MeasuredRun.read(baseline == null ? runs.get(0) : kept(candidate));
    if (base.ownFormat() != candidate.ownFormat()) {
      throw new UsageException(
          "one side is a run directory and the other a JSON file; their cases have other names");
    }
    Set<String> names = new HashSet<>(accepted);
    Set<String> known = new TreeSet<>(base.conditions());
    known.addAll(candidate.conditions());
    for (String name : accepted) {
      if (!known.contains(name)) {
        throw new UsageException(Suggestions.unknown("condition of these runs", name, known));
      }
    }
    names.add(Comparison.UNDER_TEST);
    return Comparison.of(
        base,
        candidate,
        verdict.options(verdict.noise(candidate), names, base.pairedWith(candidate)));
  }

  private Path kept(MeasuredRun candidate) {
    if (!candidate.ownFormat()) {
      throw new UsageException("--baseline needs a run directory: a JSON file names no device");
    }
    String device = EnvironmentKey.device(candidate.environment());
    return verdict.baselines().find(device, baseline).path();
  }
}
