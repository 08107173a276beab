package io.musabench.results.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.KernelCall.FmhaPrefill;
import io.musabench.results.model.KernelCall.Gemm;
import io.musabench.results.model.KernelCall.PagedAttention;
import io.musabench.results.model.KernelCall.RmsNorm;
import io.musabench.results.model.ModelConfig.Family;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StepOperationsTest {
  private static final ModelConfig QWEN_32B = Models.find("Qwen3-32B");

  private static StepOperations step(String model, int tp, String batch) {
    return StepOperations.of(Models.find(model).layout(tp), BatchSpec.parse(batch), 16);
  }

  /** FLOPs of GEMMs and attention: what prefill tables count. */
  private static long matrixFlops(StepOperations step) {
    return step.inOrder().stream()
        .filter(op -> op.call() instanceof Gemm || op.call() instanceof FmhaPrefill)
        .mapToLong(op -> op.work(2).flops())
        .sum();
  }

  @ParameterizedTest
  @CsvSource({"1024, 65.01", "4096, 273.2"})
  void aPrefillOfQwen3With32BillionParametersTakesAsManyTeraflops(int tokens, double teraflops) {
    StepOperations step = StepOperations.of(QWEN_32B.layout(1), BatchSpec.prefill(1, tokens), 16);
    assertThat(matrixFlops(step) / 1e12).isCloseTo(teraflops, within(teraflops * 2e-4));
  }

  @Test
  void aTokenTakesItsLinearFlops() {
    List<Operation> ops = step("Qwen3-32B", 1, "q1s2").inOrder();
    long linear =
        ops.stream()
            .filter(op -> op.call() instanceof Gemm && !op.role().equals("lm_head"))
            .mapToLong(op -> op.work(2).flops())
            .sum();
    assertThat(linear / 1e9).isCloseTo(62.41, within(0.005));
    long head =
        ops.stream()
            .filter(op -> op.role().equals("lm_head"))
            .mapToLong(op -> op.work(2).flops())
            .sum();
    assertThat(head / 1e9).isCloseTo(1.556, within(0.0005));
  }

  @Test
  void aDecodeStepStreamsTheWeightsOnce() {
    Layout rank = QWEN_32B.layout(4);
    long bytes = step("Qwen3-32B", 4, "q1s1").work(2).bytes();
    assertThat((double) bytes).isCloseTo(2.0 * rank.streamedParameters(), within(0.002 * bytes));
  }

  @Test
  void aContextTokenAddsItsCacheBytesAndNothingElse() {
    Layout rank = QWEN_32B.layout(4);
    long shorter = step("Qwen3-32B", 4, "q1s1024").work(2).bytes();
    long longer = step("Qwen3-32B", 4, "q1s1040").work(2).bytes();
    // one more page of 16 tokens: a page-table entry a layer
    assertThat(longer - shorter).isEqualTo(16 * rank.kvBytesPerToken(2) + 64 * 4);
  }

  @Test
  void theRanksOfAPrefillTogetherDoTheWholeFlops() {
    StepOperations whole = step("Qwen3-32B", 1, "q1k");
    StepOperations rank = step("Qwen3-32B", 4, "q1k");
    assertThat(4 * matrixFlops(rank)).isEqualTo(matrixFlops(whole));
  }

  @Test
  void theShapesOfARankAreThoseOfTheModel() {
    StepOperations step = step("Qwen3-32B", 4, "8q1s1k");
    assertThat(
            step.summary().stream().map(op -> op.count() + " " + op.role() + " " + op.call().key()))
        .containsExactly(
            "1 embedding embedding t=8 h=5120",
            "1 input_norm rms_norm t=8 h=5120",
            "64 qkv gemm m=8 n=2560 k=5120",
            "64 qk_norm_rope qk_norm_rope t=8 heads=16:2:128 norm=true",
            "64 kv_cache_write kv_cache_write t=8 kv=2 d=128",
            "64 attention paged_attention batch=8q1s1k heads=16:2:128 causal page=16",
            "64 o gemm m=8 n=5120 k=2048",
            "64 post_attention_norm fused_add_rms_norm t=8 h=5120",
            "64 gate_up gemm m=8 n=12800 k=5120",
            "64 silu_and_mul silu_and_mul t=8 f=6400",
            "64 down gemm m=8 n=5120 k=6400",
            "63 input_norm fused_add_rms_norm t=8 h=5120",
            "1 final_norm fused_add_rms_norm t=8 h=5120",
            "1 lm_head gemm m=8 n=37984 k=5120",
            "1 sampler argmax t=8 v=37984");
  }

  @Test
  void aPrefillGathersTheRowsThatNeedLogits() {
    StepOperations step = step("Qwen3-0.6B", 1, "2q1k");
    assertThat(step.after().stream().map(op -> op.role() + " " + op.call().key()))
        .containsExactly(
            "final_norm fused_add_rms_norm t=2048 h=1024",
            "logits_rows embedding t=2 h=1024",
            "lm_head gemm m=2 n=151936 k=1024",
            "sampler argmax t=2 v=151936");
  }

  @Test
  void attentionIsPagedUnlessNothingWasCached() {
    assertThat(attention("q1k_q512")).isInstanceOf(FmhaPrefill.class);
    assertThat(attention("8q1s1k")).isInstanceOf(PagedAttention.class);
    assertThat(attention("q1ks4k")).isInstanceOf(PagedAttention.class);
    assertThat(attention("4q1k_16q1s2k")).isInstanceOf(PagedAttention.class);
  }

  private static KernelCall attention(String batch) {
    return step("Qwen3-0.6B", 1, batch).layer().get(4).call();
  }

  @Test
  void countsTheKernels() {
    assertThat(step("Qwen3-0.6B", 1, "8q1s1k").kernels()).isEqualTo(1 + 28 * 10 + 3);
    assertThat(step("Qwen3-0.6B", 1, "q512").kernels()).isEqualTo(1 + 28 * 10 + 4);
  }

  @Test
  void onlyTheFirstLayerHasNoResidualToAdd() {
    StepOperations step = step("Qwen3-0.6B", 1, "q8");
    assertThat(step.firstLayer().get(0).call()).isInstanceOf(RmsNorm.class);
    assertThat(step.firstLayer().subList(1, 10)).isEqualTo(step.layer().subList(1, 10));
    assertThat(step.inOrder().stream().filter(op -> op.call() instanceof RmsNorm)).hasSize(1);
  }

  @Test
  void biasesAndNormsFollowTheFamily() {
    BatchSpec batch = BatchSpec.prefill(1, 4);
    List<Operation> qwen2 =
        StepOperations.of(ModelConfigs.small(Family.QWEN2, false).layout(1), batch, 16).layer();
    assertThat(qwen2.get(1).call().shape()).endsWith("bias=true");
    assertThat(qwen2.get(2).call().shape()).endsWith("norm=false");
    assertThat(qwen2.get(5).call().shape()).doesNotContain("bias");
    List<Operation> llama =
        StepOperations.of(ModelConfigs.small(Family.LLAMA, true).layout(1), batch, 16).layer();
    assertThat(llama.get(1).call().shape()).endsWith("bias=true");
    assertThat(llama.get(5).call().shape()).endsWith("bias=true");
  }

  @Property(tries = 50)
  void orderSummaryCountAndWorkAgree(
      @ForAll @IntRange(min = 1, max = 4) int requests,
      @ForAll @IntRange(min = 1, max = 64) int q,
      @ForAll @IntRange(max = 64) int cached) {
    StepOperations step =
        StepOperations.of(
            ModelConfigs.small(Family.QWEN3, false).layout(2),
            BatchSpec.uniform(requests, q, q + cached),
            16);
    assertThat(step.inOrder()).hasSize(step.kernels());
    assertThat(step.summary().stream().mapToInt(Operation::count).sum()).isEqualTo(step.kernels());
    Work sum = Work.NONE;
    for (Operation op : step.inOrder()) {
      sum = sum.plus(op.work(2));
    }
    assertThat(step.work(2)).isEqualTo(sum);
  }

  @Test
  void refusesAContextThatTheModelCannotHold() {
    assertThatThrownBy(() -> step("Qwen3-0.6B", 1, "q1s40961"))
        .hasMessageContaining("40961 tokens are more than Qwen3-0.6B can hold (40960)");
    assertThat(step("Qwen3-0.6B", 1, "q1s40960").batch().maxKv()).isEqualTo(40960);
  }

  @Test
  void anOperationOccursAtLeastOnce() {
    assertThatThrownBy(() -> new Operation("o", new Gemm(1, 1, 1), 0))
        .hasMessageContaining("o occurs at least once");
    assertThat(new Operation("o", new Gemm(1, 2, 3), 4).work(2))
        .isEqualTo(new Work(4 * 12, 4 * 11 * 2));
  }
}
