package io.musabench.jmh.cli;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.tpot.answers.PredictionReport;
import io.musabench.results.tpot.answers.Setup;
import io.musabench.results.tpot.answers.Sweep;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code musabench tpot}: predicts, and holds the other questions. */
@Command(
    name = "tpot",
    mixinStandardHelpOptions = true,
    description =
        "Predicts from kernel times what the user of a service feels: TPOT with its interval, TTFT"
            + " from staggered to burst arrivals, throughput, what binds, and the operations of a"
            + " step. Closed loop of --concurrency requests; several with commas or as a"
            + " sweep. The subcommands"
            + " answer other questions.",
    subcommands = {
      TpotStepCommand.class,
      TpotValidateCommand.class,
      TpotCheckCommand.class,
      TpotSensitivityCommand.class,
      TpotAttributeCommand.class,
      TpotGraphGainCommand.class,
      TpotWhatIfCommand.class,
      TpotIdentifyCommand.class,
      TpotSchemaCommand.class
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:answered",
      "64:usage: unknown option, name or value, or a file that cannot be used",
      "70:an error inside musabench",
      "74:what is printed cannot be written"
    })
final class TpotCommand extends Answer {
  @Mixin private TpotOptions options;

  @Mixin private TpotOptions.Loads loads;

  @Option(
      names = "--concurrency",
      paramLabel = "N|SWEEP",
      split = ",",
      defaultValue = "1",
      description = "requests in flight, sweeps too as 1..64, 8..64+8, 1..256*2; 1 by default")
  private List<String> concurrency;

  @Option(
      names = "--batch",
      paramLabel = "SPEC|N",
      split = ",",
      description =
          "predicts these steps too: batch specs such as 64q1s4k, or numbers of decodes at the"
              + " mean context")
  private List<String> batches = List.of();

  @Option(
      names = "--decomposition",
      description =
          "the operations of every prediction in JSON; by default left out of more than "
              + PredictionReport.MANY)
  private boolean decomposition;

  @Override
  String answer(boolean json) {
    Setup setup = Setup.open(options.request());
    List<BatchSpec> steps = new ArrayList<>();
    batches.forEach(b -> steps.add(Setup.batch(b, loads.isl + loads.osl / 2)));
    PredictionReport report = new PredictionReport(setup, loads.of(Sweep.of(concurrency)), steps);
    return json ? report.json(decomposition) : report.text();
  }
}
