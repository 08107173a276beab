package io.musabench.jmh.cli;

import io.musabench.bindings.Target;
import io.musabench.bindings.TargetException;
import io.musabench.bindings.kernels.PortableKernels;
import io.musabench.bindings.load.LoadAttempt;
import io.musabench.bindings.load.LoadedLibrary;
import io.musabench.bindings.runtime.Device;
import io.musabench.bindings.runtime.Vendor;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
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

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    out.printf(
        "Java      %s, %s%n",
        System.getProperty("java.vm.version"), System.getProperty("java.vm.name"));
    out.printf(
        "Machine   %s %s, %d CPUs%n",
        System.getProperty("os.name"),
        System.getProperty("os.arch"),
        Runtime.getRuntime().availableProcessors());
    out.printf(
        "Own libraries in %s%n",
        Target.nativeFolder().map(Object::toString).orElse("no folder that was found"));
    out.println();
    out.println("Targets");
    for (Target.Availability found : Target.survey()) {
      out.printf(
          "  %-5s %s%n",
          found.kind().id(),
          found.available() ? "can be used, devices: " + found.devices() : "no: " + found.reason());
      for (LoadAttempt attempt : found.attempts()) {
        out.println("          " + attempt);
      }
    }
    out.println();
    try (Target target = Target.open()) {
      return describe(out, target);
    } catch (TargetException | IllegalArgumentException e) {
      out.println("Nothing can run: " + e.getMessage());
      return ExitCode.NO_TARGET;
    }
  }

  private static int describe(PrintWriter out, Target target) {
    out.println("Used      " + target.kind().id());
    for (int i = 0; i < target.runtime().deviceCount(); i++) {
      Device device = target.runtime().device(i);
      out.printf("  device %d: %s, %.1f GiB%n", i, device.name(), device.totalMemory() / 0x1p30);
    }
    Vendor vendor = target.runtime().vendor();
    out.printf(
        "  runtime version %s, driver version %s%n",
        vendor.versionText(target.runtime().version()),
        vendor.versionText(target.runtime().driverVersion()));
    for (LoadedLibrary library : target.libraries()) {
      out.printf("  %-8s %s (sha256 %.12s…)%n", library.role(), library.path(), library.sha256());
    }
    out.println();
    PortableKernels kernels = target.kernels();
    List<String> missing =
        PortableKernels.EXPORTS.stream().filter(name -> !kernels.has(name)).toList();
    if (missing.isEmpty()) {
      out.println("All benchmarks can run.");
      return ExitCode.OK;
    }
    out.println("Benchmarks that need these kernels cannot run: " + String.join(", ", missing));
    return ExitCode.NO_TARGET;
  }
}
