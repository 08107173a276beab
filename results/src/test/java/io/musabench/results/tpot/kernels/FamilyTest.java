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
import io.musabench.results.model.KernelCall.KvCacheWrite;
import io.musabench.results.model.KernelCall.PagedAttention;
import io.musabench.results.model.KernelCall.QkNormRope;
import io.musabench.results.model.KernelCall.TopK;
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

  /** So slow that FLOPs always decide. */
  private static final DeviceRoofs SLOW =
      new DeviceRoofs(
          3000,
          Map.of(ElementType.BF16, 0.01, ElementType.FP8, 0.02),
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
    for (DeviceRoofs roofs : List.of(ROOFS, SLOW)) {
      double table = p.family().roof(roofs).at(p.a(), p.b(), p.y(), p.x());
      double work = roofs.seconds(call, precision);
      assertThat(table).isCloseTo(work, within(work * tolerance));
    }
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
  void rowsLieAtTheirWidth() {
    HeadGeometry heads = new HeadGeometry(8, 2, 192, 128);
    Place rope = place(new QkNormRope(5, heads, false), Precision.BF16);
    assertThat(rope.family()).isEqualTo(new Family(Kind.ROPE, Precision.BF16));
    assertThat(rope.a()).isEqualTo(10 * 192);
    assertThat(rope.x()).isEqualTo(5);
    assertThat(place(new QkNormRope(5, heads, true), Precision.BF16).family().kind())
        .isEqualTo(Kind.QK_NORM_ROPE);
    assertThat(place(new KvCacheWrite(5, heads), Precision.BF16).a()).isEqualTo(2 * (192 + 128));
    Place topk = place(new TopK(5, 128, 8), Precision.BF16);
    assertThat(topk)
        .isEqualTo(new Place(new Family(Kind.TOPK, 8, 0, 0, Precision.BF16), 128, 1, 1, 5, 0));
  }

  @Test
  void onlyTypesThatMatterTellFamiliesApart() {
    Precision cache = new Precision(ElementType.BF16, ElementType.BF16, ElementType.FP8);
    assertThat(place(new Gemm(1, 2, 3), FP8).family().precision()).hasToString("fp8/bf16/bf16");
    assertThat(place(new Gemm(1, 2, 3), cache).family().precision()).hasToString("bf16");
    HeadGeometry heads = new HeadGeometry(8, 2, 128);
    assertThat(place(new KvCacheWrite(5, heads), FP8).family().precision()).isEqualTo(cache);
  }

  private static Family decode(int head, int page, Precision precision) {
    return new Family(Kind.DECODE_ATTENTION, head, head, page, precision);
  }

  @Test
  void typesTellMoreThanHeadsAndHeadsMoreThanPages() {
    Family family = decode(128, 16, Precision.BF16);
    assertThat(family.distance(family)).isZero();
    assertThat(family.distance(decode(128, 0, Precision.BF16))).isEqualTo(0.01);
    // ln(33 / 17) and, for either side of a head, ln(129 / 65).
    assertThat(family.distance(decode(128, 32, Precision.BF16))).isCloseTo(1.66329, within(1e-5));
    assertThat(family.distance(decode(64, 16, Precision.BF16))).isCloseTo(13.70851, within(1e-5));
    assertThat(family.distance(decode(64, 32, Precision.BF16)))
        .isCloseTo(13.70851 + 1.66329, within(1e-5));
    Precision cache = new Precision(ElementType.BF16, ElementType.BF16, ElementType.FP8);
    assertThat(family.distance(decode(128, 16, cache))).isCloseTo(100, within(1e-9));
    // Three types of another name and the same size; then two of another size.
    assertThat(family.distance(decode(128, 16, Precision.uniform(ElementType.FP16))))
        .isCloseTo(30, within(1e-9));
    assertThat(family.distance(decode(128, 16, FP8))).isCloseTo(200, within(1e-9));
  }

  @Test
  void aTimeOfAnUnknownPageAnswersEveryPage() {
    Family family = decode(128, 16, Precision.BF16);
    assertThat(family.answeredBy(family)).isTrue();
    assertThat(family.answeredBy(decode(128, 0, Precision.BF16))).isTrue();
    assertThat(family.answeredBy(decode(128, 32, Precision.BF16))).isFalse();
    assertThat(family.answeredBy(decode(64, 16, Precision.BF16))).isFalse();
    assertThat(family.answeredBy(decode(128, 16, FP8))).isFalse();
  }

  @Test
  void familiesOfOneKindAreToldApartInWords() {
    assertThat(decode(128, 16, Precision.BF16).describe()).isEqualTo("d=128 page=16 bf16");
    assertThat(new Family(Kind.PREFILL_ATTENTION, 192, 128, 0, FP8).describe())
        .isEqualTo("d=192/128 fp8/bf16/fp8");
    assertThat(new Family(Kind.EXPERTS, 128, 8, 0, Precision.BF16).describe())
        .isEqualTo("experts=128 k=8 bf16");
    assertThat(new Family(Kind.TOPK, 8, 0, 0, Precision.BF16).describe()).isEqualTo("bf16");
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
