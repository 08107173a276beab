package io.musabench.jmh.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Every parameter any benchmark has: what it means and which values it takes. */
final class ParameterTable {
  private final Map<String, Parameter> parameters = new LinkedHashMap<>();

  ParameterTable(List<Parameter> parameters) {
    parameters.forEach(p -> this.parameters.put(p.name(), p));
  }

  /** All parameters, in the order of the table. */
  Collection<Parameter> all() {
    return parameters.values();
  }

  Parameter get(String name) {
    Parameter parameter = parameters.get(name);
    if (parameter == null) {
      throw new UsageException(Suggestions.unknown("parameter", name, parameters.keySet()));
    }
    return parameter;
  }

  /**
   * Parses the arguments of {@code -p}, each {@code name=value,value…}.
   *
   * @throws UsageException when a name is unknown or a value malformed
   */
  Map<String, List<String>> parse(List<String> arguments) {
    Map<String, List<String>> values = new LinkedHashMap<>();
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      if (equals <= 0 || equals == argument.length() - 1) {
        throw new UsageException(
            "-p \"%s\": write name=value or name=value1,value2".formatted(argument));
      }
      Parameter parameter = get(argument.substring(0, equals));
      List<String> list = Arrays.asList(argument.substring(equals + 1).split(",", -1));
      list.forEach(parameter::check);
      values.computeIfAbsent(parameter.name(), n -> new ArrayList<>()).addAll(list);
    }
    return values;
  }

  /**
   * @throws UsageException when a given parameter belongs to none of the chosen benchmarks
   */
  void check(Map<String, List<String>> given, Collection<Benchmark> chosen) {
    TreeSet<String> known = new TreeSet<>();
    chosen.forEach(b -> known.addAll(b.parameters().keySet()));
    for (String name : given.keySet()) {
      if (!known.contains(name)) {
        String subject =
            chosen.size() == 1
                ? chosen.iterator().next().name() + " has"
                : "none of the chosen benchmarks has";
        throw new UsageException(
            "%s no parameter \"%s\"%s".formatted(subject, name, Suggestions.hint(name, known)));
      }
    }
  }
}
