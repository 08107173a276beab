package io.musabench.jmh.cli;

import io.musabench.results.tpot.answers.StepCheck;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code musabench tpot check}. */
@Command(
    name = "check",
    mixinStandardHelpOptions = true,
    description =
        "Predicts the steps of a run from kernels that were measured one by one in other runs, and"
            + " sets the two side by side; scripts/predict-then-measure makes both.")
final class TpotCheckCommand extends Answer {
  @Option(
      names = "--kernels",
      paramLabel = "RUN",
      split = ",",
      required = true,
      description = "run directories with the kernels; several times or with commas")
  private List<Path> kernels;

  @Option(
      names = "--steps",
      paramLabel = "RUN",
      split = ",",
      required = true,
      description = "run directories with the measured steps; several times or with commas")
  private List<Path> steps;

  @Override
  String answer(boolean json) {
    StepCheck check = new StepCheck(kernels, steps);
    return json ? check.json() : check.text();
  }
}
