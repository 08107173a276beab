package io.musabench.results.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.results.model.ModelConfig.Family;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code quantization_config} as published checkpoints write it. */
class QuantizationTest {
  private static final String BLOCKS =
      "'quant_method': 'fp8', 'fmt': 'e4m3', 'activation_scheme': 'dynamic',"
          + " 'weight_block_size': [128, 128]";

  private static final String FLOAT = "{'num_bits': 8, 'type': 'float', 'strategy': 'tensor'}";

  private static ModelConfig model(Family family, String field, String config) {
    String moe =
        family == Family.QWEN3_MOE || family == Family.MIXTRAL
            ? "'num_local_experts': 8, 'num_experts_per_tok': 2, 'moe_intermediate_size': 512,"
            : "";
    return ModelConfig.parse(
        "Small",
        ("{'architectures': ['"
                + family.architecture()
                + "'], 'hidden_size': 256, 'num_hidden_layers': 3, 'num_attention_heads': 4,"
                + " 'num_key_value_heads': 2, 'intermediate_size': 512, 'vocab_size': 1000,"
                + moe
                + " 'max_position_embeddings': 4096, '"
                + field
                + "': {"
                + config
                + "}}")
            .replace('\'', '"'));
  }

  private static Quantization read(String config) {
    return model(Family.LLAMA, "quantization_config", config).quantization();
  }

  private static String groups(String weights, String inputs, String targets) {
    return "'quant_method': 'compressed-tensors', 'ignore': ['lm_head'], 'config_groups':"
        + " {'group_0': {'weights': %s, 'input_activations': %s, 'targets': [%s]}}"
            .formatted(weights, inputs, targets);
  }

