package io.musabench.results;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class NearestTest {
  private static final List<String> KNOWN = List.of("PagedDecode", "FmhaPrefill", "Gemm");

  @Test
  void findsTheNameWithTheFewestMistakesWhateverTheCase() {
    assertThat(Nearest.match("pageddecod", KNOWN)).contains("PagedDecode");
    assertThat(Nearest.match("Gem", KNOWN)).contains("Gemm");
    assertThat(Nearest.match("fmhaprefil", KNOWN)).contains("FmhaPrefill");
  }

  @Test
  void halfTheLettersMayBeWrongButNotMore() {
    assertThat(Nearest.match("Gexx", List.of("Gemm"))).contains("Gemm");
    assertThat(Nearest.match("Gxxx", List.of("Gemm"))).isEmpty();
    assertThat(Nearest.match("", List.of("Gemm"))).isEmpty();
  }

  @Test
  void knowsNothingWithoutNames() {
    assertThat(Nearest.match("Gemm", List.of())).isEmpty();
  }

  @Test
  void wordsTheHint() {
    assertThat(Nearest.hint("Gemn", KNOWN)).isEqualTo(" (did you mean Gemm?)");
    assertThat(Nearest.hint("something else", KNOWN)).isEmpty();
  }
}
