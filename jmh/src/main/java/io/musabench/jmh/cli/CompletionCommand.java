package io.musabench.jmh.cli;

import io.musabench.results.devices.DataSheet;
import io.musabench.results.model.Models;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Spec;

/** {@code musabench completion}: what a shell needs to complete the other commands. */
@Command(
    name = "completion",
    mixinStandardHelpOptions = true,
    description = {
      "Prints a completion script for bash and zsh: commands, options, and the names of benchmarks,"
          + " suites, models and devices.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  source <(scripts/musabench completion)",
      "  scripts/musabench completion > ~/.local/share/bash-completion/completions/musabench"
    })
final class CompletionCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    CommandLine line = Main.commandLine();
    addNames(line.getCommandSpec(), names());
    spec.commandLine().getOut().print(AutoComplete.bash("musabench", line));
    spec.commandLine().getOut().flush();
  }

  /** What the arguments with these names or labels can be. */
  private static Map<String, List<String>> names() {
    List<String> benchmarks =
        Catalog.load().benchmarks().stream().map(Benchmark::simpleName).toList();
    List<String> devices =
        DataSheet.shipped().stream().map(sheet -> sheet.aliases().get(0)).toList();
    return Map.of(
        "REGEX", benchmarks,
        "--suite", List.copyOf(Suite.NAMES),
        "--model", Models.names(),
        "--from", devices,
        "--to", devices);
  }

  private static void addNames(CommandSpec command, Map<String, List<String>> names) {
    for (OptionSpec option : List.copyOf(command.options())) {
      List<String> candidates = names.get(option.longestName());
      if (candidates != null) {
        command.remove(option);
        command.addOption(option.toBuilder().completionCandidates(candidates).build());
      }
    }
    List<PositionalParamSpec> positionals = new ArrayList<>(command.positionalParameters());
    for (PositionalParamSpec positional : positionals) {
      List<String> candidates = names.get(positional.paramLabel());
      if (candidates != null) {
        command.remove(positional);
        command.add(positional.toBuilder().completionCandidates(candidates).build());
      }
    }
    command.subcommands().values().forEach(sub -> addNames(sub.getCommandSpec(), names));
  }
}
