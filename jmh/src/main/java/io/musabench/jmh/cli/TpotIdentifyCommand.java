package io.musabench.jmh.cli;

import io.musabench.results.audit.AuditOptions;
import io.musabench.results.audit.EndToEndTable;
import io.musabench.results.tpot.answers.Identification;
import io.musabench.results.tpot.answers.Identification.Range;
import io.musabench.results.tpot.answers.IdentificationReport;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code musabench tpot identify}. */
@Command(
    name = "identify",
    mixinStandardHelpOptions = true,
    description =
        "From an end-to-end table alone: the interval of each parameter that nobody measured"
            + " (launch cost a kernel, interference of prefills, requests in flight), and the"
            + " experiment that would narrow them most. Reads what `musabench audit` reads.")
final class TpotIdentifyCommand extends Answer {
  private static final Pattern COUNT = Pattern.compile("(\\d{1,7})(?:-(\\d{1,7}))?");

  @Parameters(
      paramLabel = "FILE",
      description = "CSV table; a result file of a serving benchmark, or a folder of them, too")
  private Path file;

  @Mixin private TableOptions table;

  @Option(
      names = "--kernels-per-step",
      paramLabel = "N|LOW-HIGH",
      description = "kernels of a decode step; derived from the model by default")
  private String kernels;

  @Override
  String answer(boolean json) {
    AuditOptions options = table.with(null, null, null, null);
    IdentificationReport report =
        new IdentificationReport(
            file.toString(), Identification.of(EndToEndTable.open(file), options, kernelCount()));
    return json ? report.json() : report.text();
  }

  private Range kernelCount() {
    if (kernels == null) {
      return null;
    }
    Matcher m = COUNT.matcher(kernels);
    if (m.matches()) {
      int low = Integer.parseInt(m.group(1));
      int high = m.group(2) == null ? low : Integer.parseInt(m.group(2));
      if (low >= 1 && high >= low) {
        return new Range(low, high);
      }
    }
    throw new IllegalArgumentException(
        "--kernels-per-step takes a number or a range such as 900-1040, not \"" + kernels + "\"");
  }
}
