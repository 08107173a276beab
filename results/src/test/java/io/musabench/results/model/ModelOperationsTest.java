package io.musabench.results.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.KernelCall.FusedExperts;
import java.util.List;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class ModelOperationsTest {
  private static final ModelConfig QWEN_32B = Models.find("Qwen3-32B");

  /** Facts of the published config.json of Qwen3-30B-A3B. */
  private static final String QWEN3_MOE =
      """
      {"architectures": ["Qwen3MoeForCausalLM"], "hidden_size": 2048, "num_hidden_layers": 48,
       "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
       "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128,
       "num_experts_per_tok": 8, "decoder_sparse_step": 1, "mlp_only_layers": [],
       "vocab_size": 151936, "max_position_embeddings": 40960, "tie_word_embeddings": false,
       "attention_bias": false, "rms_norm_eps": 1e-6, "rope_theta": 1000000}
      """;

  /** Facts of the published config.json of Mixtral-8x7B. */
  private static final String MIXTRAL =
      """
      {"architectures": ["MixtralForCausalLM"], "hidden_size": 4096, "num_hidden_layers": 32,
       "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
       "num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": null,
       "vocab_size": 32000, "max_position_embeddings": 32768, "tie_word_embeddings": false,
       "rms_norm_eps": 1e-5, "rope_theta": 1000000}
      """;

  private static List<String> lines(Layout layout, String batch) {
    return ModelOperations.of(layout, BatchSpec.parse(batch), 16).stream()
        .map(op -> op.count() + " " + op.role() + ": " + op.call().key())
        .toList();
  }

  /** Shapes as in the table of the reference: TP 4, T tokens. */
  @Test
  void aDecodeStepOfQwen3With32BillionParametersOnOneOfFourRanks() {
    assertThat(lines(QWEN_32B.layout(4), "8q1s1152"))
        .containsExactly(
            "1 embedding: embedding t=8 h=5120",
            "1 all_reduce: all_reduce elements=40960 ranks=4",
            "1 input_norm: rms_norm t=8 h=5120",
            "64 qkv: gemm m=8 n=2560 k=5120",
            "64 qk_norm_rope: qk_norm_rope t=8 heads=16:2:128 norm=true",
            "64 kv_cache_write: kv_cache_write t=8 kv=2 d=128",
            "64 attention: paged_attention batch=8q1s1152 heads=16:2:128 causal page=16",
            "64 o: gemm m=8 n=5120 k=2048",
            "64 all_reduce: all_reduce elements=40960 ranks=4",
            "64 post_attention_norm: fused_add_rms_norm t=8 h=5120",
            "64 gate_up: gemm m=8 n=12800 k=5120",
            "64 silu_and_mul: silu_and_mul t=8 f=6400",
            "64 down: gemm m=8 n=5120 k=6400",
            "64 all_reduce: all_reduce elements=40960 ranks=4",
            "63 input_norm: fused_add_rms_norm t=8 h=5120",
            "1 final_norm: fused_add_rms_norm t=8 h=5120",
            "1 lm_head: gemm m=8 n=37984 k=5120",
            "1 logits_gather: all_gather elements=1215488 ranks=4",
            "1 sampler: argmax t=8 v=37984");
  }

  @Test
  void oneRankDoesNotCommunicate() {
    assertThat(lines(QWEN_32B.layout(1), "8q1s1152")).noneMatch(l -> l.contains("all_"));
  }

  @Test
  void theAttentionOfAMixedBatchIsInTwoParts() {
    List<String> lines = lines(QWEN_32B.layout(1), "q1k_8q1s1152_q512s2k");
    assertThat(lines)
        .contains(
            "64 attention_prefill: paged_attention batch=q1k_q512s2k heads=64:8:128 causal page=16",
            "64 attention_decode: paged_attention batch=8q1s1152 heads=64:8:128 causal page=16",
            "64 qkv: gemm m=1544 n=10240 k=5120",
            "1 logits_rows: embedding t=10 h=5120",
            "1 lm_head: gemm m=10 n=151936 k=5120");
    assertThat(lines(QWEN_32B.layout(1), "q1k_8q1s1152"))
        .contains("64 attention_prefill: fmha_prefill batch=q1k heads=64:8:128 causal");
  }

  @Test
  void bothPartsOfAttentionAreAttention() {
    assertThat(ModelOperations.operation("attention_decode")).isEqualTo("attention");
    assertThat(ModelOperations.operation("attention")).isEqualTo("attention");
    assertThat(ModelOperations.operation("qkv")).isEqualTo("qkv");
  }

  @Property
  void attentionAloneIsTheAttentionOfTheWhole(
      @ForAll @IntRange(min = 1, max = 9) int decodes,
      @ForAll @IntRange(min = 0, max = 2) int chunks) {
    String text = decodes + "q1s700" + (chunks == 0 ? "" : "_" + chunks + "q300s900");
    BatchSpec batch = BatchSpec.parse(text);
    Layout layout = QWEN_32B.layout(2);
    assertThat(ModelOperations.attention(layout, batch, 16))
        .isEqualTo(
            ModelOperations.of(layout, batch, 16).stream()
                .filter(op -> op.role().startsWith("attention"))
                .toList());
  }

  @Test
  void aMixtureOfExpertsTakesThePlaceOfTheMlp() {
    ModelConfig model = ModelConfig.parse("Qwen3-30B-A3B", QWEN3_MOE);
    assertThat(model.parameters() / 1e9).isCloseTo(30.53, within(0.005));
    assertThat(lines(model.layout(2), "16q1s1k"))
        .contains(
            "48 router: gemm m=16 n=128 k=2048",
            "48 topk: topk_softmax t=16 experts=128 k=8",
            "48 experts: fused_experts t=16 h=2048 f=384 experts=128 k=8",
            "48 qk_norm_rope: qk_norm_rope t=16 heads=16:2:128 norm=true")
        .noneMatch(l -> l.contains("gate_up") || l.contains("silu"));
    assertThat(
            lines(model.layout(2), "16q1s1k").stream()
                .filter(l -> l.contains("all_reduce"))
                .collect(Collectors.joining()))
        .isEqualTo(
            "1 all_reduce: all_reduce elements=32768 ranks=2"
                + "48 all_reduce: all_reduce elements=32768 ranks=2".repeat(2));

    ModelConfig mixtral = ModelConfig.parse("Mixtral-8x7B", MIXTRAL);
    assertThat(mixtral.parameters() / 1e9).isCloseTo(46.70, within(0.005));
    assertThat(mixtral.qkNorm()).isFalse();
    assertThat(mixtral.layout(1).heads()).hasToString("32:8:128");
  }

  @Test
  void aTokenTouchesItsExpertsAndManyTokensTouchAll() {
    FusedExperts one = new FusedExperts(1, 2048, 768, 128, 8);
    assertThat(one.touched()).isCloseTo(8, within(1e-9));
    long expert = 3L * 2048 * 768;
    assertThat(one.work(2).bytes()).isEqualTo(2 * (8 * expert + 2 * 2048 + 3 * 8 * 768));
    assertThat(one.work(2).flops()).isEqualTo(2 * 8 * expert + 5 * 8 * 768 + 2 * 8 * 2048);
    assertThat(new FusedExperts(4096, 2048, 768, 128, 8).touched()).isCloseTo(128, within(1e-9));
    // Two tokens meet at the same expert with probability 1/16 each.
    assertThat(new FusedExperts(2, 2048, 768, 128, 8).touched()).isCloseTo(15.5, within(1e-9));
    assertThat(new FusedExperts(2, 2048, 768, 8, 8).touched()).isEqualTo(8);
  }

  @Test
  void layersWithoutExpertsAmongThemAndSlidingWindowsAreRefused() {
    assertThatThrownBy(
            () ->
                ModelConfig.parse(
                    "M", QWEN3_MOE.replace("\"mlp_only_layers\": []", "\"mlp_only_layers\": [3]")))
        .hasMessageStartingWith("M: layers without experts (decoder_sparse_step, mlp_only_layers)");
    assertThatThrownBy(
            () ->
                ModelConfig.parse(
                    "M", MIXTRAL.replace("\"sliding_window\": null", "\"sliding_window\": 4096")))
        .hasMessage("M: sliding-window attention (sliding_window) is not supported");
    assertThatThrownBy(
            () ->
                ModelConfig.parse(
                    "M",
                    MIXTRAL.replace("\"num_experts_per_tok\": 2", "\"num_experts_per_tok\": 9")))
        .hasMessage("M: A token goes to at least 1 and at most all of 8 experts, not to 9");
    assertThatThrownBy(() -> ModelConfig.parse("M", MIXTRAL.replace("Mixtral", "Mixtrel")))
        .hasMessageContaining(
            "MixtrelForCausalLM is not supported (did you mean MixtralForCausalLM?)");
  }
}
