package io.musabench.results.report;

import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Conditions;
import io.musabench.results.run.RunData;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;

/** What may have disturbed a run, a line each; cases.csv has by case what the cases saw of it. */
public final class Disturbances {
  // A locked clock does not move; management libraries round it to some megahertz.
  private static final double FIXED_CLOCK_SPREAD = 0.02;

  private Disturbances() {}

  /**
   * Whether it was stopped, what was seen before it, and what happened while its cases were
   * measured.
   */
  public static List<String> of(RunData run) {
    List<String> all = new ArrayList<>();
    if (!run.partial().isEmpty()) {
      all.add(run.partial());
    }
    all.addAll(run.environment().warnings());
    all.addAll(during(run));
    return all;
  }

  private static List<String> during(RunData run) {
    List<CaseResult> cases = run.cases().stream().filter(CaseResult::ok).toList();
    List<Conditions> disturbed =
        cases.stream().map(CaseResult::conditions).filter(Conditions::disturbed).toList();
    List<String> lines = new ArrayList<>();
    if (!disturbed.isEmpty()) {
      Set<String> processes = new TreeSet<>();
      disturbed.stream()
          .map(Conditions::otherProcesses)
          .filter(p -> !p.isEmpty())
          .forEach(processes::add);
      lines.add(
          String.format(
              Locale.ROOT,
              "other work during %d of %d cases: up to %.0f %% of the CPUs, %.0f %% stolen%s"
                  + " (other_cpu_percent, steal_percent in cases.csv)",
              disturbed.size(),
              cases.size(),
              most(disturbed, Conditions::otherCpuPercent),
              most(disturbed, Conditions::stealPercent),
              processes.isEmpty() ? "" : ", on the device " + String.join(", ", processes)));
    }
    int dropped = cases.stream().mapToInt(c -> c.conditions().throttledSamples()).sum();
    if (dropped > 0) {
      lines.add(dropped + " samples were dropped because the clock was throttled");
    }
    String mode = run.environment().clocks() == null ? null : run.environment().clocks().mode();
    double[] clocks =
        cases.stream()
            .mapToDouble(c -> c.conditions().coreClockMhz())
            .filter(Double::isFinite)
            .sorted()
            .toArray();
    if ("fixed-frequency".equals(mode)
        && clocks.length > 1
        && clocks[clocks.length - 1] > (1 + FIXED_CLOCK_SPREAD) * clocks[0]) {
      lines.add(
          String.format(
              Locale.ROOT,
              "the clock is said to be fixed, but was between %.0f and %.0f MHz",
              clocks[0],
              clocks[clocks.length - 1]));
    }
    return lines;
  }

  private static double most(List<Conditions> all, ToDoubleFunction<Conditions> value) {
    return all.stream().mapToDouble(value).filter(Double::isFinite).max().orElse(0);
  }
}
