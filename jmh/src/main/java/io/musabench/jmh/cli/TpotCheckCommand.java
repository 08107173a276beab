package io.musabench.jmh.cli;

import io.musabench.results.tpot.answers.StepCheck;
import io.musabench.results.tpot.answers.StepCheck.Limits;
import io.musabench.results.tpot.answers.StepCheck.Round;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code musabench tpot check}. */
@Command(
    name = "check",
    mixinStandardHelpOptions = true,
    description =
        "Predicts the steps of a run from kernels that were measured one by one in other runs, and"
            + " sets the two side by side. Given several times, the n-th --steps are predicted from"
            + " the n-th --kernels, and the median of these rounds counts;"
            + " scripts/predict-then-measure makes both.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:answered, and with --fail-above no error is larger",
      "1:with --fail-above: the error of a step is larger",
      "64:usage: unknown option, name or value, or a file that cannot be used",
      "70:an error inside musabench",
      "74:what is printed cannot be written"
    })
final class TpotCheckCommand extends Answer {
  @Option(
      names = "--kernels",
      paramLabel = "RUN[,RUN]",
      required = true,
      description = "run directories with the kernels, with commas; again for the next round")
  private List<String> kernels;

  @Option(
      names = "--steps",
      paramLabel = "RUN[,RUN]",
      required = true,
      description =
          "run directories with the measured steps, with commas; again for the next round")
  private List<String> steps;

  @Option(
      names = "--fail-above",
      paramLabel = "SHARE[,EAGER]",
      description =
          "fails if the error of a step is larger: of graphs and, behind the comma, of eager steps;"
              + " one share is for both. The tables show 5%%,10%% without it")
  private String failAbove;

  private boolean within = true;

  @Override
  String answer(boolean json) {
    if (kernels.size() != steps.size()) {
      throw new IllegalArgumentException(
          "--kernels and --steps come in pairs, one a round, not "
              + kernels.size()
              + " and "
              + steps.size()
              + " times; several run directories of one round are joined by commas");
    }
    List<Round> rounds = new ArrayList<>();
    for (int i = 0; i < kernels.size(); i++) {
      rounds.add(new Round(paths(kernels.get(i)), paths(steps.get(i))));
    }
    StepCheck check = new StepCheck(rounds, limits());
    within = check.within();
    return json ? check.json() : check.text();
  }

  private static List<Path> paths(String text) {
    return Arrays.stream(text.split(",")).map(Path::of).toList();
  }

  private Limits limits() {
    if (failAbove == null) {
      return Limits.AIM;
    }
    String[] parts = failAbove.split(",", 2);
    double graph = Percent.parse("--fail-above", parts[0]);
    return new Limits(graph, parts.length == 1 ? graph : Percent.parse("--fail-above", parts[1]));
  }

  @Override
  int code() {
    return failAbove != null && !within ? ExitCode.CASE_FAILED : ExitCode.OK;
  }
}
