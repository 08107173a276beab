package io.musabench.jmh.cli;

import io.musabench.bindings.RuntimeChoice;
import io.musabench.bindings.Target;
import io.musabench.bindings.TargetException;
import io.musabench.bindings.kernels.PortableKernels;
import io.musabench.bindings.load.LoadAttempt;
import io.musabench.bindings.load.LoadedLibrary;
import io.musabench.bindings.management.DeviceIdentity;
import io.musabench.bindings.management.DeviceLink;
import io.musabench.bindings.management.DeviceMonitor;
import io.musabench.bindings.management.DeviceMonitors;
import io.musabench.bindings.management.DeviceProcess;
import io.musabench.bindings.management.DeviceState;
import io.musabench.bindings.mate.MateInstallation;
import io.musabench.bindings.runtime.Device;
import io.musabench.bindings.runtime.DriverLibrary;
import io.musabench.bindings.runtime.Vendor;
import io.musabench.results.run.Versions;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code musabench doctor}. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    description = "Shows devices, libraries and versions, and what can run and why not.")
final class DoctorCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  private PrintWriter out;

  @Override
  public Integer call() {
    out = spec.commandLine().getOut();
    line(
        "Java      %s, %s",
        System.getProperty("java.vm.version"), System.getProperty("java.vm.name"));
    line(
        "Machine   %s %s, %d CPUs",
        System.getProperty("os.name"),
        System.getProperty("os.arch"),
        Runtime.getRuntime().availableProcessors());
    line(
        "Own libraries in %s",
        Target.nativeFolder().map(Object::toString).orElse("no folder that was found"));
    line("Kernels built for %s", String.join(", ", built()));
    line("");
    line("Targets");
    Target.survey().forEach(this::target);
    line("");
    int exitCode;
    Map<String, String> versions = new TreeMap<>(SoftwareVersions.find());
    try (Target target = Target.open()) {
      exitCode = used(target, versions);
    } catch (TargetException | IllegalArgumentException e) {
      line("Nothing can run: %s", e.getMessage());
      exitCode = ExitCode.NO_TARGET;
    }
    line("");
    versions(versions);
    line("");
    mate(MateInstallation.find());
    return exitCode;
  }

  // The build makes a kernel library for each compiler it finds: nvcc for cuda, mcc for musa.
  private static List<String> built() {
    List<String> targets =
        Arrays.stream(Target.Kind.values())
            .map(Target.Kind::id)
            .filter(
                id ->
                    Target.nativeFolder()
                        .filter(f -> Files.exists(f.resolve("libmusabench_kernels_" + id + ".so")))
                        .isPresent())
            .toList();
    return targets.isEmpty() ? List.of("no target") : targets;
  }

  private void line(String format, Object... values) {
    out.println(values.length == 0 ? format : String.format(Locale.ROOT, format, values));
  }

  // ---- what is there

  private void target(Target.Availability found) {
    line(
        "  %-5s %s",
        found.kind().id(),
        found.available() ? "can be used, devices: " + found.devices() : "no: " + found.reason());
    for (LoadAttempt attempt : found.attempts()) {
      line("          %s", attempt);
    }
    found.runtime().ifPresent(this::choice);
    found.driver().ifPresent(driver -> driver(found, driver));
  }

  private void choice(RuntimeChoice choice) {
    LoadedLibrary library = choice.library();
    line("        taken %s", library.path());
    line("              version %s, sha256 %s", choice.version(), library.sha256());
    line("              %s", choice.reason());
    for (RuntimeChoice.Other other : choice.others()) {
      line(
          "        not   %s, version %s by its name; take it with -D%s=%s",
          other.file(), other.version(), Target.RUNTIME_PROPERTY, other.file());
    }
  }

  private void driver(Target.Availability found, DriverLibrary driver) {
    Vendor vendor = found.kind().vendor();
    line(
        "        driver's library serves runtimes up to %s, sha256 %s",
        driver.version().isPresent() ? vendor.versionText(driver.version().getAsInt()) : "unknown",
        driver.library().sha256());
    int devices = driver.deviceCount().orElse(0);
    if (!found.available() && devices > 0) {
      line(
          "        the driver counts %d devices: this runtime does not fit it; take another, see"
              + " -D%s",
          devices, Target.RUNTIME_PROPERTY);
    }
  }

  // ---- what is used

  private int used(Target target, Map<String, String> versions) {
    line("Used      %s", target.kind().id());
    for (int i = 0; i < target.runtime().deviceCount(); i++) {
      device(target, i, versions);
    }
    Vendor vendor = target.runtime().vendor();
    line(
        "  runtime version %s, driver version %s",
        vendor.versionText(target.runtime().version()),
        vendor.versionText(target.runtime().driverVersion()));
    for (LoadedLibrary library : target.libraries()) {
      line("  %-8s %s (sha256 %.12s…)", library.role(), library.path(), library.sha256());
    }
    line("");
    PortableKernels kernels;
    try {
      kernels = target.kernels();
    } catch (TargetException missing) {
      line("Nothing can run: %s", missing.getMessage());
      return ExitCode.NO_TARGET;
    }
    List<String> absent =
        PortableKernels.EXPORTS.stream().filter(name -> !kernels.has(name)).toList();
    if (absent.isEmpty()) {
      line("All benchmarks can run.");
      return ExitCode.OK;
    }
    line("Benchmarks that need these kernels cannot run: %s", String.join(", ", absent));
    return ExitCode.NO_TARGET;
  }

  private void device(Target target, int number, Map<String, String> versions) {
    Device device = target.runtime().device(number);
    line("  device %d: %s, %.1f GiB", number, device.name(), device.totalMemory() / 0x1p30);
    if (number == 0 && target.kind() != Target.Kind.HOST) {
      versions.put(Versions.GPU_MODEL, device.name());
    }
    DeviceMonitors.Opened opened = target.monitor(number);
    if (!opened.note().isEmpty()) {
      line("    %s", opened.note());
    }
    if (opened.monitor().isEmpty()) {
      return;
    }
    try (DeviceMonitor monitor = opened.monitor().get()) {
      line("    %s", state(monitor.read()));
      DeviceIdentity identity = monitor.identity();
      identity.driverVersion().ifPresent(version -> versions.put(Versions.DRIVER, version));
      if (identity.uuid().isPresent()) {
        line(
            "    uuid %s, bus %s, firmware %s",
            identity.uuid().get(),
            identity.pciBusId().orElse("unknown"),
            identity.firmware().orElse("unknown"));
      }
      if (!monitor.links().isEmpty()) {
        line("    links %s", DeviceLink.summary(monitor.links()));
      }
      for (DeviceProcess process : monitor.processes()) {
        line("    used by %s (%d)", process.name(), process.pid());
      }
      line("    by %s", monitor.library());
    }
  }

  private static String state(DeviceState state) {
    List<String> parts = new ArrayList<>();
    add(parts, "clock %.0f MHz", state.coreClockMhz());
    add(parts, "of %.0f MHz", state.maxCoreClockMhz());
    add(parts, "memory clock %.0f MHz", state.memoryClockMhz());
    add(parts, "%.0f °C", state.temperatureC());
    add(parts, "%.0f W", state.powerWatts());
    add(parts, "of %.0f W", state.powerLimitWatts());
    if (state.usedBytes().isPresent()) {
      parts.add(
          String.format(Locale.ROOT, "%.1f GiB in use", state.usedBytes().getAsLong() / 0x1p30));
    }
    if (state.eccErrors().isPresent()) {
      parts.add("uncorrected memory errors " + state.eccErrors().getAsLong());
    }
    if (!state.throttleReasons().isEmpty()) {
      parts.add("slowed by " + String.join(" and ", state.throttleReasons()));
    }
    return parts.isEmpty() ? "its state cannot be read" : String.join(", ", parts);
  }

  private static void add(List<String> parts, String format, OptionalDouble value) {
    value.ifPresent(number -> parts.add(String.format(Locale.ROOT, format, number)));
  }

  // ---- software

  private void versions(Map<String, String> versions) {
    line("Software  %s", Versions.line(versions));
    line("  What is unknown or wrong here can be set: --label %s=5.1.0", Versions.MUSA_SDK);
  }

  private void mate(MateInstallation mate) {
    Optional<Path> folder = mate.packageFolder();
    line(
        "mate      %s",
        folder.isPresent() ? mate.version() + " in " + folder.get() : "no Python package");
    if (folder.isPresent() && !mate.isKnownVersion()) {
      line(
          "  its names and arguments are known here for %s; another version may have others",
          MateInstallation.KNOWN_VERSION);
    }
    int kernels = 0;
    for (Path searched : mate.folders()) {
      int count = MateInstallation.count(searched);
      kernels += count;
      line("  %s: %s", searched, contents(searched, count));
    }
    mate.notes().forEach(note -> line("  %s", note));
    line(
        "  %s builds what is missing:",
        kernels == 0 ? "no kernel is there; this" : "a kernel that is not there is skipped; this");
    line("    %s", MateInstallation.buildCommand());
  }

  private static String contents(Path folder, int count) {
    if (!Files.isDirectory(folder)) {
      return "no such folder";
    }
    String kinds =
        MateInstallation.kinds(folder).entrySet().stream()
            .map(entry -> entry.getKey() + " " + entry.getValue())
            .collect(Collectors.joining(", "));
    return count + " kernels (" + kinds + ")";
  }
}
