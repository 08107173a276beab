package io.musabench.results.tpot.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.ElementType;
import io.musabench.results.model.HeadGeometry;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.KernelCall.FmhaPrefill;
import io.musabench.results.model.KernelCall.FusedExperts;
import io.musabench.results.model.KernelCall.Gemm;
import io.musabench.results.model.KernelCall.PagedAttention;
import io.musabench.results.model.Mask;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.kernels.Family.Kind;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class FamilyTest {
  private static final DeviceRoofs ROOFS =
      new DeviceRoofs(
          3000,
          Map.of(ElementType.BF16, 900.0, ElementType.FP8, 1800.0),
          400,
          80e9,
          Provenance.DATA_SHEET);

  private static final Precision FP8 =
      new Precision(ElementType.FP8, ElementType.BF16, ElementType.FP8);

  private static Place place(KernelCall call, Precision precision) {
    return Place.of(call, precision);
  }

  /** The table's own formula and the work of the call agree to a relative {@code tolerance}. */
  private static void agree(KernelCall call, Precision precision, double tolerance) {
    Place p = place(call, precision);
    double table = p.family().roof(ROOFS).at(p.a(), p.b(), p.y(), p.x());
    double work = ROOFS.seconds(call, precision);
    assertThat(table).isCloseTo(work, within(work * tolerance));
  }

  @Property
  void theRoofOfAProductIsThatOfItsWork(
      @ForAll @IntRange(min = 1, max = 9000) int m,
      @ForAll @IntRange(min = 1, max = 9000) int n,
      @ForAll @IntRange(min = 1, max = 9000) int k,
      @ForAll boolean fp8) {
    agree(new Gemm(m, n, k), fp8 ? FP8 : Precision.BF16, 1e-9);
  }

  @Property
  void theRoofOfAttentionIsThatOfItsWork(
      @ForAll @IntRange(min = 1, max = 300) int requests,
      @ForAll @IntRange(min = 2, max = 9000) int length,
      @ForAll @IntRange(min = 1, max = 8) int kv,
      @ForAll @IntRange(min = 1, max = 8) int group,
      @ForAll boolean fp8) {
    HeadGeometry heads = new HeadGeometry(kv * group, kv, 192, 128);
    Precision precision = fp8 ? FP8 : Precision.BF16;
    // A page of this size adds 4 bytes to many thousands.
    agree(
        new PagedAttention(BatchSpec.decode(requests, length), heads, Mask.CAUSAL, 1 << 20),
        precision,
        1e-2);
    agree(
        new FmhaPrefill(BatchSpec.prefill(requests, length), heads, Mask.CAUSAL), precision, 1e-9);
    agree(new FmhaPrefill(BatchSpec.prefill(requests, length), heads, Mask.FULL), precision, 1e-9);
  }

  @Property
  void theRoofOfExpertsIsThatOfTheirWork(
      @ForAll @IntRange(min = 1, max = 9000) int tokens,
      @ForAll @IntRange(min = 2, max = 200) int experts,
      @ForAll boolean fp8) {
    // The activation and the weighted sum, which the table's formula leaves out, are below 1 %.
    agree(
        new FusedExperts(tokens, 4096, 1536, experts, Math.min(8, experts)),
        fp8 ? FP8 : Precision.BF16,
        1e-2);
  }

  @Test
  void unequalPrefillsLieWhereAsMuchWorkIs() {
    HeadGeometry heads = new HeadGeometry(8, 1, 128);
    BatchSpec batch = BatchSpec.parse("q100_q300");
    Place p = place(new FmhaPrefill(batch, heads, Mask.CAUSAL), Precision.BF16);
    assertThat(p.y() * p.x()).isCloseTo(400, within(1e-9));
    assertThat(p.y() * p.x() * p.x()).isCloseTo(100 * 100 + 300 * 300, within(1e-6));
    assertThat(p.axes()).isEqualTo(Axis.SIZE.bit());
  }

  @Test
  void unequalDecodesLieAtTheirMeanContext() {
    HeadGeometry heads = new HeadGeometry(8, 1, 128);
    BatchSpec batch = BatchSpec.parse("2q1s100_q1s400");
    Place p = place(new PagedAttention(batch, heads, Mask.CAUSAL, 16), Precision.BF16);
    assertThat(p.family().kind()).isEqualTo(Kind.DECODE_ATTENTION);
    assertThat(p.y()).isEqualTo(3);
    assertThat(p.x()).isEqualTo(200);
    assertThat(p.axes()).isEqualTo(Axis.SIZE.bit());
  }

  @Test
  void chunksAfterACachedPrefixHaveNoPlace() {
    HeadGeometry heads = new HeadGeometry(8, 1, 128);
    for (String batch : List.of("q1ks4k", "8q5s1000", "q1k_q1s100")) {
      assertThat(
              place(
                  new PagedAttention(BatchSpec.parse(batch), heads, Mask.CAUSAL, 16),
                  Precision.BF16))
          .isNull();
    }
  }
}
