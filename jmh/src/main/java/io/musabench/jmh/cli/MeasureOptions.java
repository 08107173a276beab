package io.musabench.jmh.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Which cases to measure, for how long, and where the results go: of every command that measures.
 */
final class MeasureOptions {
  @Parameters(
      paramLabel = "REGEX",
      arity = "0..*",
      description = "benchmarks whose name (group.Class) contains a match")
  private List<String> expressions = List.of();

  @Option(
      names = "--suite",
      paramLabel = "NAME",
      description = "default, smoke or all (every benchmark with its default values)")
  private String suite;

  @Option(
      names = "-p",
      paramLabel = "name=value,…",
      description = "value or values of a parameter; may be repeated")
  private List<String> assignments = List.of();

  @Option(names = "--iterations", paramLabel = "N", description = "sampling sessions a fork")
  private Integer iterations;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "least time of one sampling session (suite default: 0.2)")
  private Double seconds;

  @Option(
      names = "--ceiling",
      paramLabel = "S",
      description = "most time of one sampling session (default: 8 times --seconds)")
  private Double ceiling;

  @Option(
      names = "--stop",
      paramLabel = "CRITERION",
      description =
          "when a session has enough samples: stdrel:0.5%% (relative standard error), entropy,"
              + " samples:N, or one of your own (default: stdrel:1%%); an unmet one is named in the"
              + " results")
  private String stop;

  @Option(
      names = "--time-limit",
      paramLabel = "S",
      defaultValue = "300",
      description = "kill a fork after so many seconds (default ${DEFAULT-VALUE})")
  private int timeLimit;

  @Option(
      names = "--output",
      paramLabel = "DIR",
      description = "where run directories are made (default: results/runs of the checkout)")
  private Path output = Checkout.folder().resolve("results/runs");

  @Option(
      names = "--label",
      paramLabel = "KEY=VALUE",
      description = "recorded in the run's environment; may be repeated")
  private Map<String, String> labels = new LinkedHashMap<>();

  /** The chosen cases, all of them possible. */
  Suite select(Catalog catalog, ParameterTable table) {
    if (timeLimit < 1) {
      throw new UsageException("--time-limit must be at least 1");
    }
    if (output.toString().isEmpty()) {
      throw new UsageException("--output is empty; name a folder");
    }
    Suite chosen = new Selection(catalog, table).select(suite, expressions, assignments);
    chosen.cases().forEach(CaseCheck::check);
    return chosen;
  }

  /**
   * How and where to measure the cases of a suite.
   *
   * @param out where progress goes
   * @param forks forks of each case; null for the suite's
   */
  Campaign campaign(PrintWriter out, Suite chosen, Integer forks) {
    Effort effort = chosen.effort();
    effort = forks == null ? effort : effort.withForks(forks);
    effort = iterations == null ? effort : effort.withIterations(iterations);
    effort = seconds == null ? effort : effort.withSeconds(seconds);
    effort = ceiling == null ? effort : effort.withCeiling(ceiling);
    effort = stop == null ? effort : effort.withStop(stop);
    return new Campaign(out, output, labels, Duration.ofSeconds(timeLimit), effort);
  }
}
