package io.musabench.results.run;

import io.musabench.results.run.Environment.Git;
import io.musabench.results.run.Environment.Machine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads what Linux and git tell about this machine; anything else leaves a null. */
final class MachineProbe {
  private static final long GIT_TIMEOUT_S = 10;

  private MachineProbe() {}

  static Machine machine() {
    return machine(Path.of("/"));
  }

  /**
   * The machine whose {@code proc} and {@code sys} lie under {@code root}.
   *
   * @param root the root folder; tests give a copy
   */
  static Machine machine(Path root) {
    String cpuInfo = text(root.resolve("proc/cpuinfo"));
    String memInfo = text(root.resolve("proc/meminfo"));
    Path frequency = root.resolve("sys/devices/system/cpu/cpu0/cpufreq");
    String kilohertz = text(frequency.resolve("scaling_cur_freq"));
    Double mhz =
        kilohertz == null
            ? number(find(cpuInfo, "cpu MHz"))
            : Double.valueOf(Double.parseDouble(kilohertz.strip()) / 1000);
    return new Machine(
        find(cpuInfo, "model name"),
        Runtime.getRuntime().availableProcessors(),
        strip(text(frequency.resolve("scaling_governor"))),
        mhz,
        cpuInfo == null ? null : hasFlag(cpuInfo, "hypervisor"),
        kibibytes(find(memInfo, "MemTotal")),
        kibibytes(find(memInfo, "MemAvailable")),
        loads(text(root.resolve("proc/loadavg"))),
        System.getProperty("os.name"),
        strip(text(root.resolve("proc/sys/kernel/osrelease"))),
        System.getProperty("os.arch"));
  }

  private static List<Double> loads(String loadavg) {
    if (loadavg == null) {
      return null;
    }
    return Arrays.stream(loadavg.split(" ")).limit(3).map(Double::valueOf).toList();
  }

  private static String find(String text, String key) {
    if (text == null) {
      return null;
    }
    Matcher m = Pattern.compile("(?m)^" + Pattern.quote(key) + "\\s*:\\s*(.+)$").matcher(text);
    return m.find() ? m.group(1).strip() : null;
  }

  private static boolean hasFlag(String cpuInfo, String flag) {
    String flags = find(cpuInfo, "flags");
    return flags != null && Arrays.asList(flags.split(" ")).contains(flag);
  }

  private static Double number(String text) {
    return text == null ? null : Double.valueOf(text);
  }

  private static Long kibibytes(String text) {
    return text == null ? null : Long.parseLong(text.split(" ")[0]) * 1024;
  }

  private static String strip(String text) {
    return text == null ? null : text.strip();
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return null;
    }
  }

  /** Settings of the suite and of the runtimes, from properties and from the environment. */
  static Map<String, String> settings(Map<String, String> variables, Properties properties) {
    Map<String, String> found = new TreeMap<>();
    variables.forEach(
        (name, value) -> {
          if (name.matches("(MUSABENCH|MUSART|MUSA|CUDA|MATE|TVM_FFI)_.*")) {
            found.put(name, value);
          }
        });
    for (String name : properties.stringPropertyNames()) {
      String value = properties.getProperty(name);
      boolean ours = name.startsWith("musabench.");
      // Maven passes on every property it knows; what nobody has set is empty.
      if (ours && !name.startsWith(Environment.VERSION_PROPERTY) && !value.isEmpty()) {
        found.put(name, value);
      }
    }
    return found;
  }

  static Git git(Path checkout) {
    String revision = command(checkout, "git", "rev-parse", "HEAD");
    if (revision == null) {
      return Git.UNKNOWN;
    }
    String status = command(checkout, "git", "status", "--porcelain", "--untracked-files=no");
    return new Git(
        revision,
        command(checkout, "git", "rev-parse", "--abbrev-ref", "HEAD"),
        status == null ? null : !status.isEmpty());
  }

  /** Standard output of a command without the white space around it, null if it failed. */
  private static String command(Path folder, String... line) {
    Process process;
    try {
      process =
          new ProcessBuilder(line)
              .directory(folder.toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      return null;
    }
    try {
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      boolean ended = process.waitFor(GIT_TIMEOUT_S, TimeUnit.SECONDS);
      return ended && process.exitValue() == 0 ? out.strip() : null;
    } catch (IOException e) {
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    } finally {
      process.destroy();
    }
  }

  /** What may disturb timings on this machine. */
  static List<String> warnings(Machine machine) {
    List<String> warnings = new ArrayList<>();
    List<Double> load = machine.loadAverage();
    // Half a CPU kept busy by others already shows in every number of a two-core machine.
    if (load != null && load.get(0) > 0.5) {
      warnings.add(
          "load average "
              + load.get(0)
              + " before the run: other work on "
              + machine.logicalCpus()
              + " CPUs disturbs the timings");
    }
    String governor = machine.cpuGovernor();
    if (governor != null && !governor.equals("performance")) {
      warnings.add("CPU governor is " + governor + ": the clock changes with the load");
    }
    return warnings;
  }
}
