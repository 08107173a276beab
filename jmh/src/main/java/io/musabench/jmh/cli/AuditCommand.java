package io.musabench.jmh.cli;

import io.musabench.results.audit.AuditOptions;
import io.musabench.results.audit.AuditReport;
import io.musabench.results.audit.EndToEndTable;
import io.musabench.results.audit.TableAudit;
import io.musabench.results.model.Precision;
import io.musabench.results.serving.Slo;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code musabench audit}. */
@Command(
    name = "audit",
    mixinStandardHelpOptions = true,
    description =
        "Tells for each row of an end-to-end table whether its numbers can all be true: Little's"
            + " law, order of percentiles, TPOT and ITL, goodput against the percentiles, TPOT"
            + " against the roofs of the device, units; and the smallest edit that would make it"
            + " so. Columns such as config, ttft_p50_ms, ttft_p99_ms, tpot_ms, itl_p99_ms,"
            + " throughput_req_s, goodput_req_s, model, tp, isl, osl, concurrency; a check without"
            + " its columns is skipped and says so. A table that says nothing of its load is taken"
            + " to be of the course's test bed.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:audited",
      "1:--strict, and a row is not consistent",
      "64:usage: no such table, unknown option, name or value",
      "70:an error inside musabench",
      "74:what is printed cannot be written"
    })
final class AuditCommand implements Callable<Integer> {
  private static final int NOT_CONSISTENT = 1;

  @Parameters(
      paramLabel = "FILE.csv",
      description =
          "the table; a result file of a serving benchmark, or a folder of them, is read too")
  private Path file;

  @Mixin private TableOptions table;

  @Option(names = "--precision", paramLabel = "TYPE", description = TpotOptions.PRECISIONS)
  private String precision;

  @Option(names = "--device", paramLabel = "NAME|PATH", description = "device, or its data sheet")
  private String device;

  @Option(
      names = "--slo-ttft",
      paramLabel = "TIME",
      description = "limit on TTFT behind the goodput, in ms, or with its unit as in 1s")
  private String sloTtft;

  @Option(
      names = "--slo-tpot",
      paramLabel = "TIME",
      description = "limit on TPOT behind the goodput, in ms, or with its unit")
  private String sloTpot;

  @Option(names = "--json", description = "prints JSON; tpot schema audit tells its fields")
  private boolean json;

  @Option(names = "--strict", description = "exit code 1 if a row is not consistent")
  private boolean strict;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    TableAudit audit;
    try {
      AuditOptions options =
          table.with(
              sloTtft == null ? null : Slo.milliseconds(sloTtft),
              sloTpot == null ? null : Slo.milliseconds(sloTpot),
              device,
              precision == null ? null : Precision.ofServer(precision));
      audit = TableAudit.of(EndToEndTable.open(file), options);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage());
    }
    AuditReport report = new AuditReport(audit);
    PrintWriter out = spec.commandLine().getOut();
    out.print(json ? report.json() : report.text());
    out.flush();
    return strict && !audit.consistent() ? NOT_CONSISTENT : ExitCode.OK;
  }
}
