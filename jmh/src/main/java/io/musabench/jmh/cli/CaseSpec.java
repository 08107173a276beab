package io.musabench.jmh.cli;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * One thing to measure: a benchmark with one value for each of its parameters.
 *
 * @param benchmark what to run
 * @param parameters a value for every parameter of the benchmark
 */
record CaseSpec(Benchmark benchmark, SortedMap<String, String> parameters) {

  private static final Set<String> TOLD =
      Set.of("batch", "heads", "mode", "nodes", "projection", "streams", "tokens");

  /** All combinations of the given values; a parameter that is not given takes its defaults. */
  static Set<CaseSpec> expand(Benchmark benchmark, Map<String, List<String>> given) {
    List<SortedMap<String, String>> combinations = new ArrayList<>();
    combinations.add(new TreeMap<>());
    for (Map.Entry<String, List<String>> parameter : benchmark.parameters().entrySet()) {
      List<String> values = given.getOrDefault(parameter.getKey(), parameter.getValue());
      List<SortedMap<String, String>> next = new ArrayList<>();
      for (SortedMap<String, String> combination : combinations) {
        for (String value : values) {
          SortedMap<String, String> extended = new TreeMap<>(combination);
          extended.put(parameter.getKey(), value);
          next.add(extended);
        }
      }
      combinations = next;
    }
    Set<CaseSpec> cases = new LinkedHashSet<>();
    for (SortedMap<String, String> combination : combinations) {
      cases.add(new CaseSpec(benchmark, combination));
    }
    return cases;
  }

  /** This case with some parameters set to other values: one case for each combination. */
  Set<CaseSpec> override(Map<String, List<String>> given) {
    Map<String, List<String>> values = new TreeMap<>();
    parameters.forEach((name, value) -> values.put(name, List.of(value)));
    given.forEach((name, list) -> values.computeIfPresent(name, (n, old) -> list));
    return expand(benchmark, values);
  }

  /** Name, the parameters that say what is measured, and others that have no default value. */
  String title() {
    String told =
        parameters.entrySet().stream()
            .filter(e -> TOLD.contains(e.getKey()) || !isDefault(e.getKey(), e.getValue()))
            .map(e -> e.getKey() + "=" + e.getValue())
            .collect(Collectors.joining(" "));
    return told.isEmpty() ? benchmark.name() : benchmark.name() + " " + told;
  }

  private boolean isDefault(String parameter, String value) {
    return benchmark.parameters().get(parameter).equals(List.of(value));
  }

  /** Arguments of {@code musabench run} that measure this case again. */
  String arguments() {
    String values =
        parameters.entrySet().stream()
            .map(e -> " -p " + quoted(e.getKey() + "=" + e.getValue()))
            .collect(Collectors.joining());
    return "'^" + benchmark.name().replace(".", "\\.") + "$'" + values;
  }

  /** A word as a shell reads it. */
  private static String quoted(String word) {
    return word.matches("[\\w./:=,+@%-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
