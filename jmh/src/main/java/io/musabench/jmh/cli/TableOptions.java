package io.musabench.jmh.cli;

import io.musabench.results.audit.AuditOptions;
import io.musabench.results.model.Precision;
import picocli.CommandLine.Option;

/** What a table does not say of its load and model: options of every command that reads one. */
final class TableOptions {
  @Option(names = "--concurrency", paramLabel = "N", description = "requests in flight, a mean too")
  private Double concurrency;

  @Option(names = "--isl", paramLabel = "TOKENS", description = "tokens of a prompt")
  private Integer isl;

  @Option(names = "--osl", paramLabel = "TOKENS", description = "tokens of an answer")
  private Integer osl;

  @Option(names = "--model", paramLabel = "NAME|PATH", description = "model, or its config.json")
  private String model;

  @Option(names = "--tp", paramLabel = "N", description = "tensor-parallel ranks")
  private Integer tp;

  @Option(
      names = "--tolerance",
      paramLabel = "PERCENT",
      defaultValue = "10",
      description = "how far off the table's rates and latencies may be; 10 by default")
  private double tolerance;

  /** With what only an audit asks for; null is not given. */
  AuditOptions with(Double sloTtftMs, Double sloTpotMs, String device, Precision precision) {
    return new AuditOptions(
        model, tp, isl, osl, concurrency, sloTtftMs, sloTpotMs, device, precision, tolerance / 100);
  }
}
