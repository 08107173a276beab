package io.musabench.results.tpot.answers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.model.ElementType;
import io.musabench.results.tpot.AnalyticKernels;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.StepTime;
import io.musabench.results.tpot.Term;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.kernels.KernelSources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

  @Test
  void theNumberOfLaunchesIsSaidWhereTheyCost() {
    Setup.Request r = ranks(4);
    r.launchUs = 20.0;
    r.mode = Mode.EAGER;
    assertThat(Setup.of(r, KERNELS).assumptions())
        .anyMatch(a -> a.startsWith("launches a layer: 12, one for each operation here"))
        .anyMatch(a -> a.endsWith("(vLLM: 2 more for the norms of q and k)"));
    r.mode = Mode.GRAPH;
    assertThat(Setup.of(r, KERNELS).assumptions()).noneMatch(a -> a.startsWith("launches"));
    r.launchesPerLayer = 15;
    Setup given = Setup.of(r, KERNELS);
    assertThat(given.model().engine().launchesPerLayer()).isEqualTo(15);
    assertThat(given.assumptions())
        .contains("launches a layer: 15, as given; the operations here are 12");
    r.launchesPerLayer = 0;
    assertThatThrownBy(() -> Setup.of(r, KERNELS)).hasMessageContaining("at least 1 launch");
  }

  private static Setup.Request ranks(int tp) {
    Setup.Request r = new Setup.Request();
    r.model = "Qwen3-32B";
    r.tp = tp;
    return r;
  }

  /** One all-reduce over 16 ranks, and all else by its roof. */
  private Setup measured(int ranks, Setup.Request asked) throws IOException {
    String rows =
        "kernel,shape,precision,seconds_us,relative_error,source\n"
            + "gemm,m=1 n=2560 k=5120,bf16,13.9,0.03,me\n"
            + "paged_attention,batch=q1s1k heads=16:2:128 causal page=16,bf16,13,0.03,me\n"
            + "all_reduce,elements=5120 ranks=%d,bf16,4.8,0.03,me\n".formatted(ranks);
    Path csv = Files.writeString(folder.resolve("k.csv"), rows);
    return Setup.of(asked, KernelSources.open(csv, Mode.GRAPH));
  }

  @Test
  void ranksBeyondANodeAreMentionedUnlessTheyWereMeasuredOrTheLinkIsGiven() throws IOException {
    String beyond = "no all-reduce over 16 ranks was measured: it is taken to be as fast as within";
    assertThat(measured(8, ranks(16)).assumptions()).anyMatch(a -> a.startsWith(beyond));
    assertThat(measured(16, ranks(16)).assumptions()).noneMatch(a -> a.startsWith("no all-reduce"));
    assertThat(measured(4, ranks(8)).assumptions()).noneMatch(a -> a.startsWith("no all-reduce"));
    Setup.Request network = ranks(16);
    network.linkGbPerS = 50.0;
    network.linkUs = 30.0;
    Setup given = measured(8, network);
    assertThat(given.assumptions())
        .noneMatch(a -> a.startsWith("no all-reduce"))
        .contains(
            "all-reduces and gathers between the ranks take 30.0 us and their bytes at 50.0 GB/s, as"
                + " given");
    Term sum =
        given.model().decode(1, 1024).terms().stream()
            .filter(t -> t.role().equals("all_reduce"))
            .findFirst()
            .orElseThrow();
    assertThat(sum.time().seconds())
        .isCloseTo(30e-6 + 2 * 15 / 16.0 * 2 * 5120 / 50e9, within(1e-12));
    network.linkUs = null;
    assertThatThrownBy(() -> measured(8, network)).hasMessageContaining("are given together");
  }

  @Test
  void fp8FromKernelsInBf16IsSaidOfEachOperationAndIsNotSure() throws Exception {
    StringBuilder rows =
        new StringBuilder("kernel,shape,precision,seconds_us,relative_error,source\n");
    rows.append("paged_attention,batch=q1s1k heads=64:8:128 causal page=16,bf16,3,0.03,me\n");
    for (String nk :
        List.of("10240 5120", "5120 8192", "51200 5120", "5120 25600", "151936 5120")) {
      String[] size = nk.split(" ");
      double us = 2 * Double.parseDouble(size[0]) * Double.parseDouble(size[1]) / 3e6;
      rows.append("gemm,m=1 n=%s k=%s,bf16,%s,0.03,me\n".formatted(size[0], size[1], us));
    }
    Path csv = Files.writeString(folder.resolve("k.csv"), rows);
    Setup.Request asked = ranks(1);
    asked.precision = "fp8";
    Setup setup = Setup.of(asked, KernelSources.open(csv, Mode.GRAPH));
    PredictionReport report =
        new PredictionReport(setup, List.of(new Workload(1, 1024, 256)), List.of());
    JsonNode root = new ObjectMapper().readTree(report.json());
    for (JsonNode term : root.at("/predictions/0/decode_step/decomposition")) {
      String role = term.path("role").asText();
      boolean product = List.of("qkv", "o", "gate_up", "down").contains(role);
      assertThat(term.path("from").asText().endsWith("; measured in bf16, its time kept"))
          .isEqualTo(product);
    }
    String line = "gemm: not measured in the types asked for; the times in bf16 count as they are";
    assertThat(root.path("assumptions")).anyMatch(a -> a.asText().equals(line));
    assertThat(report.text()).contains("extrapolated from bf16").contains(line);
    double low = root.at("/tpot/low_ms").asDouble();
    double high = root.at("/tpot/high_ms").asDouble();
    // The products take most of the step, and in fp8 half of what they take in bf16.
    assertThat(low).isLessThan(0.75 * root.at("/tpot/value_ms").asDouble());
    assertThat(high).isGreaterThan(1.25 * root.at("/tpot/value_ms").asDouble());
  }
}
