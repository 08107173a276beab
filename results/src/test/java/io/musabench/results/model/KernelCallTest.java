package io.musabench.results.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.KernelCall.AllGather;
import io.musabench.results.model.KernelCall.AllReduce;
import io.musabench.results.model.KernelCall.Argmax;
import io.musabench.results.model.KernelCall.Embedding;
import io.musabench.results.model.KernelCall.FmhaPrefill;
import io.musabench.results.model.KernelCall.FusedAddRmsNorm;
import io.musabench.results.model.KernelCall.FusedExperts;
import io.musabench.results.model.KernelCall.Gemm;
import io.musabench.results.model.KernelCall.KvCacheWrite;
import io.musabench.results.model.KernelCall.PagedAttention;
import io.musabench.results.model.KernelCall.QkNormRope;
import io.musabench.results.model.KernelCall.RmsNorm;
import io.musabench.results.model.KernelCall.SiluAndMul;
import io.musabench.results.model.KernelCall.TopK;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Small shapes counted by hand, two bytes an element unless said. */
class KernelCallTest {
  private static final HeadGeometry HEADS = new HeadGeometry(4, 2, 8);

  @Test
  void keysNameKernelAndShape() {
    BatchSpec batch = BatchSpec.parse("8q1s1k");
    assertThat(new Embedding(3, 16).key()).isEqualTo("embedding t=3 h=16");
    assertThat(new RmsNorm(3, 16).key()).isEqualTo("rms_norm t=3 h=16");
    assertThat(new FusedAddRmsNorm(3, 16).key()).isEqualTo("fused_add_rms_norm t=3 h=16");
    assertThat(new QkNormRope(3, HEADS, true).key())
        .isEqualTo("qk_norm_rope t=3 heads=4:2:8 norm=true");
    assertThat(new KvCacheWrite(3, HEADS).key()).isEqualTo("kv_cache_write t=3 kv=2 d=8");
    assertThat(new KvCacheWrite(3, new HeadGeometry(4, 2, 8, 4)).key())
        .isEqualTo("kv_cache_write t=3 kv=2 d=8/4");
    assertThat(new FmhaPrefill(batch, HEADS, Mask.FULL).key())
        .isEqualTo("fmha_prefill batch=8q1s1k heads=4:2:8 full");
    assertThat(new PagedAttention(batch, HEADS, Mask.CAUSAL, 16).key())
        .isEqualTo("paged_attention batch=8q1s1k heads=4:2:8 causal page=16");
    assertThat(new Gemm(3, 5, 7).key()).isEqualTo("gemm m=3 n=5 k=7");
    assertThat(new Gemm(3, 5, 7, true).key()).isEqualTo("gemm m=3 n=5 k=7 bias=true");
    assertThat(new SiluAndMul(3, 16).key()).isEqualTo("silu_and_mul t=3 f=16");
    assertThat(new Argmax(3, 16).key()).isEqualTo("argmax t=3 v=16");
  }

  @Test
  void onlyCollectivesCommunicate() {
    assertThat(new AllReduce(8, 2).communicates()).isTrue();
    assertThat(new AllGather(8, 2).communicates()).isTrue();
    assertThat(new Gemm(3, 5, 7).communicates()).isFalse();
  }

  @Test
  void kernelsOfAStepAreKnownByName() {
    assertThat(KernelCall.isKnown("topk_softmax")).isTrue();
    assertThat(KernelCall.isKnown("topk")).isFalse();
  }

  @Test
  void topKReadsLogitsAndWritesAWeightAndAnIndexForEachChoice() {
    assertThat(new TopK(3, 16, 2).work(2)).isEqualTo(new Work(5 * 48, 48 * 2 + 3 * 2 * (4 + 4)));
  }

  @Test
  void expertsReadTheirWeightsOnceAndTheValuesOfEachChoice() {
    // Three tokens to all of four experts: 12 rows of three products of 16 x 8.
    FusedExperts experts = new FusedExperts(3, 16, 8, 4, 4);
    long flops = 12 * (2 * 3 * 16 * 8 + 5 * 8 + 2 * 16);
    long weights = 4 * 3 * 16 * 8;
    long values = 3 * 2 * 16 + 12 * 3 * 8;
    assertThat(experts.work(2)).isEqualTo(new Work(flops, 2 * (weights + values)));
    Precision fp8 = new Precision(ElementType.FP8, ElementType.BF16, ElementType.BF16);
    assertThat(experts.work(fp8)).isEqualTo(new Work(flops, weights + 2 * values));
    assertThat(experts.arithmetic(fp8)).isEqualTo(ElementType.FP8);
    assertThat(experts.arithmetic(Precision.BF16)).isEqualTo(ElementType.BF16);
  }

