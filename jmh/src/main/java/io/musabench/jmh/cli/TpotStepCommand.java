package io.musabench.jmh.cli;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.tpot.answers.PredictionReport;
import io.musabench.results.tpot.answers.Setup;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code musabench tpot step}. */
@Command(
    name = "step",
    mixinStandardHelpOptions = true,
    description =
        "Predicts single steps, as DecodeStep and PrefillStep measure them, from kernel times.")
final class TpotStepCommand extends Answer {
  @Mixin private TpotOptions options;

  @Option(
      names = "--batch",
      paramLabel = "SPEC",
      split = ",",
      required = true,
      description = "batch specs such as 8q1s1k or q128; several with commas")
  private List<String> batches;

  @Override
  String answer(boolean json) {
    Setup setup = Setup.open(options.request());
    List<BatchSpec> steps = batches.stream().map(BatchSpec::parse).toList();
    PredictionReport report = new PredictionReport(setup, List.of(), steps);
    return json ? report.json() : report.text();
  }
}
