package io.musabench.bindings.kernels.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.kernels.AttentionOptions;
import io.musabench.bindings.kernels.reference.AttentionReference.Heads;
import io.musabench.bindings.kernels.reference.AttentionReference.Result;
import io.musabench.bindings.kernels.reference.AttentionReference.Row;
import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** The reference itself, against values worked out by hand and against the definitions. */
class ReferenceTest {
  private static final AttentionOptions FULL = new AttentionOptions(1, false, -1, -1, 0);

  @Property(tries = 300)
  void visibleKeysShouldFollowTheDefinition(
      @ForAll @IntRange(max = 9) int queries,
      @ForAll @IntRange(max = 9) int keys,
      @ForAll boolean causal,
      @ForAll @IntRange(min = -1, max = 6) int left,
      @ForAll @IntRange(min = -1, max = 6) int right) {
    AttentionOptions options = new AttentionOptions(1, causal, left, right, 0);
    int effectiveRight = causal ? 0 : right;
    for (int i = 0; i < queries; i++) {
      int first = options.firstKey(i, queries, keys);
      int end = options.endKey(i, queries, keys);
      for (int j = 0; j < keys; j++) {
        int own = i + keys - queries;
        boolean visible =
            (left < 0 || j >= own - left) && (effectiveRight < 0 || j <= own + effectiveRight);
        assertThat(j >= first && j < end).isEqualTo(visible);
      }
    }
  }

  @Test
  void attentionShouldAverageValuesByTheSoftmaxOfTheScores() {
    // scores ln 1 and ln 3: weights 1/4 and 3/4
    float[] k = {0, (float) Math.log(3)};
    float[] v = {8, 4};
    Row row =
        AttentionReference.row(
            new float[] {1},
            0,
            1,
            2,
            0,
            AttentionReference.dense(k, 0, 1, 1),
            AttentionReference.dense(v, 0, 1, 1),
            1,
            FULL);
    assertThat(row.out()[0]).isCloseTo(5, within(1e-6));
    assertThat(row.lse()).isCloseTo(Math.log(4), within(1e-6));
  }

  @Test
  void softcapShouldBoundTheScores() {
    float[] k = {100};
    Row row =
        AttentionReference.row(
            new float[] {1},
            0,
            1,
            1,
            0,
            AttentionReference.dense(k, 0, 1, 1),
            AttentionReference.dense(k, 0, 1, 1),
            1,
            FULL.withSoftcap(5));
    assertThat(row.lse()).isCloseTo(5, within(1e-9));
  }

  @Test
  void aQueryWithoutKeysShouldGiveZero() {
    Result result =
        AttentionReference.dense(
            new float[] {1, 1, 1},
            new float[] {1},
            new float[] {7},
            1,
            3,
            1,
            new Heads(1, 1, 1, 1),
            new AttentionOptions(1, true, -1, -1, 0));
    assertThat(result.out()).containsExactly(0, 0, 7);
    assertThat(result.lse()).containsExactly(Double.NEGATIVE_INFINITY, Double.NEGATIVE_INFINITY, 1);
  }

  @Test
  void denseVarlenAndPagedShouldAgree() {
    Heads heads = new Heads(4, 2, 6, 6);
    AttentionOptions options = AttentionOptions.causal(6).withWindow(3, 0);
    int queries = 3;
    int keys = 8;
    float[] q = RandomFill.values(1, 0, 2 * queries * 4 * 6, 1);
    float[] k = RandomFill.values(2, 0, 2 * keys * 2 * 6, 1);
    float[] v = RandomFill.values(3, 0, 2 * keys * 2 * 6, 1);
    Result dense = AttentionReference.dense(q, k, v, 2, queries, keys, heads, options);
    int[] cuQ = {0, queries, 2 * queries};
    Result varlen =
        AttentionReference.varlen(q, k, v, cuQ, new int[] {0, keys, 2 * keys}, heads, options);
    // pages of 4: the cache is the keys in order, so the table counts up
    Result paged =
        AttentionReference.paged(
            q, k, v, new int[] {0, 1, 2, 3}, 4, new int[] {keys, keys}, cuQ, heads, options);
    assertThat(varlen.out()).containsExactly(dense.out());
    assertThat(paged.out()).containsExactly(dense.out());
    assertThat(paged.lse()).containsExactly(varlen.lse());
    assertThat(varlen.lse()[1 * 6 + 4]).isEqualTo(dense.lse()[(1 * 4 + 1) * 3 + 1]);
  }

  @Test
  void layerFunctionsShouldGiveValuesWorkedOutByHand() {
    assertThat(LayerReference.gemm(new float[] {1, 2, 3, 4}, new float[] {5, 6}, null, 2, 1, 2))
        .containsExactly(17, 39);
    assertThat(LayerReference.rmsNorm(new float[] {3, 4}, new float[] {1, 2}, 0))
        .containsExactly(new double[] {3 / Math.sqrt(12.5), 8 / Math.sqrt(12.5)}, within(1e-12));
    assertThat(LayerReference.siluAndMul(new float[] {0, 1, 5, 2}))
        .containsExactly(new double[] {0, 2 / (1 + Math.exp(-1))}, within(1e-12));
    assertThat(LayerReference.argmax(new float[] {1, 3, 3, 2})).isEqualTo(1);
    // a quarter turn: (x, y) becomes (-y, x)
    assertThat(LayerReference.normRope(new float[] {2, 3}, null, new float[] {0, 1}, 0))
        .containsExactly(-3, 2);
    assertThat(LayerReference.addResidual(new float[] {1}, new float[] {1 / 512f}, DType.BF16))
        .containsExactly(1f);
    float[] table = LayerReference.cosSinTable(2, 2, 1e4);
    assertThat(table).containsExactly(1, 0, (float) Math.cos(1), (float) Math.sin(1));
  }

  @Test
  void randomFillShouldBeNormalAndDependOnSeedAndIndex() {
    float[] values = RandomFill.values(7, 0, 100_000, 2);
    double mean = 0;
    double square = 0;
    for (float value : values) {
      mean += value / values.length;
      square += value * value / values.length;
    }
    assertThat(mean).isCloseTo(0, within(0.03));
    assertThat(Math.sqrt(square)).isCloseTo(2, within(0.03));
    assertThat(RandomFill.values(8, 0, 100_000, 2)).isNotEqualTo(values);
    assertThat(RandomFill.values(7, 10, 5, 2)).isEqualTo(Arrays.copyOfRange(values, 10, 15));
    assertThat(RandomFill.value(7, 1L << 32, 2)).isNotEqualTo(values[0]);
    // Pinned: every implementation must give these.
    assertThat(RandomFill.value(0, 0, 1)).isEqualTo(-510 / 147.8f);
  }
}
