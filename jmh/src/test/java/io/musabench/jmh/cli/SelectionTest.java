package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.results.stopping.Stopping;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class SelectionTest {
  private static final ParameterTable TABLE = BenchmarkParameters.table();

  private static final Catalog CATALOG =
      new Catalog(
          List.of(
              benchmark("attention.PagedDecode", Map.of("batch", List.of("q1s1k"))),
              benchmark("gemm.Gemm", Map.of("tokens", List.of("1", "8"))),
              benchmark("roof.ReadBandwidth", Map.of("streams", List.of("1", "2")))));

  private static Benchmark benchmark(String name, Map<String, List<String>> parameters) {
    return new Benchmark("io.musabench.jmh." + name + ".time", new TreeMap<>(parameters));
  }

  private static List<String> select(List<String> expressions, List<String> assignments) {
    return new Selection(CATALOG, TABLE)
        .select(null, expressions, assignments).cases().stream().map(CaseSpec::title).toList();
  }

  @Test
  void shouldRunNamedBenchmarksWithAllTheirDefaultValues() {
    assertThat(select(List.of("gemm"), List.of()))
        .containsExactly("gemm.Gemm tokens=1", "gemm.Gemm tokens=8");
  }

  @Test
  void shouldTakeEveryCombinationOfGivenValues() {
    assertThat(select(List.of("PagedDecode"), List.of("batch=4q1s2k,8q1s2k")))
        .containsExactly(
            "attention.PagedDecode batch=4q1s2k", "attention.PagedDecode batch=8q1s2k");
  }

  @Test
  void shouldMeasureRoofsFirst() {
    assertThat(select(List.of("."), List.of()).get(0)).startsWith("roof.");
  }

  @Test
  void shouldNameTheNearestBenchmark() {
    assertThatThrownBy(() -> select(List.of("PagedDecod3"), List.of()))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("unknown benchmark")
        .hasMessageContaining("did you mean PagedDecode?");
  }

  @Test
  void shouldNameTheNearestParameter() {
    assertThatThrownBy(() -> select(List.of("PagedDecode"), List.of("bacth=q1s1k")))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("did you mean batch?");
  }

  @Test
  void shouldNameTheNearestParameterOfTheChosenBenchmark() {
    assertThatThrownBy(() -> select(List.of("PagedDecode"), List.of("tokens=4")))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("no parameter \"tokens\"");
  }

  @Test
  void shouldNameTheNearestValue() {
    assertThatThrownBy(() -> TABLE.parse(List.of("mode=grpah")))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("did you mean graph?");
  }

  @Test
  void shouldNameTheNearestModel() {
    assertThatThrownBy(() -> TABLE.parse(List.of("model=Qwen3-0.5B")))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("Qwen3-0.6B");
  }

  @Test
  void shouldRefuseMalformedValues() {
    for (String bad :
        List.of("batch=8x1", "heads=3:2:128", "page=0", "page=x", "softcap=-1", "p")) {
      assertThatThrownBy(() -> TABLE.parse(List.of(bad)))
          .as(bad)
          .isInstanceOf(UsageException.class);
    }
  }

  @Test
  void shouldRefuseWhatIsNoRegularExpression() {
    assertThatThrownBy(() -> select(List.of("("), List.of())).isInstanceOf(UsageException.class);
  }

  @Test
  void shouldSayWhichLineOfASuiteIsWrong() {
    assertThatThrownBy(
            () -> Suite.parse("x.txt", List.of("# fine", "gemm.Gem -p tokens=1"), CATALOG, TABLE))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("x.txt:2:")
        .hasMessageContaining("gemm.Gemm");
  }

  private static List<String> ordered(String... options) {
    MeasureOptions measure = CommandLine.populateCommand(new MeasureOptions(), options);
    return measure.select(Catalog.load(), TABLE).cases().stream().map(CaseSpec::title).toList();
  }

  @Test
  void shouldOrderCasesAtRandomAsTheSeedSays() {
    List<String> listed = ordered("^elementwise");
    List<String> random = ordered("^elementwise", "--order=random", "--seed=5");
    assertThat(random).isNotEqualTo(listed).containsExactlyInAnyOrderElementsOf(listed);
    assertThat(ordered("^elementwise", "--order=random", "--seed=5")).isEqualTo(random);
    assertThat(ordered("^elementwise", "--order=random", "--seed=6")).isNotEqualTo(random);
  }

  @Test
  void shouldReadEffortFromASuite() {
    Suite suite =
        Suite.parse(
            "x",
            List.of("set forks=2 seconds=0.5 stop=entropy", "Gemm -p tokens=3"),
            CATALOG,
            TABLE);
    assertThat(suite.effort()).isEqualTo(new Effort(2, 3, 0.5, 4, new Stopping("entropy")));
    assertThat(suite.cases()).hasSize(1);
  }

  @Test
  void shouldNameTheStoppingCriteriaThereAre() {
    assertThatThrownBy(() -> Effort.DEFAULT.withStop("stddev:1%"))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("there are entropy, samples, stdrel");
    assertThatThrownBy(() -> Effort.DEFAULT.withSeconds(2).withCeiling(1))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("ceiling of 1.0 s is below the 2.0 s");
  }

  @Test
  void shouldWriteArgumentsThatSelectTheSameCase() {
    CaseSpec spec = CaseSpec.expand(CATALOG.get("gemm.Gemm"), Map.of()).iterator().next();
    assertThat(spec.arguments()).isEqualTo("'^gemm\\.Gemm$' -p tokens=1");
    assertThat(select(List.of("^gemm\\.Gemm$"), List.of("tokens=1"))).hasSize(1);
    CaseSpec other = spec.override(Map.of("tokens", List.of("it's a path"))).iterator().next();
    assertThat(other.arguments()).isEqualTo("'^gemm\\.Gemm$' -p 'tokens=it'\\''s a path'");
  }
}
