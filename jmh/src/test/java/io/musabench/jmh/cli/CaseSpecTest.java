package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class CaseSpecTest {
  private static Set<CaseSpec> cases(String benchmark, Map<String, List<String>> parameters) {
    return CaseSpec.expand(
        new Benchmark("io.musabench.jmh." + benchmark + ".time", new TreeMap<>(parameters)),
        Map.of());
  }

  private static List<String> names(Set<CaseSpec> chosen, String... present) {
    return chosen.stream()
        .flatMap(spec -> spec.resolve(Set.of(present)).stream())
        .distinct()
        .map(spec -> spec.named().toString())
        .toList();
  }

  private static final Map<String, List<String>> DECODE =
      Map.of(
          "batch", List.of("q1s1k"),
          "library", List.of("auto"),
          "metadata", List.of("with", "only"));

  @Test
  void shouldKeepTheNameThatACaseHadBeforeItHadALibrary() {
    assertThat(names(cases("attention.PagedDecode", DECODE))).containsExactly("{batch=q1s1k}");
  }

  @Test
  void shouldMeasureAttentionWithBothLibrariesWhereMateIs() {
    assertThat(names(cases("attention.PagedDecode", DECODE), "mate", "blas"))
        .containsExactly(
            "{batch=q1s1k}",
            "{batch=q1s1k, library=mate}",
            "{batch=q1s1k, library=mate, metadata=only}");
  }

  @Test
  void shouldMeasureAStepOnlyAsAnEngineRunsIt() {
    Map<String, List<String>> step =
        Map.of("gemm", List.of("auto"), "library", List.of("auto"), "mode", List.of("graph"));
    assertThat(names(cases("step.DecodeStep", step), "mate"))
        .containsExactly("{library=mate, mode=graph}");
    assertThat(names(cases("step.DecodeStep", step))).containsExactly("{mode=graph}");
  }

  @Test
  void shouldMeasureProductsWithTheVendorsBlasToo() {
    Map<String, List<String>> gemm = Map.of("tokens", List.of("8"), "library", List.of("auto"));
    assertThat(names(cases("gemm.Gemm", gemm), "mate", "blas"))
        .containsExactly("{tokens=8}", "{library=blas, tokens=8}");
  }

  @Test
  void shouldSayTheLibraryInTheCommandThatRunsACaseAgain() {
    CaseSpec portable =
        cases("attention.PagedDecode", DECODE)
            .iterator()
            .next()
            .resolve(Set.of())
            .iterator()
            .next();
    assertThat(portable.arguments()).contains("-p library=portable").doesNotContain("metadata");
  }
}
