package io.musabench.results.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LayoutTest {
  private static final ModelConfig QWEN_32B = Models.find("Qwen3-32B");

  @Test
  void oneRankHasTheWholeModel() {
    Layout whole = QWEN_32B.layout(1);
    assertThat(whole.layerParameters()).isEqualTo(487_598_336L);
    assertThat(whole.parameters() / 1e9).isCloseTo(32.762, within(0.0005));
    assertThat(2 * whole.streamedParameters() / 1e9).isCloseTo(63.97, within(0.005));
    assertThat(whole.kvBytesPerToken(2)).isEqualTo(262_144);
    assertThat(whole).hasToString("Qwen3-32B TP1");
  }

  @Test
  void fourRanksHaveAQuarterOfTheMatricesEach() {
    Layout rank = QWEN_32B.layout(4);
    assertThat(2 * rank.streamedParameters() / 1e9).isCloseTo(15.99, within(0.005));
    assertThat(2 * rank.parameters() / 1e9).isCloseTo(16.38, within(0.005));
    assertThat(rank.kvBytesPerToken(2)).isEqualTo(65_536);
    assertThat(rank.heads()).hasToString("16:2:128");
    assertThat(rank.qkvWidth()).isEqualTo(2560);
    assertThat(rank.qWidth()).isEqualTo(2048);
    assertThat(rank.ffnSize()).isEqualTo(6400);
    assertThat(rank.vocabSize()).isEqualTo(37984);
  }

  @ParameterizedTest
  @CsvSource({
    "Llama-3.1-8B, 1, 32:8:128",
    "Llama-3.1-8B, 8, 4:1:128",
    "Llama-3.1-8B, 16, 2:1:128",
    "Llama-3.1-70B, 8, 8:1:128",
    "Qwen3-0.6B, 2, 8:4:128"
  })
  void headsAreSharedOutAndKvHeadsCopiedWhenTheyRunOut(String model, int tp, String heads) {
    assertThat(Models.find(model).layout(tp).heads()).hasToString(heads);
  }

  @Test
  void aTiedMatrixCountsOnceAndIsStreamed() {
    Layout tied = Models.find("Qwen3-0.6B").layout(1);
    assertThat(tied.parameters()).isEqualTo(tied.streamedParameters());
    Layout untied = Models.find("Qwen3-8B").layout(1);
    assertThat(untied.parameters() - untied.streamedParameters()).isEqualTo(151936L * 4096);
  }

  @Test
  void embeddingAndLmHeadStayUnquantisedAndSoDoesTheRouter() {
    Layout llama = Models.find("Llama-3.1-8B").layout(2);
    assertThat(llama.weightBytes(Precision.BF16)).isEqualTo(2 * llama.parameters());
    // Two matrices of 64128 rows have a byte more each element.
    assertThat(llama.weightBytes(Precision.FP8)).isEqualTo(llama.parameters() + 2 * 64128L * 4096);
    Layout tied = Models.find("Qwen3-0.6B").layout(1);
    assertThat(tied.weightBytes(Precision.FP8)).isEqualTo(tied.parameters() + 151936L * 1024);
    Layout experts =
        ModelConfig.parse(
                "moe",
                """
                {"architectures": ["MixtralForCausalLM"], "num_hidden_layers": 3,
                 "hidden_size": 256, "intermediate_size": 512, "vocab_size": 1000,
                 "num_attention_heads": 4, "num_key_value_heads": 2,
                 "num_local_experts": 8, "num_experts_per_tok": 2,
                 "max_position_embeddings": 4096}""")
            .layout(2);
    assertThat(experts.weightBytes(Precision.FP8))
        .isEqualTo(experts.parameters() + 2 * 500L * 256 + 3 * 8L * 256);
  }

  @Test
  void biasesCount() {
    ModelConfig plain = ModelConfigs.small(ModelConfig.Family.LLAMA, false);
    ModelConfig biased = ModelConfigs.small(ModelConfig.Family.LLAMA, true);
    // qkv: (4 + 2·2) heads of 128; o: 256 hidden.
    assertThat(biased.layout(1).layerParameters() - plain.layout(1).layerParameters())
        .isEqualTo(8 * 128 + 256);
    ModelConfig qwen2 = ModelConfigs.small(ModelConfig.Family.QWEN2, false);
    assertThat(qwen2.layout(1).layerParameters() - plain.layout(1).layerParameters())
        .isEqualTo(8 * 128);
    ModelConfig qwen3 = ModelConfigs.small(ModelConfig.Family.QWEN3, false);
    assertThat(qwen3.layout(1).layerParameters() - plain.layout(1).layerParameters())
        .isEqualTo(2 * 128);
  }

  @ParameterizedTest
  @CsvSource({
    "3, 64 query heads do not divide",
    "128, 64 query heads do not divide",
    "0, there must be at least one",
    "-1, there must be at least one"
  })
  void refusesRanksThatDoNotDivide(int tp, String why) {
    assertThatThrownBy(() -> QWEN_32B.layout(tp))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Qwen3-32B cannot be split over " + tp + " ranks: " + why)
        .hasMessageEndingWith("tp can be 1, 2, 4, 8, 16, 32, 64");
  }

  @ParameterizedTest
  @ValueSource(strings = {"kv heads", "MLP size", "vocabulary"})
  void namesWhatElseDoesNotDivide(String what) {
    ModelConfig odd =
        switch (what) {
          // 12 query heads over 3 kv heads: two ranks split the former, not the latter.
          case "kv heads" -> ModelConfigs.of(12, 3, 512, 1000);
          case "MLP size" -> ModelConfigs.of(4, 2, 511, 1000);
          default -> ModelConfigs.of(4, 2, 512, 1001);
        };
    assertThatThrownBy(() -> odd.layout(2)).hasMessageContaining(what);
  }
}
