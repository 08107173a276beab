package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The benchmarks, the parameter table and the suite files fit together. */
class CatalogTest {
  private static final Catalog CATALOG = Catalog.load();
  private static final ParameterTable TABLE = BenchmarkParameters.table();

  @Test
  void shouldDocumentEveryParameterAndAcceptItsDefaults() {
    for (Benchmark benchmark : CATALOG.benchmarks()) {
      benchmark
          .parameters()
          .forEach((name, values) -> values.forEach(value -> TABLE.get(name).check(value)));
    }
  }

  @Test
  void shouldUseEveryParameterOfTheTable() {
    assertThat(CATALOG.benchmarks().stream().flatMap(b -> b.parameters().keySet().stream()))
        .containsAll(TABLE.all().stream().map(Parameter::name).toList());
  }

  @Test
  void shouldReadEverySuite() {
    for (String name : Suite.NAMES) {
      assertThat(Suite.load(name, CATALOG, TABLE).cases()).as(name).isNotEmpty();
    }
    assertThat(Suite.load(Suite.ROOFS, CATALOG, TABLE).cases())
        .isNotEmpty()
        .allMatch(spec -> spec.benchmark().group().equals("roof"));
  }

  @Test
  void shouldHaveNoTwoBenchmarksOfOneSimpleName() {
    assertThat(CATALOG.benchmarks().stream().map(Benchmark::simpleName)).doesNotHaveDuplicates();
  }
}
