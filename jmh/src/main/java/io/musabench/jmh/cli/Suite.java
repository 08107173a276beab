package io.musabench.jmh.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A named list of cases with the effort to spend on each.
 *
 * <p>A suite is a text resource. An empty line or one that starts with {@code #} says nothing; a
 * line {@code set name=value …} sets the effort; any other line names a benchmark and, as on the
 * command line, {@code -p name=value,…} for some of its parameters.
 *
 * @param cases what to measure, in order, without duplicates
 * @param effort how long
 */
record Suite(Set<CaseSpec> cases, Effort effort) {
  /** The suites that are compiled in; {@code all} is every benchmark with its default values. */
  static final List<String> NAMES = List.of("default", "smoke", "mate", "all");

  /** Measured before everything else, because every "% of roof" refers to them. */
  static final String ROOFS = "roofs";

  /** The group of benchmarks that these are. */
  static final String ROOF_GROUP = "roof";

  /** What {@code musabench selftest} checks. */
  static final String SELFTEST = "selftest";

  static Suite load(String name, Catalog catalog, ParameterTable table) {
    if (name.equals("all")) {
      Set<CaseSpec> cases = new LinkedHashSet<>();
      catalog.benchmarks().forEach(b -> cases.addAll(CaseSpec.expand(b, Map.of())));
      return new Suite(cases, Effort.DEFAULT);
    }
    if (!NAMES.contains(name) && !List.of(ROOFS, SELFTEST).contains(name)) {
      throw new UsageException(Suggestions.unknown("suite", name, NAMES));
    }
    String resource = "suites/" + name + ".txt";
    try (InputStream in = Suite.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException("the suite file " + resource + " is not in the jar");
      }
      var reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
      return parse(resource, reader.lines().toList(), catalog, table);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Suite parse(String file, List<String> lines, Catalog catalog, ParameterTable table) {
    Set<CaseSpec> cases = new LinkedHashSet<>();
    Effort effort = Effort.DEFAULT;
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      try {
        String[] words = line.split("\\s+");
        if (words[0].equals("set")) {
          effort = effort.with(List.of(words).subList(1, words.length));
          continue;
        }
        Benchmark benchmark = catalog.get(words[0]);
        Map<String, List<String>> values = new LinkedHashMap<>();
        for (int w = 1; w < words.length; w += 2) {
          if (!words[w].equals("-p") || w + 1 == words.length) {
            throw new UsageException("after the name, only \"-p name=value,…\" may stand");
          }
          values.putAll(table.parse(List.of(words[w + 1])));
        }
        table.check(values, List.of(benchmark));
        cases.addAll(CaseSpec.expand(benchmark, values));
      } catch (UsageException e) {
        throw new UsageException("%s:%d: %s".formatted(file, i + 1, e.getMessage()));
      }
    }
    return new Suite(cases, effort);
  }

  /** The suite's names joined for a help text. */
  static String names() {
    return NAMES.stream().collect(Collectors.joining("|"));
  }
}
