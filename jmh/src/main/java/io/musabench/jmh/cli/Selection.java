package io.musabench.jmh.cli;

import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Works out which cases a command line asks for. */
final class Selection {
  private final Catalog catalog;
  private final ParameterTable table;

  Selection(Catalog catalog, ParameterTable table) {
    this.catalog = catalog;
    this.table = table;
  }

  /**
   * The cases and the effort for each.
   *
   * <p>With a suite name, the suite's cases whose benchmark matches. Without one, the default suite
   * when nothing is named, else the named benchmarks with their default parameter values. Values
   * given by {@code -p} replace those of every chosen case that has the parameter.
   *
   * @param suite a suite's name, or null
   * @param expressions regular expressions over benchmark names; empty for all
   * @param assignments arguments of {@code -p}
   * @throws UsageException for anything unknown, and when nothing is left to measure
   */
  Suite select(String suite, List<String> expressions, List<String> assignments) {
    Map<String, List<String>> values = table.parse(assignments);
    Suite source;
    if (suite == null && !expressions.isEmpty()) {
      Set<CaseSpec> cases = new LinkedHashSet<>();
      catalog.matching(expressions).forEach(b -> cases.addAll(CaseSpec.expand(b, Map.of())));
      source = new Suite(cases, Effort.DEFAULT);
    } else {
      source = Suite.load(suite == null ? "default" : suite, catalog, table);
      source = new Suite(matching(source, expressions), source.effort());
    }
    if (source.cases().isEmpty()) {
      throw new UsageException(
          "nothing to measure: no case of suite %s matches %s"
              .formatted(suite, String.join(", ", expressions)));
    }
    List<Benchmark> chosen = source.cases().stream().map(CaseSpec::benchmark).distinct().toList();
    table.check(values, chosen);
    Set<CaseSpec> cases = new LinkedHashSet<>();
    source.cases().forEach(spec -> cases.addAll(spec.override(values)));
    return new Suite(roofsFirst(cases), source.effort());
  }

  /** The cases with those that measure a roof first and otherwise in their order. */
  static Set<CaseSpec> roofsFirst(Set<CaseSpec> cases) {
    Set<CaseSpec> sorted = new LinkedHashSet<>();
    cases.stream()
        .sorted(Comparator.comparing(spec -> !spec.benchmark().group().equals(Suite.ROOF_GROUP)))
        .forEach(sorted::add);
    return sorted;
  }

  private Set<CaseSpec> matching(Suite suite, List<String> expressions) {
    if (expressions.isEmpty()) {
      return suite.cases();
    }
    catalog.matching(expressions); // An expression that names nothing at all is a mistake.
    List<Pattern> patterns = expressions.stream().map(Catalog::pattern).toList();
    Set<CaseSpec> cases = new LinkedHashSet<>();
    for (CaseSpec spec : suite.cases()) {
      if (patterns.stream().anyMatch(p -> p.matcher(spec.benchmark().name()).find())) {
        cases.add(spec);
      }
    }
    return cases;
  }
}
