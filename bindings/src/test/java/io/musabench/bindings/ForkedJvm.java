package io.musabench.bindings;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs a main class in a JVM of its own: for what ties up, breaks or kills a process. */
public final class ForkedJvm {
  /** What the process printed, both streams, and its exit status; 128 + n if signal n killed it. */
  public record Result(int status, String output) {}

  private ForkedJvm() {}

  /**
   * Runs {@code main} with this JVM's class path.
   *
   * @param properties system properties
   * @param environment environment variables
   */
  public static Result run(
      Class<?> main,
      Map<String, String> properties,
      Map<String, String> environment,
      String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:-CreateCoredumpOnCrash");
    command.add("-XX:TieredStopAtLevel=1"); // short-lived: start fast
    properties.forEach((key, value) -> command.add("-D" + key + "=" + value));
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(main.getName());
    command.addAll(List.of(arguments));
    try {
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
      builder.environment().putAll(environment);
      builder.directory(Path.of("target").toFile());
      Process process = builder.start();
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new AssertionError("still running after its output ended: " + output);
      }
      return new Result(process.exitValue(), output);
    } catch (IOException failure) {
      throw new AssertionError(failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new AssertionError(interrupted);
    }
  }
}