  @Test
  void embeddingReadsAndWritesARowATokenAndReadsItsIndex() {
    assertThat(new Embedding(3, 16).work(2)).isEqualTo(new Work(0, 2 * 3 * 16 * 2 + 3 * 4));
  }

  @Test
  void rmsNormReadsAndWritesEachElementAndReadsTheWeight() {
    assertThat(new RmsNorm(3, 16).work(2)).isEqualTo(new Work(4 * 48, (2 * 48 + 16) * 2));
  }

  @Test
  void fusedNormReadsTwoTensorsAndWritesTwo() {
    assertThat(new FusedAddRmsNorm(3, 16).work(2)).isEqualTo(new Work(5 * 48, (4 * 48 + 16) * 2));
  }

  @Test
  void ropeTouchesQueriesAndKeysOnly() {
    long elements = 3 * (4 + 2) * 8;
    long tables = 3 * 8 * 4 + 3 * 4;
    assertThat(new QkNormRope(3, HEADS, false).work(2))
        .isEqualTo(new Work(3 * elements, 2 * elements * 2 + tables));
    assertThat(new QkNormRope(3, HEADS, true).work(2))
        .isEqualTo(new Work(7 * elements, (2 * elements + 2 * 8) * 2 + tables));
  }

  @Test
  void cacheWriteCopiesKeysAndValues() {
    assertThat(new KvCacheWrite(3, HEADS).work(2))
        .isEqualTo(new Work(0, 2 * (3 * 2 * 16) * 2 + 3 * 8));
    assertThat(new KvCacheWrite(3, new HeadGeometry(4, 2, 8, 4)).work(2))
        .isEqualTo(new Work(0, 2 * (3 * 2 * 12) * 2 + 3 * 8));
  }

  @Test
  void gemmReadsBothOperandsAndWritesTheResult() {
    assertThat(new Gemm(3, 5, 7).work(2))
        .isEqualTo(new Work(2 * 3 * 5 * 7, (3 * 7 + 5 * 7 + 3 * 5) * 2));
    assertThat(new Gemm(3, 5, 7, true).work(2))
        .isEqualTo(new Work(2 * 3 * 5 * 7 + 3 * 5, (3 * 7 + 5 * 7 + 3 * 5 + 5) * 2));
    assertThat(new Gemm(3, 5, 7).work(1).bytes()).isEqualTo(3 * 7 + 5 * 7 + 3 * 5);
  }

  @Test
  void largeGemmsDoNotOverflow() {
    Work work = new Gemm(65536, 151936, 8192).work(2);
    assertThat(work.flops()).isEqualTo(163_140_037_771_264L);
    assertThat(work.bytes()).isEqualTo(2 * (65536L * 8192 + 151936L * 8192 + 65536L * 151936));
  }

  @Test
  void activationReadsTwoAndWritesOne() {
    assertThat(new SiluAndMul(3, 16).work(2)).isEqualTo(new Work(5 * 48, 3 * 48 * 2));
  }

  @Test
  void argmaxReadsEveryLogit() {
    assertThat(new Argmax(3, 16).work(2)).isEqualTo(new Work(48, 48 * 2 + 3 * 4));
  }

  @Test
  void fullAttentionSeesEveryKey() {
    BatchSpec batch = BatchSpec.parse("q3s5");
    Work work = new FmhaPrefill(batch, HEADS, Mask.FULL).work(2);
    assertThat(work.flops()).isEqualTo(2 * 4 * (8 + 8) * 3 * 5);
    assertThat(work.bytes()).isEqualTo((3 * 4 * 16 + 5 * 2 * 16) * 2);
  }

  @Test
  void causalAttentionSeesTheAverageButReadsEveryKey() {
    BatchSpec batch = BatchSpec.parse("q3s5");
    Work work = new FmhaPrefill(batch, HEADS, Mask.CAUSAL).work(2);
    // average of 2 and 5 keys
    assertThat(work.flops()).isEqualTo((long) (2 * 4 * (8 + 8) * 3 * 3.5));
    assertThat(work.bytes()).isEqualTo((3 * 4 * 16 + 5 * 2 * 16) * 2);
  }

