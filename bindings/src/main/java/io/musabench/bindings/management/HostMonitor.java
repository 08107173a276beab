package io.musabench.bindings.management;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The CPU as a device, from Linux's files.
 *
 * <p>The clock is the mean over the CPUs: cpufreq's {@code scaling_cur_freq} or, without cpufreq,
 * {@code cpu MHz} of {@code /proc/cpuinfo}. In a virtual machine without cpufreq the latter is no
 * measurement: the kernel cannot read the counters and prints the clock it calibrated at boot, so
 * there it is left empty.
 */
final class HostMonitor implements DeviceMonitor {
  private static final Pattern CLOCK = Pattern.compile("(?m)^cpu MHz\\s*:\\s*([0-9.]+)");
  private static final Pattern MODEL = Pattern.compile("(?m)^model name\\s*:\\s*(.+)$");
  private static final Pattern VIRTUAL = Pattern.compile("(?m)^flags\\s*:.*\\bhypervisor\\b");

  // The sensors of the processor package: Intel's, AMD's, and that of most Arm boards.
  private static final List<String> SENSORS = List.of("coretemp", "k10temp", "cpu_thermal");

  private final Path root;

  /**
   * @param root the folder of {@code proc} and {@code sys}; tests give a copy
   */
  HostMonitor(Path root) {
    this.root = root;
  }

  /** Why there is no clock; empty if there is one. */
  Optional<String> note() {
    if (clock().isPresent()) {
      return Optional.empty();
    }
    return Optional.of(
        VIRTUAL.matcher(cpuInfo()).find()
            ? "no clock: a virtual machine without cpufreq does not tell it"
            : "no clock: neither cpufreq nor /proc/cpuinfo tells it");
  }

  @Override
  public DeviceState read() {
    OptionalLong total = memory("MemTotal");
    OptionalLong available = memory("MemAvailable");
    return new DeviceState(
        clock(),
        OptionalDouble.empty(),
        mean("cpuinfo_max_freq"),
        temperature(),
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        total.isPresent() && available.isPresent()
            ? OptionalLong.of(total.getAsLong() - available.getAsLong())
            : OptionalLong.empty(),
        total,
        OptionalLong.empty(),
        List.of());
  }

  private OptionalDouble clock() {
    OptionalDouble current = mean("scaling_cur_freq");
    if (current.isPresent()) {
      return current;
    }
    String cpuInfo = cpuInfo();
    return VIRTUAL.matcher(cpuInfo).find()
        ? OptionalDouble.empty()
        : CLOCK
            .matcher(cpuInfo)
            .results()
            .mapToDouble(m -> Double.parseDouble(m.group(1)))
            .average();
  }

  /** A value of cpufreq in MHz, the mean over the CPUs that have it. */
  private OptionalDouble mean(String file) {
    return folders(root.resolve("sys/devices/system/cpu"), name -> name.matches("cpu\\d+")).stream()
        .flatMapToDouble(cpu -> number(cpu.resolve("cpufreq").resolve(file)).stream())
        .map(kilohertz -> kilohertz / 1000)
        .average();
  }

  private OptionalDouble temperature() {
    return folders(root.resolve("sys/class/hwmon"), name -> true).stream()
        .filter(sensor -> SENSORS.contains(text(sensor.resolve("name")).strip()))
        .flatMapToDouble(sensor -> number(sensor.resolve("temp1_input")).stream())
        .map(thousandths -> thousandths / 1000)
        .max();
  }

  private OptionalLong memory(String key) {
    Matcher matcher =
        Pattern.compile("(?m)^" + key + ":\\s*(\\d+) kB")
            .matcher(text(root.resolve("proc/meminfo")));
    return matcher.find()
        ? OptionalLong.of(Long.parseLong(matcher.group(1)) * 1024)
        : OptionalLong.empty();
  }

  /** Always empty: every process uses the CPU, and the load average says how much. */
  @Override
  public List<DeviceProcess> processes() {
    return List.of();
  }

  @Override
  public DeviceIdentity identity() {
    Matcher model = MODEL.matcher(cpuInfo());
    return new DeviceIdentity(
        model.find() ? Optional.of(model.group(1).strip()) : Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  @Override
  public List<DeviceLink> links() {
    return List.of();
  }

  @Override
  public String library() {
    return root.resolve("sys/devices/system/cpu").toString();
  }

  @Override
  public void close() {}

  private String cpuInfo() {
    return text(root.resolve("proc/cpuinfo"));
  }

  private static List<Path> folders(Path parent, Predicate<String> name) {
    List<Path> found = new ArrayList<>();
    try (Stream<Path> entries = Files.list(parent)) {
      entries.filter(entry -> name.test(entry.getFileName().toString())).forEach(found::add);
    } catch (IOException absent) {
      return List.of();
    }
    return found;
  }

  private static OptionalDouble number(Path file) {
    return Arrays.stream(text(file).strip().split("\\s+"))
        .filter(word -> word.matches("-?\\d+"))
        .mapToDouble(Double::parseDouble)
        .findFirst();
  }

  private static String text(Path file) {
    try {
      return Files.readString(file, StandardCharsets.UTF_8);
    } catch (IOException absent) {
      return "";
    }
  }
}
