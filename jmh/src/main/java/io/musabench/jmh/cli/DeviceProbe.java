package io.musabench.jmh.cli;

import io.musabench.jmh.device.Probe;
import io.musabench.results.run.Environment;
import io.musabench.results.run.Environment.DeviceInfo;
import io.musabench.results.run.Environment.Library;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

/** Asks a process of its own which device there is; see {@link Probe}. */
final class DeviceProbe {
  // Loading a vendor's libraries and making a context takes seconds, not minutes.
  private static final long LIMIT_SECONDS = 120;

  private final Properties found;

  private DeviceProbe(Properties found) {
    this.found = found;
  }

  /**
   * @throws NoTargetException when no device can be used; the message says what was tried and what
   *     to set
   */
  static DeviceProbe run() {
    return run(Setting.AS_IS);
  }

  /** The device under a setting. */
  static DeviceProbe run(Setting setting) {
    try {
      // Files, not pipes: reading a pipe would wait for ever for a process that hangs.
      Path output = Files.createTempFile("musabench-probe", ".out");
      Path errors = Files.createTempFile("musabench-probe", ".err");
      try {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ForkRunner.passedProperties());
        command.addAll(setting.jvmArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add(Probe.class.getName());
        ProcessBuilder builder =
            new ProcessBuilder(command)
                .redirectOutput(output.toFile())
                .redirectError(errors.toFile());
        builder.environment().putAll(setting.environment());
        Process process = builder.start();
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
          process.destroyForcibly();
          throw new NoTargetException("the device did not answer for " + LIMIT_SECONDS + " s");
        }
        if (process.exitValue() != 0) {
          String text = Files.readString(errors).strip();
          throw new NoTargetException(
              process.exitValue() == Probe.NO_TARGET
                  ? text
                  : "opening the device ended with exit code " + process.exitValue() + "\n" + text);
        }
        Properties found = new Properties();
        found.load(new StringReader(Files.readString(output)));
        return new DeviceProbe(found);
      } finally {
        Files.deleteIfExists(output);
        Files.deleteIfExists(errors);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NoTargetException("interrupted while opening the device");
    }
  }

  /** {@code musa}, {@code cuda} or {@code host}. */
  String target() {
    return found.getProperty("target");
  }

  /** One line for the user. */
  String description() {
    return "%s: %s (%s units)"
        .formatted(target(), found.getProperty("name"), found.getProperty("units", "unknown"));
  }

  /** Everything that belongs in the run's environment file. */
  Environment environment(Instant start) {
    List<Library> libraries = new ArrayList<>();
    for (String key : found.stringPropertyNames()) {
      if (key.startsWith(Probe.LIBRARY)) {
        String role = key.substring(Probe.LIBRARY.length());
        libraries.add(Library.of(role, Path.of(found.getProperty(key)), null));
      }
    }
    libraries.sort((a, b) -> a.role().compareTo(b.role()));
    String units = found.getProperty("units");
    return Environment.collect(target(), start, Checkout.folder())
        .withDevice(
            new DeviceInfo(
                found.getProperty("name"),
                found.getProperty("vendor"),
                Integer.valueOf(found.getProperty("index")),
                units == null ? null : Integer.valueOf(units),
                Long.valueOf(found.getProperty("memory")),
                found.getProperty("driver"),
                found.getProperty("runtime")))
        .withLibraries(libraries);
  }
}
