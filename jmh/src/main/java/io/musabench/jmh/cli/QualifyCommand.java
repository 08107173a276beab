package io.musabench.jmh.cli;

import io.musabench.results.compare.CaseComparison;
import io.musabench.results.compare.Comparison;
import io.musabench.results.compare.NoiseFloors;
import io.musabench.results.compare.NoiseFloors.Floor;
import io.musabench.results.compare.Verdict;
import io.musabench.results.run.Environment;
import io.musabench.results.run.EnvironmentKey;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code musabench qualify}. */
@Command(
    name = "qualify",
    mixinStandardHelpOptions = true,
    description = {
      "Measures cases against themselves in pairs of forks, as musabench ab does, and writes the"
          + " noise floor of each.",
      "",
      "A noise floor is the largest change that a case could not rule out against itself. compare"
          + " and ab call nothing a change that is not twice as large.",
      ""
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:no case was called slower or faster than itself",
      "1:a case was: a false alarm; or it fails, or a fork of it crashed",
      "3:a case could not be compared",
      "64:usage: unknown name, bad value or empty selection",
      "69:no usable device, or a library cannot be loaded",
      "70:an error inside musabench",
      "74:a run directory or the noise floors cannot be written",
      "130:stopped by Ctrl-C (129: terminal gone, 143: SIGTERM); the finished cases are saved"
    })
final class QualifyCommand implements Callable<Integer> {
  @Mixin private PairOptions pairs;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr(); // Output may be JSON: progress goes here.
    pairs.check();
    Comparison comparison = pairs.compare(Setting.AS_IS, Setting.AS_IS, err, false);
    pairs.verdict().print(comparison, out);
    Map<String, Floor> floors = new LinkedHashMap<>();
    for (CaseComparison row : comparison.rows()) {
      if (row.ratio() != null) {
        floors.put(row.id(), Floor.of(row.ratio()));
      }
    }
    Environment environment = comparison.candidate().environment();
    NoiseFloors file = pairs.verdict().baselines().noise(EnvironmentKey.device(environment));
    file.add(EnvironmentKey.of(environment), floors);
    floors.forEach(
        (id, floor) ->
            err.println(
                String.format(
                    Locale.ROOT, "noise floor %5.2f %%  %s", 100 * floor.fraction(), id)));
    err.println("Noise floors written to " + file.file());
    // Both sides are the same, so it does not matter which one is slower or crashes.
    boolean alarm =
        comparison.count(Verdict.SLOWER) + comparison.count(Verdict.FASTER) > 0
            || comparison.base().cases().values().stream().anyMatch(c -> c.lostForks() > 0);
    return alarm ? Comparison.REGRESSION : comparison.exitCode();
  }
}
