package io.musabench.jmh.cli;

import io.musabench.results.tpot.answers.Setup;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code musabench tpot validate}. */
@Command(
    name = "validate",
    mixinStandardHelpOptions = true,
    description =
        "Predictions beside what a service was measured to do: mean error, bias, 90 %% quantile and"
            + " worst rows, beside two simpler predictions, and host costs estimated on one number"
            + " of ranks and tried on the others. The table has the columns tp, isl, osl,"
            + " concurrency, tpot_ms and, if known, model, ttft_ms and precision; --model takes the"
            + " place of a model column, and --tp is not used. Rows that are too fast for bf16 are"
            + " taken in fp8 and listed, unless they or --precision say otherwise.")
final class TpotValidateCommand extends Answer {
  @Mixin private TpotOptions options;

  @Option(
      names = "--measured",
      paramLabel = "FILE.csv",
      required = true,
      description = "what was measured")
  private Path measured;

  @Override
  String answer(boolean json) {
    var report = Setup.validate(options.request(), measured);
    return json ? report.json() : report.text();
  }
}
