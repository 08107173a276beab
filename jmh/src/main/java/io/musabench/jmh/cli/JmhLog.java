package io.musabench.jmh.cli;

import io.musabench.results.run.RunException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.openjdk.jmh.runner.format.OutputFormat;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Where JMH's own output, and that of its forks, goes: a file, so that progress stays readable. */
final class JmhLog implements AutoCloseable {
  private final PrintStream stream;

  /** Appends to {@code file}. */
  JmhLog(Path file) {
    try {
      OutputStream out =
          Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      stream = new PrintStream(out, true, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw RunException.unwritten("Cannot write " + file, e);
    }
  }

  /** A format for one JMH run; JMH closes it, the file stays open. */
  OutputFormat format() {
    PrintStream unclosable =
        new PrintStream(stream, true, StandardCharsets.UTF_8) {
          @Override
          public void close() {
            flush();
          }
        };
    return OutputFormatFactory.createFormatInstance(unclosable, VerboseMode.NORMAL);
  }

  /** Writes a heading between two cases. */
  void heading(String text) {
    stream.println();
    stream.println("=== " + text);
  }

  /** Writes what JMH threw and did not print itself. */
  void trace(Throwable thrown) {
    thrown.printStackTrace(stream);
  }

  @Override
  public void close() {
    stream.close();
  }
}
