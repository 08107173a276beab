package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/**
 * {@code docs/commands.md} is the commands' own help, so that the two cannot drift apart.
 *
 * <p>With {@code -Dcommands.write=true} the test writes the page before it compares.
 */
class CommandDocsTest {
  // Tests run in the folder of their module.
  private static final Path PAGE = Path.of("../docs/commands.md");

  private static final String HEAD =
      """
      # Commands

      What `--help` prints, command by command. This page is generated; a test of the module `jmh` fails when it is not
      what the commands say, and writes it anew with:

          mvn verify -Dtest=CommandDocsTest -Dsurefire.failIfNoSpecifiedTests=false -Dcommands.write=true

      """;

  @Test
  void shouldSayWhatTheCommandsSay() throws IOException {
    StringBuilder page = new StringBuilder(HEAD);
    StringBuilder sections = new StringBuilder();
    describe(Main.commandLine(), page, sections);
    page.append(sections);
    if (Boolean.getBoolean("commands.write")) {
      Files.createDirectories(PAGE.getParent());
      Files.writeString(PAGE, page);
    }
    assertThat(PAGE).as("see its head for how to write it anew").hasContent(page.toString());
  }

  private static void describe(CommandLine command, StringBuilder list, StringBuilder sections) {
    String name = command.getCommandSpec().qualifiedName();
    list.append("- [`%s`](#%s)\n".formatted(name, name.replace(' ', '-')));
    sections.append("\n## %s\n\n```\n".formatted(name));
    command
        .getUsageMessage(CommandLine.Help.Ansi.OFF)
        .lines()
        .forEach(line -> sections.append(line.stripTrailing()).append('\n'));
    sections.append("```\n");
    for (CommandLine sub : command.getSubcommands().values()) {
      if (!sub.getCommandName().equals("help")) {
        describe(sub, list, sections);
      }
    }
  }
}
