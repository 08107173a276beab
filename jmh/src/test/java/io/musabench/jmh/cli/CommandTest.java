package io.musabench.jmh.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.stream.Stream;
import picocli.CommandLine;

/** Runs a command in this process and keeps what it prints. */
abstract class CommandTest {
  /** What the last run printed. */
  final StringWriter out = new StringWriter();

  /** What the last run printed as errors. */
  final StringWriter err = new StringWriter();

  private final String[] first;

  /**
   * @param first what every command line begins with
   */
  CommandTest(String... first) {
    this.first = first;
  }

  /** Returns the exit code. */
  final int run(Object... arguments) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    CommandLine line = Main.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(
        Stream.concat(Arrays.stream(first), Arrays.stream(arguments).map(Object::toString))
            .toArray(String[]::new));
  }

  /** The same for words alone, which may be an array. */
  final int run(String... arguments) {
    return run((Object[]) arguments);
  }
}
