package io.musabench.jmh.cli;

import io.musabench.jmh.device.DeviceContext;
import io.musabench.jmh.device.KernelBenchmark;
import io.musabench.jmh.device.UnavailableException;
import java.util.List;

/**
 * Holds cases against their reference, all in one process, and prints a line for each: what a
 * measurement does before it times anything, without the processes that it takes.
 */
final class CheckedCases {
  private CheckedCases() {}

  /**
   * @param arguments in each a benchmark and values of its parameters, separated by blanks
   */
  public static void main(String[] arguments) {
    Selection selection = new Selection(Catalog.load(), BenchmarkParameters.table());
    for (String argument : arguments) {
      List<String> words = List.of(argument.split(" "));
      Suite suite = selection.select(null, words.subList(0, 1), words.subList(1, words.size()));
      suite.cases().forEach(spec -> System.out.println(spec.title() + ": " + check(spec)));
    }
    System.exit(0);
  }

  private static String check(CaseSpec spec) {
    CaseCheck.check(spec);
    try (DeviceContext device = DeviceContext.open()) {
      return ((KernelBenchmark) CaseCheck.benchmark(spec)).check(device).values() > 0
          ? "right"
          : "nothing was compared";
    } catch (UnavailableException e) {
      return "unavailable, " + e.getMessage();
    }
  }
}
