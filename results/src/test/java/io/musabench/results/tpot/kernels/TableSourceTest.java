package io.musabench.results.tpot.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.ElementType;
import io.musabench.results.model.HeadGeometry;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.KernelCall.AllGather;
import io.musabench.results.model.KernelCall.AllReduce;
import io.musabench.results.model.KernelCall.FmhaPrefill;
import io.musabench.results.model.KernelCall.Gemm;
import io.musabench.results.model.KernelCall.PagedAttention;
import io.musabench.results.model.KernelCall.RmsNorm;
import io.musabench.results.model.Mask;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Provenance;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Times, errors and roofs of small tables, worked out by hand. */
class TableSourceTest {
  private static final HeadGeometry HEADS = new HeadGeometry(32, 8, 128);

  private final TableSource.Builder builder = new TableSource.Builder("test");

  private void add(KernelCall call, double us, double error) {
    builder.add(call, Precision.BF16, us / 1e6, error, Provenance.MEASURED, "test");
  }

  private void add(KernelCall call, double us) {
    add(call, us, Double.NaN);
  }

  private static KernelCall prefill(String batch) {
    return new FmhaPrefill(BatchSpec.parse(batch), HEADS, Mask.CAUSAL);
  }

  private static KernelCall paged(String batch) {
    return new PagedAttention(BatchSpec.parse(batch), HEADS, Mask.CAUSAL, 16);
  }

  private static void is(
      TableSource source, KernelCall call, double us, double error, String from) {
    KernelTime time = source.time(call, Precision.BF16).orElseThrow();
    assertThat(time.seconds() * 1e6).isCloseTo(us, within(1e-6));
    assertThat(time.relativeError()).isCloseTo(error, within(1e-5));
    assertThat(time.from()).isEqualTo(from);
  }

  @Test
  void repeatsTellTheErrorOfAMeasurement() {
    add(new Gemm(8, 64, 32), 100);
    add(new Gemm(8, 64, 32), 110);
    add(new Gemm(16, 64, 32), 205);
    TableSource source = builder.build(DeviceRoofs.UNKNOWN);
    // 10 of 105 apart: over 0.6745 and √2.
    is(source, new Gemm(8, 64, 32), 105, 0.09984, "test");
    is(source, new Gemm(16, 64, 32), 205, 0.09984, "test");
    // and a tenth for what lies between two points of which nothing is known.
    is(source, new Gemm(12, 64, 32), 155, Math.hypot(0.09984, 0.1), "test: between sizes");
  }

  @Test
  void anErrorThatIsGivenCountsUnlessRepeatsLieFurtherApart() {
    add(new Gemm(8, 64, 32), 100, 0.01);
    add(new Gemm(8, 64, 32), 110, 0);
    add(new Gemm(16, 64, 32), 205, 0.03);
    add(new Gemm(32, 64, 32), 400);
    TableSource source = builder.build(DeviceRoofs.UNKNOWN);
    // Interquartile range 5 of 105, over 2 · 0.6745.
    is(source, new Gemm(8, 64, 32), 105, 0.0353, "test");
    is(source, new Gemm(16, 64, 32), 205, 0.03, "test");
    // The median of 0.01, 0 and 0.03.
    is(source, new Gemm(32, 64, 32), 400, 0.01, "test");
  }

  @Test
  void withoutRepeatsTheErrorIsAssumed() {
    add(new Gemm(8, 64, 32), 100);
    add(new Gemm(16, 64, 32), 200);
    TableSource source = builder.build(DeviceRoofs.UNKNOWN);
    is(source, new Gemm(8, 64, 32), 100, 0.05, "test");
    is(source, new Gemm(12, 64, 32), 150, Math.sqrt(0.01 / 1.5 + 0.01), "test: between sizes");
  }

  @Test
  void aTimeSaysAlongWhatThePointsWereLeft() {
    for (int n : new int[] {64, 128}) {
      add(new Gemm(8, n, 32), 100, 0);
      add(new Gemm(16, n, 32), 200, 0);
    }
    TableSource source = builder.build(DeviceRoofs.UNKNOWN);
    is(source, new Gemm(8, 96, 32), 100, 0.1, "test: between shapes");
    is(source, new Gemm(12, 96, 32), 150, Math.sqrt(0.02), "test: between sizes, between shapes");
    assertThat(source.time(new Gemm(12, 96, 64), Precision.BF16).orElseThrow().from())
        .isEqualTo("test: between sizes, between shapes, utilisation held");
  }

