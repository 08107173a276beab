package io.musabench.results.tpot.answers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.results.model.ElementType;
import io.musabench.results.tpot.AnalyticKernels;
import io.musabench.results.tpot.StepTime;
import io.musabench.results.tpot.Term;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a question is set up with, and what is said of it. */
class SetupTest {
  private static final AnalyticKernels KERNELS = new AnalyticKernels(1.25, 0.05, 80e9);

  private static final String FP8 =
      "{\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]}";

  @TempDir Path folder;

  private Setup.Request asked(String quantization) throws IOException {
    Setup.Request r = new Setup.Request();
    r.model =
        Files.writeString(
                folder.resolve("M.json"),
                """
                {"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 3,
                 "hidden_size": 2048, "intermediate_size": 8192, "vocab_size": 32000,
                 "num_attention_heads": 16, "num_key_value_heads": 2,
                 "max_position_embeddings": 4096, "quantization_config": %s}"""
                    .formatted(quantization))
            .toString();
    return r;
  }

  private static long bytes(Setup setup, String role) {
    StepTime step = setup.model().decode(1, 64);
    Term term = step.terms().stream().filter(t -> t.role().equals(role)).findFirst().orElseThrow();
    return setup.model().work(term).bytes();
  }

  @Test
  void anFp8CheckpointIsPredictedInFp8UnlessAskedOtherwise() throws IOException {
    Setup own = Setup.of(asked(FP8), KERNELS);
    assertThat(own.model().engine().precision()).hasToString("fp8/bf16/bf16");
    assertThat(own.assumptions())
        .anyMatch(
            a ->
                a.startsWith(
                    "the model's config says fp8 weights (fp8): products but lm_head run in fp8"));
    // Inputs and weights of a byte, 2048 to 2048; what comes out has two.
    assertThat(bytes(own, "o")).isEqualTo(2048 + 2048 * 2048 + 2 * 2048);
    assertThat(bytes(own, "lm_head")).isEqualTo(2 * (2048 + 32000 * 2048 + 32000));

    Setup.Request bf16 = asked(FP8);
    bf16.precision = "bf16";
    Setup other = Setup.of(bf16, KERNELS);
    assertThat(bytes(other, "o")).isEqualTo(2 * (2048 + 2048 * 2048 + 2048));
    assertThat(other.assumptions())
        .contains(
            "the model's weights are quantised (fp8), but the prediction is for bf16, as if they"
                + " were that");
  }

  @Test
  void productsThatAreNotConvertedStayInBf16() throws IOException {
    Setup left =
        Setup.of(
            asked(FP8.replace("]}", "], \"modules_to_not_convert\": [\"o_proj\", \"lm_head\"]}")),
            KERNELS);
    assertThat(bytes(left, "o")).isEqualTo(2 * (2048 + 2048 * 2048 + 2048));
    assertThat(bytes(left, "down")).isEqualTo(8192 + 8192 * 2048 + 2 * 2048);
    assertThat(left.assumptions()).anyMatch(a -> a.contains("products but lm_head, o run in fp8"));
    Setup mixed =
        Setup.of(
            asked(
                FP8.replace(
                    "]}", "], \"modules_to_not_convert\": [\"model.layers.1.self_attn\"]}")),
            KERNELS);
    assertThat(mixed.assumptions())
        .contains(
            "unquantised in the model's config, but predicted in fp8 as in the other layers: qkv of"
                + " 1 of 3 layers; o of 1 of 3 layers");
  }

  @Test
  void anotherQuantisationIsAnErrorThatSaysWhatCanBeDone() throws IOException {
    Setup.Request awq = asked("{\"quant_method\": \"awq\", \"bits\": 4}");
    assertThatThrownBy(() -> Setup.of(awq, KERNELS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("quantised (awq, 4 bits)")
        .hasMessageContaining("--precision bf16");
    awq.precision = "bf16";
    assertThat(Setup.of(awq, KERNELS).assumptions())
        .contains(
            "the model's weights are quantised (awq, 4 bits), but the prediction is for bf16, as if"
                + " they were that");
  }

  @Test
  void scalesForAnFp8CacheAreMentionedUnlessItIsPredicted() throws IOException {
    String scheme =
        FP8.replace("]}", "], \"kv_cache_scheme\": {\"num_bits\": 8, \"type\": \"float\"}}");
    assertThat(Setup.of(asked(scheme), KERNELS).assumptions())
        .anyMatch(a -> a.contains("scales for an fp8 KV cache, which is taken as bf16"));
    Setup.Request cache = asked(scheme);
    cache.precision = "fp8/bf16/fp8";
    Setup setup = Setup.of(cache, KERNELS);
    assertThat(setup.model().engine().precision().kvCache()).isEqualTo(ElementType.FP8);
    assertThat(setup.assumptions()).noneMatch(a -> a.contains("KV cache, which is taken"));
  }
}
