package io.musabench.jmh.cli;

import io.musabench.jmh.device.Probe;
import io.musabench.results.run.Environment;
import io.musabench.results.run.Environment.Clocks;
import io.musabench.results.run.Environment.DeviceInfo;
import io.musabench.results.run.Environment.Library;
import io.musabench.results.run.RunException;
import io.musabench.results.run.Versions;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Asks a process of its own which device there is; see {@link Probe}. */
final class DeviceProbe {
  // Loading a vendor's libraries and making a context takes seconds, not minutes.
  private static final long LIMIT_SECONDS = 120;

  private static final String TEMPORARY = "java.io.tmpdir";

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
    return new DeviceProbe(ask(setting, List.of()));
  }

  /** The device's state now; what cannot be read is unknown. Throws nothing. */
  static Clocks state(Setting setting) {
    try {
      return clocks(ask(setting, List.of(Probe.STATE_ONLY)));
    } catch (NoTargetException | RunException e) {
      String reason = "not read: " + String.valueOf(e.getMessage()).lines().findFirst().orElse("");
      return clocks(source(reason));
    }
  }

  private static Properties source(String text) {
    Properties only = new Properties();
    only.setProperty(Probe.STATE + "source", text);
    return only;
  }

  private static Properties ask(Setting setting, List<String> arguments) {
    try {
      // Files, not pipes: reading a pipe would wait for ever for a process that hangs.
      Path output = temporary(".out");
      Path errors = temporary(".err");
      try {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:TieredStopAtLevel=1"); // It ends before more would pay.
        command.add("-D" + TEMPORARY + "=" + System.getProperty(TEMPORARY));
        command.addAll(ForkRunner.passedProperties());
        command.addAll(setting.jvmArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add(Probe.class.getName());
        command.addAll(arguments);
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
          throw new NoTargetException(failure(process.exitValue(), Files.readString(errors)));
        }
        Properties found = new Properties();
        found.load(new StringReader(Files.readString(output)));
        return found;
      } finally {
        Files.deleteIfExists(output);
        Files.deleteIfExists(errors);
      }
    } catch (IOException e) {
      throw new NoTargetException("the device was not asked: " + UsageException.oneLine(e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NoTargetException("interrupted while opening the device");
    }
  }

  private static Path temporary(String suffix) {
    try {
      Path file = Files.createTempFile("musabench-probe", suffix);
      file.toFile().deleteOnExit(); // If it is stopped meanwhile.
      return file;
    } catch (IOException e) {
      throw RunException.unwritten(
          "Cannot write temporary files in %s (MUSABENCH_OPTS=-D%s=FOLDER names another folder)"
              .formatted(System.getProperty(TEMPORARY), TEMPORARY),
          e);
    }
  }

  private static String failure(int exitCode, String errors) {
    if (exitCode == Probe.NO_TARGET) {
      return errors.strip();
    }
    // What a library says while it fails is worth reading; where in Java that was is not.
    String said =
        errors
            .lines()
            .filter(line -> !line.startsWith("\tat ") && !line.startsWith("\t... "))
            .collect(Collectors.joining("\n"));
    return "opening the device ended with exit code " + exitCode + "\n" + said.strip();
  }

  /** {@code musa}, {@code cuda} or {@code host}. */
  String target() {
    return found.getProperty("target");
  }

  /** How many devices the target has. */
  int devices() {
    return Integer.parseInt(found.getProperty("devices"));
  }

  /** The number of the device that was opened. */
  int index() {
    return Integer.parseInt(found.getProperty("index"));
  }

  /** The cases that chosen ones stand for here; see {@link CaseSpec#resolve}. */
  Set<CaseSpec> resolve(Set<CaseSpec> chosen) {
    Set<String> present = Set.of(found.getProperty(Probe.PRESENT, "").split(","));
    Set<CaseSpec> cases = new LinkedHashSet<>();
    chosen.forEach(spec -> cases.addAll(spec.resolve(present)));
    return cases;
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
    Map<String, String> versions = new TreeMap<>(SoftwareVersions.find());
    List<String> warnings = new ArrayList<>();
    for (String key : new TreeSet<>(found.stringPropertyNames())) {
      if (key.startsWith(Probe.VERSION)) {
        versions.put(key.substring(Probe.VERSION.length()), found.getProperty(key));
      } else if (key.startsWith(Probe.WARNING)) {
        warnings.add(found.getProperty(key));
      }
    }
    if (!target().equals("host")) {
      versions.put(Versions.GPU_MODEL, found.getProperty("name"));
    }
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
        .withLibraries(libraries)
        .withVersions(given(versions))
        .withClocks(clocks(found))
        .withWarnings(warnings);
  }

  // A version that a property gives is the user's word, and stronger than what was found.
  private static Map<String, String> given(Map<String, String> versions) {
    versions
        .keySet()
        .removeIf(name -> System.getProperty(Environment.VERSION_PROPERTY + name) != null);
    return versions;
  }

  private static Clocks clocks(Properties found) {
    String throttle = found.getProperty(Probe.STATE + "throttle");
    return new Clocks(
        null,
        number(found, "core_mhz"),
        number(found, "memory_mhz"),
        number(found, "power_w"),
        number(found, "temperature_c"),
        number(found, "max_core_mhz"),
        number(found, "power_limit_w"),
        integer(found, "used_bytes"),
        integer(found, "ecc_errors"),
        throttle == null || throttle.isEmpty() ? List.of() : List.of(throttle.split(";")),
        found.getProperty(Probe.STATE + "source"));
  }

  private static Double number(Properties found, String name) {
    String text = found.getProperty(Probe.STATE + name);
    return text == null ? null : Double.valueOf(text);
  }

  private static Long integer(Properties found, String name) {
    String text = found.getProperty(Probe.STATE + name);
    return text == null ? null : Long.valueOf(text);
  }
}
