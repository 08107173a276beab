package io.musabench.jmh.cli;

import io.musabench.results.tpot.answers.Sweep;
import java.util.List;
import picocli.CommandLine.Option;

/** The requests in flight that an answer is given for, one after the other. */
final class SweepOption {
  @Option(
      names = {"--concurrency", "--batch"},
      paramLabel = "N|SWEEP",
      split = ",",
      defaultValue = "1,8,32,128",
      description =
          "requests in flight, sweeps too as 1..64, 8..64+8, 1..256*2; ${DEFAULT-VALUE} by default")
  private List<String> concurrency;

  /**
   * The numbers.
   *
   * @throws IllegalArgumentException that shows right forms
   */
  List<Integer> values() {
    return Sweep.of(concurrency);
  }
}
