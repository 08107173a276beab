package io.musabench.results.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelsTest {
  @Test
  void theListNamesEveryFileThatIsShipped() {
    String[] files = Objects.requireNonNull(new File("models").list());
    List<String> names = Arrays.stream(files).map(f -> f.replace(".json", "")).toList();
    assertThat(Models.names()).containsExactlyInAnyOrderElementsOf(names);
  }

  /** Published parameter counts. */
  @ParameterizedTest
  @CsvSource({
    "Qwen3-0.6B, 596049920",
    "Qwen3-8B, 8190735360",
    "Qwen3-32B, 32762123264",
    "Llama-3.1-8B, 8030261248",
    "Llama-3.1-70B, 70553706496"
  })
  void aShippedModelHasItsPublishedNumberOfParameters(String name, long parameters) {
    assertThat(Models.find(name).parameters()).isEqualTo(parameters);
  }

  @Test
  void aNameMayBeLowerCaseAndMayHaveAnOwner() {
    assertThat(Models.find("qwen3-32b").name()).isEqualTo("Qwen3-32B");
    assertThat(Models.find("Qwen/Qwen3-32B").name()).isEqualTo("Qwen3-32B");
    for (String llama :
        List.of("meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Meta-Llama-3.1-8B")) {
      assertThat(Models.find(llama).name()).isEqualTo("Llama-3.1-8B");
    }
  }

  @Test
  void anUnknownNameGetsTheNearestAndTheList() {
    assertThatThrownBy(() -> Models.find("Qwen3-32"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Unknown model \"Qwen3-32\" (did you mean Qwen3-32B?)")
        .hasMessageContaining("Llama-3.1-70B");
  }

  @Test
  void theSmallModelIsTiedAndHasHeadsWiderThanItsHiddenSizeOverHeads() {
    ModelConfig m = Models.find("Qwen3-0.6B");
    assertThat(m.tiedEmbeddings()).isTrue();
    assertThat(m.headDim()).isEqualTo(128);
    assertThat(m.hiddenSize() / m.qHeads()).isEqualTo(64);
    assertThat(m.ropeTheta()).isEqualTo(1e6);
    assertThat(m.rmsNormEps()).isEqualTo(1e-6);
    assertThat(Models.find("Llama-3.1-8B").rmsNormEps()).isEqualTo(1e-5);
    assertThat(Models.find("Llama-3.1-8B").ropeTheta()).isEqualTo(5e5);
  }
}
