package io.musabench.results.report.html;

import java.util.List;
import java.util.stream.Collectors;

/** Words of a command line that a reader pastes into a shell. */
final class CommandLine {
  private CommandLine() {}

  /** Words as they were given. */
  static String of(List<String> words) {
    return words.stream().map(CommandLine::quoted).collect(Collectors.joining(" "));
  }

  /** In quotes unless a POSIX shell takes it as one plain word. */
  static String quoted(String word) {
    return word.matches("[\\w@%+=:,./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
