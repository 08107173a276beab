package io.musabench.results;

import java.util.List;
import java.util.stream.Collectors;

/** Words of a command line that a reader pastes into a shell. */
public final class CommandLine {
  private CommandLine() {}

  /** Words as they were given. */
  public static String of(List<String> words) {
    return words.stream().map(CommandLine::quoted).collect(Collectors.joining(" "));
  }

  /** In quotes unless a POSIX shell takes it as one plain word. */
  public static String quoted(String word) {
    return word.matches("[\\w@%+=:,./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
