package io.musabench.jmh.cli;

import io.musabench.results.tpot.answers.Attribution;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code musabench tpot attribute}. */
@Command(
    name = "attribute",
    mixinStandardHelpOptions = true,
    description =
        "Which kernels, launches or gaps moved TPOT from one run to another: the change, split"
            + " exactly (Shapley), with an interval for each term; only terms whose interval"
            + " excludes 0 are marked.")
final class TpotAttributeCommand extends Answer {
  @Parameters(index = "0", paramLabel = "RUN_A", description = "run directory")
  private Path a;

  @Parameters(index = "1", paramLabel = "RUN_B", description = "run directory")
  private Path b;

  @Override
  String answer(boolean json) {
    Attribution answer = new Attribution(a, b);
    return json ? answer.json() : answer.text();
  }
}
