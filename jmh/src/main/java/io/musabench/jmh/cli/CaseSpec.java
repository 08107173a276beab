package io.musabench.jmh.cli;

import io.musabench.jmh.device.Libraries;
import io.musabench.jmh.device.OmittedParameters;
import io.musabench.results.CommandLine;
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

  /**
   * The cases that this one stands for on a machine: where its library is {@code auto}, one with
   * the portable kernels and one with each further library that has the benchmark's kernels here;
   * of steps only the last of them, because that is what an engine there runs. Parameters that the
   * portable kernels do not have are reset for them.
   *
   * @param present libraries that are on the machine, apart from the portable one
   */
  Set<CaseSpec> resolve(Set<String> present) {
    String library = parameters.get(Libraries.PARAMETER);
    if (library == null) {
      return Set.of(this);
    }
    if (!library.equals(Libraries.AUTO)) {
      return Set.of(with(library));
    }
    String other = benchmark.group().equals("gemm") ? Libraries.BLAS : Libraries.MATE;
    Set<CaseSpec> cases = new LinkedHashSet<>();
    if (!present.contains(other) || !benchmark.group().equals("step")) {
      cases.add(with(Libraries.PORTABLE));
    }
    if (present.contains(other)) {
      cases.add(with(other));
    }
    return cases;
  }

  private CaseSpec with(String library) {
    SortedMap<String, String> changed = new TreeMap<>(parameters);
    if (library.equals(Libraries.PORTABLE)) {
      changed.replaceAll(
          (name, value) -> {
            String usual = OmittedParameters.usual(name);
            return usual == null || name.equals("gemm") ? value : usual;
          });
    }
    changed.put(Libraries.PARAMETER, library);
    return new CaseSpec(benchmark, changed);
  }

  /** The parameters that its name has. */
  SortedMap<String, String> named() {
    return OmittedParameters.named(parameters);
  }

  /** Name, the parameters that say what is measured, and others that have no default value. */
  String title() {
    String told =
        named().entrySet().stream()
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
            .filter(
                e ->
                    e.getKey().equals(Libraries.PARAMETER)
                        || !OmittedParameters.omits(e.getKey(), e.getValue()))
            .map(e -> " -p " + CommandLine.quoted(e.getKey() + "=" + e.getValue()))
            .collect(Collectors.joining());
    return "'^" + benchmark.name().replace(".", "\\.") + "$'" + values;
  }
}
