package io.musabench.jmh.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code musabench run}: measures cases and writes a run directory. */
@Command(
    name = "run",
    mixinStandardHelpOptions = true,
    description = {
      "Measures cases, each in its own JVM, and writes a run directory.",
      "",
      "With neither REGEX nor --suite it runs the default suite. With REGEX alone it runs the"
          + " matching benchmarks with their default parameter values; with --suite, the matching"
          + " cases of that suite.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  musabench run",
      "  musabench run PagedDecode -p batch=8q1s4k,64q1s4k -p page=16",
      "  musabench run --suite smoke --label commit=abc123"
    })
final class RunCommand implements Callable<Integer> {
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

  @Option(names = "--forks", paramLabel = "N", description = "fresh JVMs a case")
  private Integer forks;

  @Option(names = "--iterations", paramLabel = "N", description = "sampling sessions a fork")
  private Integer iterations;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "time of one sampling session; the least number of samples is always taken")
  private Double seconds;

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

  @Option(
      names = "--no-roofs",
      description = "do not measure the roofs first; then there is no %% of roof")
  private boolean noRoofs;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    Catalog catalog = Catalog.load();
    ParameterTable table = BenchmarkParameters.table();
    if (timeLimit < 1) {
      throw new UsageException("--time-limit must be at least 1");
    }
    if (output.toString().isEmpty()) {
      throw new UsageException("--output is empty; name a folder");
    }
    Suite chosen = new Selection(catalog, table).select(suite, expressions, assignments);
    Effort effort =
        new Effort(
            forks == null ? chosen.effort().forks() : forks,
            iterations == null ? chosen.effort().iterations() : iterations,
            seconds == null ? chosen.effort().seconds() : seconds);
    Set<CaseSpec> cases = new LinkedHashSet<>();
    if (!noRoofs) {
      cases.addAll(Suite.load(Suite.ROOFS, catalog, table).cases());
    }
    cases.addAll(chosen.cases());
    cases.forEach(CaseCheck::check);
    return new SuiteRunner(out, output, labels, Duration.ofSeconds(timeLimit), effort).run(cases);
  }
}