  @Test
  void aPlainFileIsNotQuantised() {
    ModelConfig plain = ModelConfigs.of(4, 2, 512, 1000);
    assertThat(plain.quantization()).isNull();
    assertThat(plain.precision()).isEqualTo(Precision.BF16);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "fp8; 'quant_method': 'fp8', 'weight_block_size': [128, 128]",
        "fp8; 'quant_method': 'fp8', 'activation_scheme': 'static', 'ignored_layers': ['lm_head']",
        "fbgemm_fp8; 'quant_method': 'fbgemm_fp8', 'activation_scale_ub': 1200.0",
        "modelopt, FP8; 'quant_method': 'modelopt', 'quant_algo': 'FP8'"
      })
  void fp8WeightsAndInputsRunInFp8(String method, String config) {
    ModelConfig m = model(Family.LLAMA, "quantization_config", config);
    assertThat(m.quantization().method()).isEqualTo(method);
    assertThat(m.quantization().fp8()).isTrue();
    assertThat(m.precision()).isEqualTo(Precision.FP8);
    assertThat(m.quantization().left()).isEmpty();
    assertThat(m.quantization().mixed()).isEmpty();
  }

  @Test
  void compressedTensorsAreFp8IfEveryGroupIs() {
    Quantization both = read(groups(FLOAT, FLOAT, "'Linear'"));
    assertThat(both.fp8()).isTrue();
    assertThat(both.method())
        .isEqualTo("compressed-tensors, 8-bit float weights, 8-bit float inputs");
    assertThat(both.left()).isEmpty();
    // Products of such weights run on inputs of 16 bits.
    Quantization weightsOnly = read(groups(FLOAT, "null", "'Linear'"));
    assertThat(weightsOnly.fp8()).isFalse();
    assertThat(weightsOnly.method()).contains("16-bit inputs");
    String integers = "{'num_bits': 8, 'type': 'int'}";
    assertThat(read(groups(integers, integers, "'Linear'")).method())
        .isEqualTo("compressed-tensors, 8-bit int weights, 8-bit int inputs");
    assertThat(read(groups(integers, integers, "'Linear'")).fp8()).isFalse();
    assertThat(read("'quant_method': 'compressed-tensors'").fp8()).isFalse();
  }

  @Test
  void modulesThatNoGroupTargetsStay() {
    Quantization mlp = read(groups(FLOAT, FLOAT, "'re:.*mlp\\\\..*_proj'"));
    assertThat(mlp.left()).containsExactlyInAnyOrder("qkv", "o");
    assertThat(mlp.mixed()).isEmpty();
  }

  @Test
  void olderFilesCallItCompressionConfig() {
    assertThat(
            model(Family.LLAMA, "compression_config", groups(FLOAT, FLOAT, "'Linear'")).precision())
        .isEqualTo(Precision.FP8);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "awq, 4 bits; 'quant_method': 'awq', 'bits': 4",
        "gptq, 8 bits; 'quant_method': 'gptq', 'bits': 8",
        "bitsandbytes, 4 bits; 'quant_method': 'bitsandbytes', 'load_in_4bit': true",
        "modelopt, NVFP4; 'quant_method': 'modelopt', 'quant_algo': 'NVFP4'",
        "fp8 (e5m2); 'quant_method': 'fp8', 'fmt': 'e5m2'",
        "an unnamed method, 4 bits; 'bits': 4, 'group_size': 64"
      })
  void anotherMethodIsNamedAndNotPredicted(String method, String config) {
    ModelConfig m = model(Family.LLAMA, "quantization_config", config);
    assertThat(m.quantization().method()).isEqualTo(method);
    assertThat(m.quantization().fp8()).isFalse();
    assertThatThrownBy(m::precision)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "Small: its weights are quantised ("
                + method
                + "), and only fp8 weights with fp8 inputs are predicted; --precision bf16 predicts"
                + " it as if they were bf16");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "'o_proj'; o",
        "'self_attn'; qkv o",
        "'re:.*self_attn.*'; qkv o",
        "'model.layers.*.mlp.down_proj'; down",
        "'model.layers.0.self_attn.o_proj', 'model.layers.1.self_attn.o_proj',"
            + " 'model.layers.2.self_attn.o_proj'; o",
        "'gate_proj', 'up_proj'; gate_up",
        "'lm_head', 'model.layers.0.input_layernorm', 'model.norm'; ''"
      })
  void whatIsNotConvertedInAnyLayerStays(String entries, String roles) {
    Quantization q = read(BLOCKS + ", 'modules_to_not_convert': [" + entries + "]");
    assertThat(String.join(" ", q.left().stream().sorted(this::likeAStep).toList()))
        .isEqualTo(roles.replace("''", ""));
    assertThat(q.mixed()).isEmpty();
  }

  private int likeAStep(String a, String b) {
    return "qkv o gate_up down".indexOf(a) - "qkv o gate_up down".indexOf(b);
  }

  @Test
  void whatStaysInSomeLayersIsCounted() {
    // Layer 1 is not layer 11, and a product is run in one type.
    Quantization q =
        read(
            BLOCKS
                + ", 'modules_to_not_convert': ['model.layers.1.mlp', 'model.layers.2.self_attn.q_proj',"
                + " 'model.layers.11.self_attn']");
    assertThat(q.left()).isEmpty();
    assertThat(q.mixed())
        .containsExactly(
            "qkv of 1 of 3 layers", "gate_up of 1 of 3 layers", "down of 1 of 3 layers");
  }

  @Test
  void expertsAreLeftByTheNamesOfTheirFamily() {
    String left = BLOCKS + ", 'modules_to_not_convert': ['experts']";
    for (Family family : new Family[] {Family.QWEN3_MOE, Family.MIXTRAL}) {
      ModelConfig m = model(family, "quantization_config", left);
      assertThat(m.quantization().left()).containsExactly("experts");
      assertThat(m.precision("experts", Precision.FP8)).isEqualTo(Precision.BF16);
    }
    assertThat(
            model(
                    Family.MIXTRAL,
                    "quantization_config",
                    BLOCKS + ", 'modules_to_not_convert': ['block_sparse_moe.gate', 'w1']")
                .quantization()
                .mixed())
        .containsExactly("experts of 3 of 3 layers");
  }

  @Test
  void whatStaysWeighsTwoBytes() {
    Layout all = model(Family.LLAMA, "quantization_config", BLOCKS).layout(1);
    Layout left =
        model(
                Family.LLAMA,
                "quantization_config",
                BLOCKS + ", 'modules_to_not_convert': ['o_proj', 'down_proj']")
            .layout(1);
    assertThat(left.weightBytes(Precision.FP8) - all.weightBytes(Precision.FP8))
        .isEqualTo(3L * (256 * 256 + 256 * 512));
    assertThat(left.weightBytes(Precision.BF16)).isEqualTo(all.weightBytes(Precision.BF16));
  }

  @Test
  void scalesForTheKvCacheAreSeen() {
    assertThat(read(BLOCKS).fp8KvCache()).isFalse();
    assertThat(
            read(groups(FLOAT, FLOAT, "'Linear'") + ", 'kv_cache_scheme': " + FLOAT).fp8KvCache())
        .isTrue();
    assertThat(
            read("'quant_method': 'modelopt', 'quant_algo': 'FP8', 'kv_cache_quant_algo': 'FP8'")
                .fp8KvCache())
        .isTrue();
  }

  @Test
  void aBadPatternIsNamed() {
    assertThatThrownBy(() -> read(BLOCKS + ", 'modules_to_not_convert': ['re:(']"))
        .hasMessage("Small: quantization_config: \"re:(\" is not a regular expression");
  }
}
