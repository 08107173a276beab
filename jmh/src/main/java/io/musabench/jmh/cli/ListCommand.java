package io.musabench.jmh.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code musabench list}. */
@Command(
    name = "list",
    mixinStandardHelpOptions = true,
    description = "Lists benchmarks with their parameters, models and suites.")
final class ListCommand implements Runnable {
  @Parameters(
      paramLabel = "REGEX",
      arity = "0..*",
      description = "only benchmarks whose name (group.Class) contains a match")
  private List<String> expressions = List.of();

  @Spec private CommandSpec spec;

  @Override
  public void run() {
    PrintWriter out = spec.commandLine().getOut();
    Catalog catalog = Catalog.load();
    ParameterTable table = BenchmarkParameters.table();
    List<Benchmark> chosen =
        expressions.isEmpty() ? catalog.benchmarks() : catalog.matching(expressions);

    out.println("Benchmarks");
    TreeSet<String> used = new TreeSet<>();
    for (Benchmark benchmark : chosen) {
      out.println("  " + benchmark.name());
      for (Map.Entry<String, List<String>> p : benchmark.parameters().entrySet()) {
        out.printf("      %-13s %s%n", p.getKey(), String.join(", ", p.getValue()));
        used.add(p.getKey());
      }
    }
    out.println();
    out.println("Parameters (-p name=value,value…)");
    for (Parameter parameter : table.all()) {
      if (used.contains(parameter.name())) {
        out.printf("  %-13s %s%n", parameter.name(), parameter.description());
      }
    }
    if (!expressions.isEmpty()) {
      return;
    }
    out.println();
    out.println("Models");
    BenchmarkParameters.models().forEach(model -> out.println("  " + model));
    out.println();
    out.println("Suites (--suite)");
    for (String name : Suite.NAMES) {
      Suite suite = Suite.load(name, catalog, table);
      out.printf("  %-13s %d cases%n", name, suite.cases().size());
    }
  }
}
