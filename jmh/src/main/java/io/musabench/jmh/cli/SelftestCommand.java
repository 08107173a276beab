package io.musabench.jmh.cli;

import io.musabench.bindings.TargetException;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.FfiException;
import io.musabench.bindings.runtime.DeviceException;
import io.musabench.jmh.device.Agreement;
import io.musabench.jmh.device.DeviceContext;
import io.musabench.jmh.device.KernelBenchmark;
import io.musabench.jmh.device.WrongResultException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code musabench selftest}. */
@Command(
    name = "selftest",
    mixinStandardHelpOptions = true,
    description = {
      "Runs every kernel of the target's library at small and awkward shapes and compares what it"
          + " writes with a double-precision reference. Nothing is timed and nothing is written.",
      ""
    })
final class SelftestCommand implements Callable<Integer> {
  private static final List<DType> FILLED = List.of(DType.BF16, DType.F16, DType.F32);
  private static final List<Integer> FILLED_COUNTS = List.of(1, 8190, 1_000_003);

  @Parameters(
      paramLabel = "REGEX",
      arity = "0..*",
      description = "only checks whose title, as --verbose prints it, contains a match")
  private List<String> expressions = List.of();

  @Option(names = "--verbose", description = "a line for each check, not for each kernel")
  private boolean verbose;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    Map<String, Function<DeviceContext, Agreement>> checks = chosen();
    try (DeviceContext device = DeviceContext.open()) {
      out.printf(
          "Target %s, device %s, kernels %s%n",
          device.target().kind().id(),
          device.target().runtime().currentDevice().name(),
          device.kernels().library().library().path());
    } catch (TargetException | IllegalArgumentException e) {
      throw new NoTargetException(e.getMessage());
    }
    Tally all = new Tally(out, verbose);
    long began = System.nanoTime();
    for (Map.Entry<String, Function<DeviceContext, Agreement>> check : checks.entrySet()) {
      if (!all.run(check.getKey(), check.getValue())) {
        break;
      }
    }
    return all.report((System.nanoTime() - began) / 1e9);
  }

  private Map<String, Function<DeviceContext, Agreement>> chosen() {
    Map<String, Function<DeviceContext, Agreement>> chosen = checks();
    if (!expressions.isEmpty()) {
      List<Pattern> patterns = expressions.stream().map(Catalog::pattern).toList();
      chosen.keySet().removeIf(title -> patterns.stream().noneMatch(p -> p.matcher(title).find()));
    }
    if (chosen.isEmpty()) {
      throw new UsageException(
          "nothing to check: no title contains a match of %s; without one, --verbose shows them all"
              .formatted(String.join(", ", expressions)));
    }
    return chosen;
  }

  /** What is checked, by a title whose first word is the kernel's benchmark. */
  private static Map<String, Function<DeviceContext, Agreement>> checks() {
    Map<String, Function<DeviceContext, Agreement>> checks = new LinkedHashMap<>();
    for (DType dtype : FILLED) {
      for (int count : FILLED_COUNTS) {
        checks.put(
            "random_fill dtype=%s count=%d".formatted(dtype, count),
            device -> device.checkRandomFill(dtype, count, 4_000_000_000L, 0.02));
      }
    }
    Suite suite = Suite.load(Suite.SELFTEST, Catalog.load(), BenchmarkParameters.table());
    for (CaseSpec one : suite.cases()) {
      checks.put(one.title(), device -> ((KernelBenchmark) CaseCheck.benchmark(one)).check(device));
    }
    return checks;
  }

  /** What came out so far. */
  private static final class Tally {
    private final PrintWriter out;
    private final boolean verbose;
    private final Map<String, Agreement> right = new LinkedHashMap<>();
    private int checks;
    private int wrong;
    private boolean broken;

    Tally(PrintWriter out, boolean verbose) {
      this.out = out;
      this.verbose = verbose;
    }

    /** Makes a check; false if the device can make no more. */
    boolean run(String title, Function<DeviceContext, Agreement> check) {
      checks++;
      try (DeviceContext device = DeviceContext.open()) {
        Agreement found = check.apply(device);
        right.merge(title.split(" ")[0], found, Agreement::and);
        if (verbose) {
          out.println("  right  " + title);
        }
      } catch (WrongResultException e) {
        fail(title, e.getMessage());
      } catch (FfiException e) {
        fail(title, "refused: " + e.getMessage());
      } catch (DeviceException e) {
        fail(title, e.getMessage());
        broken = e.isSticky();
      }
      return !broken;
    }

    private void fail(String title, String reason) {
      wrong++;
      out.println("  WRONG  " + title + ": " + reason);
    }

    int report(double seconds) {
      right.forEach(
          (kernel, found) ->
              out.printf(
                  "  %-28s %9d values, the worst off by %.0f %% of what is allowed%n",
                  kernel, found.values(), 100 * found.worst()));
      if (broken) {
        out.println("The device is in error and can run nothing more; the rest was not checked.");
      }
      out.printf("%d of %d checks right (%.1f s)%n", checks - wrong, checks, seconds);
      return wrong == 0 ? ExitCode.OK : ExitCode.CASE_FAILED;
    }
  }
}
