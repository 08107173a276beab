package io.musabench.jmh.cli;

import io.musabench.results.tpot.answers.Sensitivity;
import io.musabench.results.tpot.answers.Setup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code musabench tpot sensitivity}. */
@Command(
    name = "sensitivity",
    mixinStandardHelpOptions = true,
    description =
        "What a kernel that is 10 %% slower does to TPOT and throughput, by batch. Nothing where the"
            + " host binds, and it says so. Each number has its interval, changes with the same errors of"
            + " kernel times before and after.")
final class TpotSensitivityCommand extends Answer {
  @Mixin private TpotOptions options;

  @Mixin private TpotOptions.Loads loads;

  @Mixin private SweepOption sweep;

  @Option(
      names = "--change",
      paramLabel = "PERCENT",
      defaultValue = "10",
      description = "by how much a kernel gets slower (below 0: faster); 10 by default")
  private double change;

  @Override
  String answer(boolean json) {
    Setup setup = Setup.open(options.request());
    Sensitivity s = new Sensitivity(setup, loads.of(sweep.values()), change / 100);
    return json ? s.json() : s.text();
  }
}
