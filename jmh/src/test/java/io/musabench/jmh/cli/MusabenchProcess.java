package io.musabench.jmh.cli;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.musabench.bindings.Target;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** musabench as a user starts it: a process of its own, on the host device. */
public final class MusabenchProcess {
  private static final long LIMIT_SECONDS = 240;

  private final Process process;
  private final Path output;

  private MusabenchProcess(Process process, Path output) {
    this.process = process;
    this.output = output;
  }

  /** Skips the calling test where the native libraries have not been built. */
  public static void requireNativeLibraries() {
    assumeTrue(
        Target.nativeFolder()
            .filter(dir -> Files.exists(dir.resolve("libmusart_host.so")))
            .isPresent(),
        "skipped: the native libraries are not built");
  }

  /**
   * @param environment additional environment variables
   * @param folder where the output is kept
   */
  public static MusabenchProcess start(
      Path folder, Map<String, String> environment, String... arguments) throws IOException {
    return start(folder, environment, Map.of(), arguments);
  }

  /**
   * @param properties system properties, stronger than the ones that tests have by default
   */
  public static MusabenchProcess start(
      Path folder,
      Map<String, String> environment,
      Map<String, String> properties,
      String... arguments)
      throws IOException {
    return start(Main.class, folder, environment, properties, arguments);
  }

  /**
   * Another program, with the settings of this one.
   *
   * @param main the class whose {@code main} is run
   */
  static MusabenchProcess start(
      Class<?> main,
      Path folder,
      Map<String, String> environment,
      Map<String, String> properties,
      String... arguments)
      throws IOException {
    String nativeDir = Target.nativeFolder().map(Path::toString).orElse("");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // Forks get these too. None runs so long that better code would pay for its making.
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-XX:+UseSerialGC");
    command.add("-Dmusabench.target=host");
    command.add("-Dmusabench.native.dir=" + nativeDir);
    String ffi = Target.FFI_PROPERTY;
    command.add("-D" + ffi + "=" + System.getProperty(ffi, ""));
    properties.forEach((name, value) -> command.add("-D" + name + "=" + value)); // the last holds
    command.add("-cp");
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.add(main.getName());
    command.addAll(List.of(arguments));
    Path output = folder.resolve("output.txt");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().putAll(environment);
    return new MusabenchProcess(builder.start(), output);
  }

  /** Waits for the end and returns the exit code. */
  public int exitCode() throws InterruptedException {
    if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      throw new AssertionError("musabench has not ended after " + LIMIT_SECONDS + " s");
    }
    return process.exitValue();
  }

  /** Waits until the output contains a text. */
  void awaitOutput(String text) throws IOException, InterruptedException {
    awaitText(output, text);
  }

  /** Waits until a file that it writes contains a text. */
  void awaitText(Path file, String text) throws IOException, InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (!Files.exists(file) || !Files.readString(file).contains(text)) {
      if (System.nanoTime() > end || !process.isAlive()) {
        throw new AssertionError("\"" + text + "\" has not appeared in:\n" + text());
      }
      Thread.sleep(50);
    }
  }

  /** Sends a signal: {@code INT} is what Ctrl-C sends. */
  void signal(String name) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
  }

  /** What cannot be caught. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** The processes it has started. */
  List<ProcessHandle> descendants() {
    return process.descendants().toList();
  }

  /** Standard output and standard error. */
  public String text() throws IOException {
    return Files.readString(output);
  }
}
