package io.musabench.results.run;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Where, when and with what a run was measured: the content of {@code environment.json}. What is
 * not known is null here and {@code "unknown"} in the file, whatever its type.
 *
 * @param schemaVersion version of the file's layout
 * @param createdUtc start of the run, ISO 8601 in UTC
 * @param target {@code musa}, {@code cuda} or {@code host}
 * @param device the device that was measured
 * @param clocks its clocks, power and temperature at the start
 * @param clocksAtEnd the same at the end; unknown as long as the run goes on
 * @param libraries native libraries that were loaded
 * @param versions versions of software around the device by name, for example {@code torch_musa}
 * @param settings properties and environment variables that were set and change behaviour
 * @param git state of the checkout
 * @param jvm the Java machine
 * @param machine the computer
 * @param warnings what may have disturbed the measurement, one line each
 */
@JsonPropertyOrder({"schemaVersion"})
public record Environment(
    int schemaVersion,
    String createdUtc,
    String target,
    DeviceInfo device,
    Clocks clocks,
    Clocks clocksAtEnd,
    List<Library> libraries,
    Map<String, String> versions,
    Map<String, String> settings,
    Git git,
    Jvm jvm,
    Machine machine,
    List<String> warnings) {

  /** Version of {@code environment.json} that this class reads and writes. */
  public static final int SCHEMA_VERSION = 1;

  /** Software whose versions are always listed, known or not. */
  private static final List<String> EXPECTED_VERSIONS =
      List.of(
          Versions.MUSA_SDK,
          Versions.DRIVER,
          Versions.TORCH_MUSA,
          Versions.VLLM_MUSA,
          Versions.VLLM_MUSA_COMMIT,
          Versions.MATE,
          Versions.GPU_MODEL);

  /** Among {@link #versions}: the fraction by which measured times were made longer on purpose. */
  public static final String INJECTED = "ab.injected";

  /**
   * Among {@link #versions}: what the two runs have in common whose forks were measured in pairs,
   * and no other run.
   */
  public static final String PAIRED_IN = "ab.session";

  /** Among {@link #versions}: the number of cases that the run is to measure. */
  public static final String CASES = "measure.cases";

  /** Among {@link #settings}: the host runtime's variable that plants faults. */
  public static final String FAULTS = "MUSART_HOST_FAULTS";

  /** Prefix of system properties that set {@link #versions}. */
  public static final String VERSION_PROPERTY = "musabench.version.";

  /** Copies the collections, sorted by name. */
  public Environment {
    device = device == null ? DeviceInfo.UNKNOWN : device;
    clocksAtEnd = clocksAtEnd == null ? Clocks.UNKNOWN : clocksAtEnd; // older files lack it
    libraries = libraries == null ? List.of() : List.copyOf(libraries);
    versions = sorted(versions);
    Map<String, String> known = new TreeMap<>(settings == null ? Map.of() : settings);
    known.replaceAll((name, value) -> value == null ? "unknown" : value); // That is its value.
    settings = Collections.unmodifiableMap(known);
    warnings = warnings == null ? List.of() : List.copyOf(warnings);
  }

  private static Map<String, String> sorted(Map<String, String> map) {
    return Collections.unmodifiableMap(map == null ? new TreeMap<>() : new TreeMap<>(map));
  }

  /**
   * The measured device.
   *
   * @param name name that the runtime gives
   * @param vendor name of the runtime, for example {@code MUSA}
   * @param index number of the device
   * @param computeUnits multiprocessors, or lanes of the host device
   * @param memoryBytes memory of the device
   * @param driverVersion version of the driver
   * @param runtimeVersion version of the runtime
   */
  public record DeviceInfo(
      String name,
      String vendor,
      Integer index,
      Integer computeUnits,
      Long memoryBytes,
      String driverVersion,
      String runtimeVersion) {
    /** Nothing known. */
    public static final DeviceInfo UNKNOWN =
        new DeviceInfo(null, null, null, null, null, null, null);
  }

  /**
   * Clocks and what they depend on, at one moment.
   *
   * @param mode {@code fixed-frequency}, {@code fixed-power} or {@code free}, as the user says
   * @param coreMhz clock of the cores in MHz
   * @param memoryMhz clock of the memory in MHz
   * @param powerWatts power drawn
   * @param temperatureCelsius temperature
   * @param maxCoreMhz the highest clock of the cores in MHz
   * @param powerLimitWatts the power at which the device slows down
   * @param usedBytes device memory in use by anyone
   * @param eccErrors uncorrected memory errors since the driver was loaded
   * @param throttleReasons why the clock is lower than it could be, in the library's words
   * @param source the management library that was asked, or why there is none
   */
  public record Clocks(
      String mode,
      Double coreMhz,
      Double memoryMhz,
      Double powerWatts,
      Double temperatureCelsius,
      Double maxCoreMhz,
      Double powerLimitWatts,
      Long usedBytes,
      Long eccErrors,
      List<String> throttleReasons,
      String source) {
    /** Nothing known. */
    public static final Clocks UNKNOWN =
        new Clocks(null, null, null, null, null, null, null, null, null, null, null);

    /** Copies the list. */
    public Clocks {
      throttleReasons = throttleReasons == null ? null : List.copyOf(throttleReasons);
    }

    /** With what the user says about the clock. */
    public Clocks withMode(String newMode) {
      return new Clocks(
          newMode,
          coreMhz,
          memoryMhz,
          powerWatts,
          temperatureCelsius,
          maxCoreMhz,
          powerLimitWatts,
          usedBytes,
          eccErrors,
          throttleReasons,
          source);
    }
  }

  /**
   * A native library.
   *
   * @param role what it is for, for example {@code runtime} or {@code kernels}
   * @param path file it was loaded from
   * @param sha256 hash of that file
   * @param version version that it reports
   */
  public record Library(String role, String path, String sha256, String version) {
    /** A library file, hashed; a file that cannot be read leaves the hash unknown. */
    public static Library of(String role, Path file, String version) {
      return new Library(role, file.toString(), hash(file), version);
    }

    private static String hash(Path file) {
      try {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        try (InputStream in = new DigestInputStream(Files.newInputStream(file), digest)) {
          in.transferTo(OutputStream.nullOutputStream());
        }
        return HexFormat.of().formatHex(digest.digest());
      } catch (IOException e) {
        return null;
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("Every Java has SHA-256", e);
      }
    }
  }

  /**
   * The checkout.
   *
   * @param revision commit
   * @param branch branch
   * @param dirty whether files differ from the commit
   */
  public record Git(String revision, String branch, Boolean dirty) {
    /** No checkout. */
    public static final Git UNKNOWN = new Git(null, null, null);
  }

  /**
   * The Java machine.
   *
   * @param name name
   * @param version version
   * @param vendor vendor
   */
  public record Jvm(String name, String version, String vendor) {
    /** The one that runs this. */
    public static Jvm current() {
      return new Jvm(
          System.getProperty("java.vm.name"),
          System.getProperty("java.vm.version"),
          System.getProperty("java.vm.vendor"));
    }
  }

  /**
   * The computer.
   *
   * @param cpu CPU model
   * @param logicalCpus CPUs that this process may use
   * @param cpuGovernor frequency governor of the first CPU
   * @param cpuMhz clock of the first CPU now, in MHz
   * @param hypervisor whether it is a virtual machine
   * @param memoryBytes memory installed
   * @param availableMemoryBytes memory free for use now
   * @param loadAverage load averages over 1, 5 and 15 minutes
   * @param os operating system
   * @param kernel version of its kernel
   * @param arch instruction set
   */
  public record Machine(
      String cpu,
      Integer logicalCpus,
      String cpuGovernor,
      Double cpuMhz,
      Boolean hypervisor,
      Long memoryBytes,
      Long availableMemoryBytes,
      List<Double> loadAverage,
      String os,
      String kernel,
      String arch) {}

  /**
   * What can be known without native code; the device's own parts are unknown until set.
   *
   * @param target {@code musa}, {@code cuda} or {@code host}
   * @param start start of the run
   * @param checkout a folder in the checkout
   */
  public static Environment collect(String target, Instant start, Path checkout) {
    Machine machine = MachineProbe.machine();
    Map<String, String> versions = new TreeMap<>();
    EXPECTED_VERSIONS.forEach(name -> versions.put(name, null));
    System.getProperties()
        .forEach(
            (key, value) -> {
              if (key instanceof String name && name.startsWith(VERSION_PROPERTY)) {
                versions.put(name.substring(VERSION_PROPERTY.length()), value.toString());
              }
            });
    return new Environment(
        SCHEMA_VERSION,
        start.truncatedTo(ChronoUnit.SECONDS).toString(),
        target,
        DeviceInfo.UNKNOWN,
        Clocks.UNKNOWN,
        Clocks.UNKNOWN,
        List.of(),
        versions,
        MachineProbe.settings(System.getenv(), System.getProperties()),
        MachineProbe.git(checkout),
        Jvm.current(),
        machine,
        MachineProbe.warnings(machine));
  }

  /**
   * What a run has to say that holds fewer cases than it was to measure.
   *
   * @param cases number of cases that it holds
   * @return empty if it holds all, or if it does not say how many it was to measure
   */
  public String partial(int cases) {
    String all = versions.get(CASES);
    boolean known = all != null && all.matches("\\d{1,9}"); // Foreign files say anything.
    return known && cases < Integer.parseInt(all)
        ? "partial: %d of its %s cases".formatted(cases, all)
        : "";
  }

  /** With the device. */
  public Environment withDevice(DeviceInfo value) {
    return with(value, clocks, clocksAtEnd, libraries, versions, warnings);
  }

  /** With the clocks. */
  public Environment withClocks(Clocks value) {
    return with(device, value, clocksAtEnd, libraries, versions, warnings);
  }

  /** With the clocks at the end. */
  public Environment withClocksAtEnd(Clocks value) {
    return with(device, clocks, value, libraries, versions, warnings);
  }

  /** With the loaded libraries. */
  public Environment withLibraries(List<Library> value) {
    return with(device, clocks, clocksAtEnd, value, versions, warnings);
  }

  /** With further versions or labels; a name that is there already takes the new value. */
  public Environment withVersions(Map<String, String> more) {
    Map<String, String> all = new TreeMap<>(versions);
    all.putAll(more);
    return with(device, clocks, clocksAtEnd, libraries, all, warnings);
  }

  /** With further warnings. */
  public Environment withWarnings(List<String> more) {
    List<String> all = new ArrayList<>(warnings);
    all.addAll(more);
    return with(device, clocks, clocksAtEnd, libraries, versions, all);
  }

  /** The parts that are known only once the device is open; the others stay. */
  private Environment with(
      DeviceInfo newDevice,
      Clocks newClocks,
      Clocks newClocksAtEnd,
      List<Library> newLibraries,
      Map<String, String> newVersions,
      List<String> newWarnings) {
    return new Environment(
        schemaVersion,
        createdUtc,
        target,
        newDevice,
        newClocks,
        newClocksAtEnd,
        newLibraries,
        newVersions,
        settings,
        git,
        jvm,
        machine,
        newWarnings);
  }
}
