package io.musabench.results.report.html;

/** Words of a command line that a reader pastes into a shell. */
final class CommandLine {
  private CommandLine() {}

  /** In quotes unless a POSIX shell takes it as one plain word. */
  static String quoted(String word) {
    return word.matches("[\\w@%+=:,./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
