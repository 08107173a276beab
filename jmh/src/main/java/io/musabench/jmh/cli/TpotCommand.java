package io.musabench.jmh.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code musabench tpot}. */
@Command(
    name = "tpot",
    mixinStandardHelpOptions = true,
    description = "What kernel times mean for the user of a service.",
    subcommands = {TpotIdentifyCommand.class},
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:answered",
      "64:usage: unknown option, name or value, or a file that cannot be used",
      "70:an error inside musabench"
    })
final class TpotCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(),
        "name a question: " + String.join(", ", spec.commandLine().getSubcommands().keySet()));
  }
}
