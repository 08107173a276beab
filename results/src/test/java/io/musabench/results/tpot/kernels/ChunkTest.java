package io.musabench.results.tpot.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.ElementType;
import io.musabench.results.model.HeadGeometry;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.KernelCall.FmhaPrefill;
import io.musabench.results.model.KernelCall.PagedAttention;
import io.musabench.results.model.Mask;
import io.musabench.results.model.Precision;
import io.musabench.results.stats.Stats;
import io.musabench.results.tpot.Provenance;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Attention over chunks after a cached prefix, of which no table has points. */
class ChunkTest {
  private static final HeadGeometry HEADS = new HeadGeometry(32, 8, 128);

  /** Data sheet of the RTX 4090: 1008 GB/s, 165 TFLOP/s in bf16 with fp32 accumulation. */
  private static final DeviceRoofs RTX_4090 =
      new DeviceRoofs(
          1008, Map.of(ElementType.BF16, 165.2), Double.NaN, 24e9, Provenance.DATA_SHEET);

  private static void add(TableSource.Builder builder, KernelCall call, double us) {
    builder.add(call, Precision.BF16, us / 1e6, 0.01, Provenance.MEASURED, "test");
  }

  private static KernelCall prefill(String batch) {
    return new FmhaPrefill(BatchSpec.parse(batch), HEADS, Mask.CAUSAL);
  }

  private static KernelCall paged(String batch) {
    return new PagedAttention(BatchSpec.parse(batch), HEADS, Mask.CAUSAL, 16);
  }

  private static double us(KernelSource source, KernelCall call) {
    return source.time(call, Precision.BF16).orElseThrow().seconds() * 1e6;
  }

  @Test
  void aChunkIsAPrefillOfItsTokensAndItsPairsWithThePrefixAtTheBestRate() {
    TableSource.Builder builder = new TableSource.Builder("test");
    add(builder, prefill("q1k"), 200);
    // The best rate: 4 times the work of 1k in 3 times the time.
    add(builder, prefill("q2k"), 600);
    add(builder, paged("q1s3k"), 10);
    KernelSource source = builder.build(RTX_4090);
    // 1024 x 2048 pairs are as many as a prefill of 2048 tokens has.
    assertThat(us(source, paged("q1ks3k"))).isCloseTo(800, within(0.01));
    KernelTime time = source.time(paged("q1ks3k"), Precision.BF16).orElseThrow();
    assertThat(time.provenance()).isEqualTo(Provenance.EXTRAPOLATED);
    assertThat(time.relativeError()).isEqualTo(0.25);
    assertThat(time.from()).isEqualTo("test: a chunk after a cached prefix");
  }

  @Test
  void itIsNeverFasterThanADecodeOverTheSameContexts() {
    TableSource.Builder builder = new TableSource.Builder("test");
    add(builder, prefill("8q5"), 5);
    add(builder, prefill("q2k"), 336);
    add(builder, paged("8q1s1000"), 40);
    assertThat(us(builder.build(RTX_4090), paged("8q5s1000"))).isCloseTo(40, within(1e-9));
  }

  @Test
  void oneOfTheTwoTablesIsEnough() {
    TableSource.Builder prefills = new TableSource.Builder("test");
    add(prefills, prefill("q1k"), 200);
    assertThat(us(prefills.build(RTX_4090), paged("q1ks2k"))).isCloseTo(600, within(0.01));
    TableSource.Builder decodes = new TableSource.Builder("test");
    add(decodes, paged("q1s2k"), 900);
    assertThat(us(decodes.build(RTX_4090), paged("q1ks2k"))).isCloseTo(900, within(1e-9));
  }

  /** Measured by LLMServingSim under vLLM; the rows without decodes. */
  @Test
  void chunksOnAnRtx4090AreMetWithinAFifth() {
    TableSource.Builder builder = new TableSource.Builder("test");
    record Row(String batch, int tokens, double us) {}
    List<Row> chunks = new ArrayList<>();
    CsvFile.rows(
        SharedTables.chunkedAttention(),
        List.of("prefill_chunk", "kv_prefill", "n_decode", "kv_decode", "time_us"),
        row -> {
          int chunk = (int) row.number("prefill_chunk");
          int cached = (int) row.number("kv_prefill");
          int decodes = (int) row.number("n_decode");
          double us = row.positive("time_us");
          if (chunk == 0) {
            add(builder, paged(decodes + "q1s" + row.count("kv_decode")), us);
          } else if (decodes == 0 && cached == 0) {
            add(builder, prefill("q" + chunk), us);
          } else if (decodes == 0) {
            chunks.add(new Row("q" + chunk + "s" + (chunk + cached), chunk, us));
          }
        });
    KernelSource source = builder.build(RTX_4090);
    assertThat(chunks).hasSize(88);
    assertThat(
            median(
                chunks.stream().map(r -> new double[] {us(source, paged(r.batch)), r.us}).toList()))
        .isLessThan(0.20);
    assertThat(
            median(
                chunks.stream()
                    .filter(r -> r.tokens >= 128)
                    .map(r -> new double[] {us(source, paged(r.batch)), r.us})
                    .toList()))
        .isLessThan(0.15);
  }

  private static double median(List<double[]> pairs) {
    return Stats.median(pairs.stream().mapToDouble(p -> Math.abs(p[0] / p[1] - 1)).toArray());
  }
}