  @Test
  void aDecodeSeesEveryKeyWhateverTheMask() {
    BatchSpec batch = BatchSpec.parse("2q1s100");
    assertThat(new FmhaPrefill(batch, HEADS, Mask.CAUSAL).work(2))
        .isEqualTo(new FmhaPrefill(batch, HEADS, Mask.FULL).work(2));
    assertThat(new FmhaPrefill(batch, HEADS, Mask.CAUSAL).work(2).flops())
        .isEqualTo(4 * 4 * 8 * 200);
  }

  @Test
  void keysAndValuesMayDifferInSize() {
    Work work =
        new FmhaPrefill(BatchSpec.parse("q3s5"), new HeadGeometry(4, 2, 8, 4), Mask.FULL).work(2);
    assertThat(work.flops()).isEqualTo(2 * 4 * 12 * 15);
    assertThat(work.bytes()).isEqualTo((3 * 4 * 12 + 5 * 2 * 12) * 2);
  }

  @Test
  void pagedAttentionAlsoReadsThePageTable() {
    BatchSpec batch = BatchSpec.parse("q1s32_q1s33");
    Work paged = new PagedAttention(batch, HEADS, Mask.CAUSAL, 16).work(2);
    Work flat = new FmhaPrefill(batch, HEADS, Mask.CAUSAL).work(2);
    assertThat(paged.flops()).isEqualTo(flat.flops());
    assertThat(paged.bytes()).isEqualTo(flat.bytes() + 4 * (2 + 3));
    assertThatThrownBy(() -> new PagedAttention(batch, HEADS, Mask.CAUSAL, 0))
        .hasMessageContaining("at least 1 token");
    assertThat(new PagedAttention(batch, HEADS, Mask.CAUSAL, 1).work(2).bytes())
        .isEqualTo(flat.bytes() + 4 * 65);
  }

  @Property
  void causalFlopsAreTheExactCountWithinHalfAPairAQuery(
      @ForAll @IntRange(min = 2, max = 300) int q, @ForAll @IntRange(max = 300) int cached) {
    long exact = 0;
    for (int i = 1; i <= q; i++) {
      exact += cached + i;
    }
    Work work = new FmhaPrefill(BatchSpec.uniform(1, q, q + cached), HEADS, Mask.CAUSAL).work(2);
    double pairs = work.flops() / (2.0 * 4 * 16);
    assertThat(pairs).isCloseTo(exact - q / 2.0, within(1e-9));
  }

  @Property
  void chunksOfAPrefillDoTheFlopsOfTheWhole(
      @ForAll @IntRange(min = 2, max = 500) int first,
      @ForAll @IntRange(min = 2, max = 500) int second) {
    HeadGeometry heads = new HeadGeometry(8, 2, 64);
    int all = first + second;
    Work whole = new FmhaPrefill(BatchSpec.prefill(1, all), heads, Mask.CAUSAL).work(2);
    Work a = new FmhaPrefill(BatchSpec.prefill(1, first), heads, Mask.CAUSAL).work(2);
    Work b = new FmhaPrefill(BatchSpec.uniform(1, second, all), heads, Mask.CAUSAL).work(2);
    assertThat(a.plus(b).flops()).isEqualTo(whole.flops());
  }

  @Test
  void workIsAddedMultipliedAndTurnedIntoRates() {
    Work work = new Work(10, 20);
    assertThat(work.plus(new Work(1, 2))).isEqualTo(new Work(11, 22));
    assertThat(work.times(3)).isEqualTo(new Work(30, 60));
    assertThat(new Work(0, 5_000_000_000L).gbPerS(2)).isEqualTo(2.5);
    assertThat(new Work(5_000_000_000_000L, 0).tflopPerS(2)).isEqualTo(2.5);
    assertThatThrownBy(() -> new Work(-1, 0)).hasMessageContaining("negative");
    assertThatThrownBy(() -> new Work(0, -1)).hasMessageContaining("negative");
    assertThatThrownBy(() -> new Work(Long.MAX_VALUE, 0).times(2))
        .isInstanceOf(ArithmeticException.class);
    assertThatThrownBy(() -> new Work(0, Long.MAX_VALUE).plus(work))
        .isInstanceOf(ArithmeticException.class);
  }
}
