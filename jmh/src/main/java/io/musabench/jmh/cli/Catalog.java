package io.musabench.jmh.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.VerboseMode;

/** All benchmarks that are compiled in, as JMH lists them. */
final class Catalog {
  private final List<Benchmark> benchmarks;

  Catalog(Collection<Benchmark> benchmarks) {
    this.benchmarks = benchmarks.stream().sorted(Comparator.comparing(Benchmark::name)).toList();
  }

  /** The benchmarks on the class path. */
  static Catalog load() {
    List<Benchmark> found = new ArrayList<>();
    var silent = OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT);
    for (BenchmarkListEntry entry : BenchmarkList.defaultList().getAll(silent, List.of())) {
      SortedMap<String, List<String>> parameters = new TreeMap<>();
      for (Map.Entry<String, String[]> e : entry.getParams().orElse(Map.of()).entrySet()) {
        parameters.put(e.getKey(), Arrays.asList(e.getValue()));
      }
      found.add(new Benchmark(entry.getUsername(), parameters));
    }
    return new Catalog(found);
  }

  /** All benchmarks, by name. */
  List<Benchmark> benchmarks() {
    return benchmarks;
  }

  /** The benchmark with this short name ({@code group.Class} or {@code Class}). */
  Benchmark get(String name) {
    return benchmarks.stream()
        .filter(b -> b.name().equals(name) || b.simpleName().equals(name))
        .findFirst()
        .orElseThrow(() -> unknown(name));
  }

  /**
   * The benchmarks whose short name contains a match of one of the expressions.
   *
   * @throws UsageException when an expression matches none, or is no regular expression
   */
  List<Benchmark> matching(List<String> expressions) {
    TreeSet<Benchmark> chosen = new TreeSet<>(Comparator.comparing(Benchmark::name));
    for (String expression : expressions) {
      Pattern pattern = pattern(expression);
      List<Benchmark> matches =
          benchmarks.stream().filter(b -> pattern.matcher(b.name()).find()).toList();
      if (matches.isEmpty()) {
        throw unknown(expression);
      }
      chosen.addAll(matches);
    }
    return List.copyOf(chosen);
  }

  static Pattern pattern(String expression) {
    try {
      return Pattern.compile(expression);
    } catch (PatternSyntaxException e) {
      throw new UsageException(
          "\"%s\" is not a regular expression: %s".formatted(expression, e.getDescription()));
    }
  }

  private UsageException unknown(String name) {
    boolean grouped = name.indexOf('.') >= 0;
    List<String> names =
        benchmarks.stream().map(grouped ? Benchmark::name : Benchmark::simpleName).toList();
    return new UsageException(
        Suggestions.unknown("benchmark", name, names) + " (`musabench list` shows all)");
  }
}
