package io.musabench.jmh.cli;

import io.musabench.bindings.Target;
import io.musabench.results.report.CardsReport;
import io.musabench.results.run.RunData;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Measures several devices of one machine, each by itself and one after the other: cards that work
 * at once share power, cooling and the bus, and would be compared by that.
 */
final class CardsRunner {
  private final Campaign campaign;
  private final boolean together;

  /**
   * @param together whether a card's cases are measured side by side, in turns
   */
  CardsRunner(Campaign campaign, boolean together) {
    this.campaign = campaign;
    this.together = together;
  }

  /**
   * @param devices {@code all}, or numbers separated by commas
   * @return the first exit code that is not 0, else 0
   */
  int run(String devices, Set<CaseSpec> cases) {
    List<RunData> runs = new ArrayList<>();
    int exitCode = ExitCode.OK;
    for (int device : numbers(devices, DeviceProbe.run(on(0)).devices())) {
      campaign.say("Card    " + device);
      SuiteRunner.Finished finished = new SuiteRunner(campaign, on(device), together).run(cases);
      exitCode = exitCode == ExitCode.OK ? finished.exitCode() : exitCode;
      runs.add(finished.data());
    }
    campaign.out().println();
    campaign.out().print(new CardsReport(runs).text());
    campaign.out().flush();
    campaign.say(
        "Cards   beside each other in one page: scripts/musabench report "
            + runs.stream()
                .map(run -> campaign.runs().resolve(run.name()).toString())
                .collect(Collectors.joining(" ")));
    return exitCode;
  }

  private static Setting on(int device) {
    String property = "-D" + Target.DEVICE_PROPERTY + "=" + device;
    return new Setting(List.of(property), Map.of(), "device " + device, 0);
  }

  /** Which devices are meant, of so many. */
  static Set<Integer> numbers(String text, int count) {
    Set<Integer> numbers = new LinkedHashSet<>();
    if (text.equals("all")) {
      for (int device = 0; device < count; device++) {
        numbers.add(device);
      }
      return numbers;
    }
    for (String part : text.split(",", -1)) {
      if (!part.matches("\\d{1,4}") || Integer.parseInt(part) >= count) {
        throw new UsageException(
            "--devices: \"%s\" is no device; it takes all, or numbers from 0 to %d separated by commas"
                .formatted(part, count - 1));
      }
      numbers.add(Integer.parseInt(part));
    }
    return numbers;
  }
}