  @Test
  void aMixedBatchIsItsTwoPartsWithTheirErrorsTogether() {
    builder.add(paged("2q1s1k"), Precision.BF16, 10e-6, 0.1, Provenance.MEASURED, "a.csv");
    builder.add(prefill("q512"), Precision.BF16, 30e-6, 0.02, Provenance.MEASURED, "b.csv");
    TableSource source = builder.build(DeviceRoofs.UNKNOWN);
    // The prefill is looked up, with the median of both errors: (10 · 0.1 + 30 · 0.06) / 40.
    is(source, paged("q512_2q1s1k"), 40, 0.07, "decodes a.csv; others b.csv");
    assertThat(source.time(paged("q512_2q1s1k"), Precision.BF16).orElseThrow().provenance())
        .isEqualTo(Provenance.INTERPOLATED);
  }

  @Test
  void aChunkReadsItsPrefixOverTheMemoryBusWhereThatTakesLonger() {
    add(prefill("q2"), 5);
    // 3.4e10 FLOPs in 200 us: 1.7e14 a second.
    add(prefill("q2k"), 200);
    DeviceRoofs roofs =
        new DeviceRoofs(
            1000, Map.of(ElementType.BF16, 200.0), Double.NaN, Double.NaN, Provenance.DATA_SHEET);
    TableSource source = builder.build(roofs);
    // 100,000 cached tokens of 8 heads of 128 + 128 values of 2 bytes: 409.6 MB at 1 TB/s. The
    // FLOPs of 200,000 pairs would take 19 us.
    assertThat(source.time(paged("q2s100002"), Precision.BF16).orElseThrow().seconds() * 1e6)
        .isCloseTo(414.6, within(1e-6));
  }

  @Test
  void theLinkCarriesAtLeastWhatACollectiveMovedOverIt() {
    AllReduce reduce = new AllReduce(1_000_000, 4);
    add(reduce, 30);
    DeviceRoofs byReduce = builder.build(DeviceRoofs.UNKNOWN).roofs();
    // Each rank sends 2 · 3/4 of 2 MB.
    assertThat(byReduce.linkGbPerS()).isCloseTo(100, within(1e-9));
    assertThat(byReduce.seconds(reduce, Precision.BF16)).isCloseTo(30e-6, within(1e-15));
    AllGather gather = new AllGather(1_000_000, 4);
    add(gather, 10);
    DeviceRoofs byGather = builder.build(DeviceRoofs.UNKNOWN).roofs();
    assertThat(byGather.linkGbPerS()).isCloseTo(150, within(1e-9));
    assertThat(byGather.seconds(gather, Precision.BF16)).isCloseTo(10e-6, within(1e-15));
    DeviceRoofs given =
        new DeviceRoofs(Double.NaN, Map.of(), 50, Double.NaN, Provenance.DATA_SHEET);
    assertThat(builder.build(given).roofs().linkGbPerS()).isEqualTo(50);
  }

  @Test
  void aDeviceReachesAtLeastWhatItsKernelsDid() {
    Gemm wide = new Gemm(1, 1000, 1000);
    Gemm deep = new Gemm(1000, 1000, 1000);
    add(wide, 2);
    add(deep, 20);
    DeviceRoofs roofs = builder.build(DeviceRoofs.UNKNOWN).roofs();
    // 2 · (1000 + 10⁶ + 1000) bytes in 2 us, 2 · 10⁹ FLOPs in 20 us.
    assertThat(roofs.readGbPerS()).isCloseTo(1002, within(1e-9));
    assertThat(roofs.tflopPerS(ElementType.BF16)).isCloseTo(100, within(1e-9));
    assertThat(roofs.tflopPerS(ElementType.FP8)).isNaN();
  }

  @Test
  void kernelsThatMoveRowsGrowWithThemBeyondThePoints() {
    add(new RmsNorm(8, 1000), 10, 0);
    TableSource source = builder.build(DeviceRoofs.UNKNOWN);
    is(source, new RmsNorm(16, 1000), 20, 0.3, "test: utilisation held");
    is(source, new RmsNorm(8, 3000), 30, 0.3, "test: utilisation held");
  }

  @Test
  void timesBelowTheRoofAreCounted() {
    Gemm gemm = new Gemm(1, 1000, 1000);
    add(gemm, 1.002 / 2);
    DeviceRoofs roofs =
        new DeviceRoofs(
            2004, Map.of(ElementType.BF16, 100.0), Double.NaN, Double.NaN, Provenance.DATA_SHEET);
    assertThat(builder.build(roofs).remarks())
        .singleElement()
        .asString()
        .startsWith("test: 1 of 1 times of gemm are shorter than the roofs allow, the shortest by")
        .contains(" 50 %;");
  }

  @Test
  void theDeviceIsNamedWhereItIsKnown() {
    assertThat(builder.build(DeviceRoofs.UNKNOWN).device()).isEmpty();
    builder.device("MTT S5000");
    assertThat(builder.build(DeviceRoofs.UNKNOWN).device()).hasValue("MTT S5000");
  }
}
