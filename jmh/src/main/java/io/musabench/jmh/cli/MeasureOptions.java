package io.musabench.jmh.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Which cases to measure, for how long, and where the results go: of every command that measures.
 */
final class MeasureOptions {
  private static final String RANDOM = "random";
  private static final List<String> ORDERS = List.of("as-listed", RANDOM);
  private static final long MOST_SEED = 1_000_000;
  private static final int MOST_COOL_DOWN_SECONDS = 3600;

  @Parameters(
      paramLabel = "REGEX",
      arity = "0..*",
      description = "benchmarks whose name (group.Class) contains a match")
  private List<String> expressions = List.of();

  @Option(
      names = "--suite",
      paramLabel = "NAME",
      description = "default, smoke, mate or all (every benchmark with its default values)")
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
      names = "--cool-down",
      paramLabel = "S",
      defaultValue = "0",
      description = "pause before every fork, in seconds (default ${DEFAULT-VALUE})")
  private double coolDown;

  @Option(
      names = "--order",
      paramLabel = "ORDER",
      defaultValue = "as-listed",
      description = "of the cases: as-listed or random, roofs first (default ${DEFAULT-VALUE})")
  private String order;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "seed of --order=random (default: another one each time; it is recorded)")
  private Long seed;

  @Option(
      names = "--clock-mode",
      paramLabel = "MODE",
      description =
          "how you have set the device's clock: fixed-frequency, fixed-power or free; recorded, and"
              + " runs of different modes are not compared")
  private String clockMode;

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
    return ordered(chosen);
  }

  private Suite ordered(Suite chosen) {
    if (!ORDERS.contains(order)) {
      throw new UsageException(Suggestions.unknown("order", order, ORDERS));
    }
    if (order.equals(RANDOM) && seed == null) {
      seed = Math.abs(System.nanoTime()) % MOST_SEED;
    } else if (!order.equals(RANDOM) && seed != null) {
      throw new UsageException("--seed is for --order=random");
    }
    if (seed == null) {
      return chosen;
    }
    List<CaseSpec> cases = new ArrayList<>(chosen.cases());
    Collections.shuffle(cases, new Random(seed));
    return new Suite(new LinkedHashSet<>(cases), chosen.effort());
  }

  private Campaign.Pace pace() {
    if (!(coolDown >= 0 && coolDown <= MOST_COOL_DOWN_SECONDS)) {
      throw new UsageException("--cool-down must be from 0 to " + MOST_COOL_DOWN_SECONDS);
    }
    return new Campaign.Pace(
        Duration.ofMillis((long) (1000 * coolDown)),
        seed,
        clockMode == null ? null : ClockMode.parse(clockMode));
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
    if (effort.iterations() * effort.seconds() >= timeLimit) {
      throw new UsageException(
          "%d sessions of at least %s s do not fit into --time-limit, %d s"
              .formatted(effort.iterations(), effort.seconds(), timeLimit));
    }
    return new Campaign(out, output, labels, Duration.ofSeconds(timeLimit), effort, pace());
  }
}
