package io.musabench.results.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.model.ModelConfig.Family;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ModelConfigTest {
  private static final String SMALL =
      """
      {
        "architectures": ["Qwen3ForCausalLM"],
        "hidden_size": 256, "num_hidden_layers": 3, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 128, "intermediate_size": 512, "vocab_size": 1000,
        "max_position_embeddings": 4096, "tie_word_embeddings": true,
        "rms_norm_eps": 1e-6, "rope_theta": 10000.0
      }
      """;

  private static ModelConfig parse(String json) {
    return ModelConfig.parse("Small", json);
  }

  private static String with(String field, String value) {
    try {
      return edited().set(field, new ObjectMapper().readTree(value)).toString();
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static String without(String field) {
    return edited().without(field).toString();
  }

  private static ObjectNode edited() {
    try {
      return (ObjectNode) new ObjectMapper().readTree(SMALL);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  @Test
  void readsEveryField() {
    ModelConfig m = parse(SMALL);
    assertThat(m)
        .isEqualTo(
            new ModelConfig(
                "Small",
                Family.QWEN3,
                256,
                3,
                4,
                2,
                128,
                512,
                1000,
                4096,
                true,
                false,
                false,
                1e-6,
                10000));
    assertThat(m.qkNorm()).isTrue();
  }

  @Test
  void aHeadIsAsWideAsGivenElseItsShareOfTheHiddenSize() {
    assertThat(parse(SMALL).headDim()).isEqualTo(128);
    String llama = without("head_dim").replace("Qwen3For", "LlamaFor");
    assertThat(parse(llama).headDim()).isEqualTo(64);
    String empty = with("head_dim", "null").replace("Qwen3For", "LlamaFor");
    assertThat(parse(empty).headDim()).isEqualTo(64);
    // The class of Qwen3 has a number of its own.
    assertThat(parse(without("head_dim")).headDim()).isEqualTo(128);
    assertThatThrownBy(() -> parse(llama.replace("256", "257")))
        .hasMessageContaining("head_dim is missing")
        .hasMessageContaining("257");
  }

  @Test
  void theFamiliesDifferInNormAndBias() {
    ModelConfig llama = parse(SMALL.replace("Qwen3For", "LlamaFor"));
    assertThat(llama.qkNorm()).isFalse();
    assertThat(llama.qkvBias()).isFalse();
    ModelConfig qwen2 = parse(SMALL.replace("Qwen3For", "Qwen2For"));
    assertThat(qwen2.qkNorm()).isFalse();
    assertThat(qwen2.qkvBias()).isTrue();
    assertThat(qwen2.oBias()).isFalse();
    ModelConfig biased = parse(with("attention_bias", "true"));
    assertThat(biased.qkvBias()).isTrue();
    assertThat(biased.oBias()).isTrue();
    ModelConfig qwen2Biased = parse(with("attention_bias", "true").replace("Qwen3For", "Qwen2For"));
    assertThat(qwen2Biased.oBias()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "architectures",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "num_key_value_heads",
        "intermediate_size",
        "vocab_size",
        "max_position_embeddings"
      })
  void aMissingFieldIsNamed(String field) {
    assertThatThrownBy(() -> parse(without(field)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("Small: the field " + field + " is missing");
  }

  @Test
  void whatDecidesNoShapeHasTheDefaultOfItsFamily() {
    for (String family : new String[] {"Qwen3", "Llama", "Qwen2"}) {
      ObjectNode bare = edited().without(java.util.List.of("rms_norm_eps", "rope_theta"));
      bare.remove("tie_word_embeddings");
      ModelConfig m = parse(bare.toString().replace("Qwen3For", family + "For"));
      assertThat(m.rmsNormEps()).isEqualTo(1e-6);
      assertThat(m.ropeTheta()).isEqualTo(1e4);
      assertThat(m.tiedEmbeddings()).isFalse();
    }
    ObjectNode mixtral = edited().without(java.util.List.of("rms_norm_eps", "rope_theta"));
    mixtral.put("num_local_experts", 8).put("num_experts_per_tok", 2);
    ModelConfig m = parse(mixtral.toString().replace("Qwen3For", "MixtralFor"));
    assertThat(m.rmsNormEps()).isEqualTo(1e-5);
    assertThat(m.ropeTheta()).isEqualTo(1e6);
    assertThat(m.tiedEmbeddings()).isTrue();
  }

  @Test
  void expertsAreCountedUnderEitherName() {
    String moe =
        SMALL
            .replace("Qwen3For", "Qwen3MoeFor")
            .replace("\"head_dim\"", "\"moe_intermediate_size\": 96, \"head_dim\"")
            .replace("\"vocab_size\"", "\"num_experts_per_tok\": 2, \"NAME\": 8, \"vocab_size\"");
    assertThat(parse(moe.replace("NAME", "num_experts")).moe().experts()).isEqualTo(8);
    assertThat(parse(moe.replace("NAME", "num_local_experts")).moe().experts()).isEqualTo(8);
    assertThatThrownBy(() -> parse(moe)).hasMessageContaining("num_experts");
    String mixtral = moe.replace("Qwen3MoeFor", "MixtralFor").replace("NAME", "num_experts");
    assertThat(parse(mixtral).moe().experts()).isEqualTo(8);
  }

  @Test
  void layersOfAnotherKindOfAttentionAreRefused() {
    String full = "[\"full_attention\", \"full_attention\", \"full_attention\"]";
    assertThat(parse(with("layer_types", full)).layers()).isEqualTo(3);
    assertThatThrownBy(() -> parse(with("layer_types", full.replaceFirst("full", "sliding"))))
        .hasMessageContaining("sliding_attention (layer_types)");
  }

  @Test
  void aLlamaWithoutGroupedHeadsHasAsManyOfEachKind() {
    String llama = without("num_key_value_heads").replace("Qwen3For", "LlamaFor");
    assertThat(parse(llama).kvHeads()).isEqualTo(4);
  }

  @ParameterizedTest
  @CsvSource({
    "hidden_size, 0",
    "hidden_size, -1",
    "hidden_size, 2.5",
    "hidden_size, 2147483648",
    "hidden_size, '\"256\"'",
    "rms_norm_eps, 0",
    "rms_norm_eps, '\"tiny\"'",
    "rope_theta, true",
    "tie_word_embeddings, 1"
  })
  void aWrongValueIsNamedWithItsField(String field, String value) {
    assertThatThrownBy(() -> parse(with(field, value)))
        .hasMessageStartingWith("Small: " + field + " must be")
        .hasMessageEndingWith(value);
  }

  @Test
  void theLargestIntIsStillANumber() {
    assertThat(parse(with("vocab_size", "2147483647")).vocabSize()).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void anUnsupportedArchitectureIsNamedBesideTheSupportedOnes() {
    assertThatThrownBy(() -> parse(SMALL.replace("Qwen3For", "DeepseekV3For")))
        .hasMessageContaining("DeepseekV3ForCausalLM is not supported")
        .hasMessageContaining("Qwen3ForCausalLM, LlamaForCausalLM, Qwen2ForCausalLM");
    assertThatThrownBy(() -> parse(with("architectures", "[]")))
        .hasMessageContaining("the field architectures is missing");
  }

  @Test
  void whatWouldChangeTheCostUnseenIsRefused() {
    assertThatThrownBy(() -> parse(with("mlp_bias", "true"))).hasMessageContaining("(mlp_bias)");
    assertThatThrownBy(() -> parse(with("use_sliding_window", "true")))
        .hasMessageContaining("(use_sliding_window)");
    assertThatThrownBy(() -> parse(with("hidden_act", "\"gelu\"")))
        .hasMessageContaining("hidden_act gelu");
    assertThat(parse(with("hidden_act", "\"silu\"")).hiddenSize()).isEqualTo(256);
    assertThat(parse(with("use_sliding_window", "false")).hiddenSize()).isEqualTo(256);
  }

  @Test
  void queryHeadsMustShareTheKvHeadsEvenly() {
    assertThatThrownBy(() -> parse(with("num_key_value_heads", "3")))
        .hasMessageContaining("num_attention_heads (4)")
        .hasMessageContaining("num_key_value_heads (3)");
  }

  @Test
  void theBaseOfTheRotaryFrequenciesMayStandInANestedObject() {
    String nested = with("rope_parameters", "{\"rope_theta\": 5e5}");
    assertThat(parse(nested).ropeTheta()).isEqualTo(5e5);
    assertThat(parse(with("rope_parameters", "{}")).ropeTheta()).isEqualTo(1e4);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 2048}; 8192",
        "{\"type\": \"yarn\", \"factor\": 4.0}; 16384",
        "{\"type\": \"linear\", \"factor\": 2}; 8192",
        "{\"rope_type\": \"dynamic\", \"factor\": 2.0}; 8192",
        "{\"rope_type\": \"llama3\", \"factor\": 8.0, \"original_max_position_embeddings\": 512}; 4096",
        "{\"rope_type\": \"longrope\", \"factor\": 8.0}; 4096",
        "{\"rope_type\": \"default\"}; 4096",
        "{\"type\": \"yarn\", \"factor\": null}; 4096",
        "null; 4096"
      })
  void theLongestContextIsThatOfTheScaling(String scaling, int positions) {
    assertThat(parse(with("rope_scaling", scaling)).maxPositions()).isEqualTo(positions);
    assertThat(parse(with("rope_parameters", scaling)).maxPositions()).isEqualTo(positions);
  }

  @Test
  void aScalingThatIsNoNumberIsNamed() {
    assertThatThrownBy(() -> parse(with("rope_scaling", "{\"factor\": \"four\"}")))
        .hasMessageContaining("factor must be a number above 0");
    assertThatThrownBy(() -> parse(with("rope_scaling", "{\"factor\": 1e9}")))
        .hasMessageContaining("the rope scaling makes");
  }

  @Test
  void whatIsNotAnObjectIsRefused() {
    assertThatThrownBy(() -> parse("{")).hasMessageContaining("Small").hasMessageContaining("JSON");
    assertThatThrownBy(() -> parse("[1]")).hasMessageContaining("not a JSON object");
    assertThatThrownBy(() -> parse("")).hasMessageContaining("not a JSON object");
  }

  @Test
  void aModelTakesTheNameOfItsFolderOrFile(@TempDir Path folder) throws IOException {
    Path model = Files.createDirectory(folder.resolve("My-Model"));
    Files.writeString(model.resolve("config.json"), SMALL);
    Files.writeString(folder.resolve("other.json"), SMALL);
    assertThat(ModelConfig.read(model).name()).isEqualTo("My-Model");
    assertThat(ModelConfig.read(model.resolve("config.json")).name()).isEqualTo("My-Model");
    assertThat(ModelConfig.read(folder.resolve("other.json")).name()).isEqualTo("other");
    assertThat(Models.find(model.toString()).layers()).isEqualTo(3);
  }

  @Test
  void aLinkThatLeadsNowhereIsNotTheModelOfItsName(@TempDir Path folder) throws IOException {
    Path link = Files.createSymbolicLink(folder.resolve("Qwen3-8B"), Path.of("gone"));
    assertThatThrownBy(() -> Models.find(link.toString())).hasMessageContaining("Cannot read");
  }

  @Test
  void errorsOfAFileNameTheFile(@TempDir Path folder) throws IOException {
    assertThatThrownBy(() -> ModelConfig.read(folder.resolve("none.json")))
        .hasMessageContaining("Cannot read")
        .hasMessageContaining("none.json");
    Path bad = Files.writeString(folder.resolve("bad.json"), without("vocab_size"));
    assertThatThrownBy(() -> ModelConfig.read(bad))
        .hasMessage(bad + ": bad: the field vocab_size is missing");
  }
}
