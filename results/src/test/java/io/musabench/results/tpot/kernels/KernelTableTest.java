package io.musabench.results.tpot.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.kernels.TimeCurve.Blend;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class KernelTableTest {
  /** A device of 1 byte and 10 FLOPs a second; b is a byte count that no FLOPs go with. */
  private static final KernelTable.Roof ROOF =
      (a, b, y, x) -> Math.max(y * (a * b + a * x + b * x), y * a * b * x / 10);

  private static KernelTable table(Blend blend, double[]... points) {
    KernelTable.Builder builder = new KernelTable.Builder();
    for (double[] p : points) {
      builder.add(p[0], p[1], p[2], p[3], p[4]);
    }
    return builder.build(blend, ROOF);
  }

  @Test
  void aPointThatWasMeasuredIsReturnedAsItIs() {
    KernelTable table =
        table(Blend.LINEAR, new double[] {2, 3, 1, 5, 70}, new double[] {2, 3, 1, 9, 99});
    Found found = table.at(2, 3, 1, 9);
    assertThat(found.seconds()).isEqualTo(99);
    assertThat(found.provenance()).isEqualTo(Provenance.MEASURED);
  }

  @Test
  void repeatsCountAsTheirMedian() {
    KernelTable.Builder builder = new KernelTable.Builder();
    for (double t : new double[] {10, 30, 11}) {
      builder.add(1, 1, 1, 1, t);
    }
    // The longest less the shortest, over the median.
    assertThat(builder.repeats()).containsExactly(20 / 11.0);
    assertThat(builder.build(Blend.LINEAR, ROOF).at(1, 1, 1, 1).seconds()).isEqualTo(11);
    builder.add(1, 1, 1, 1, 20);
    assertThat(builder.build(Blend.LINEAR, ROOF).at(1, 1, 1, 1).seconds()).isEqualTo(15.5);
  }

  @Test
  void aMatrixBetweenOthersInOneDirectionLiesOnTheirLineAndInTwoBetweenBothLines() {
    KernelTable table =
        table(
            Blend.LINEAR,
            new double[] {20, 100, 1, 1, 10_000},
            new double[] {20, 400, 1, 1, 40_000},
            new double[] {10, 200, 1, 1, 12_000},
            new double[] {30, 200, 1, 1, 36_000});
    assertThat(table.at(20, 250, 1, 1).seconds()).isCloseTo(25_000, within(1e-9));
    assertThat(table.at(15, 200, 1, 1).seconds()).isCloseTo(18_000, within(1e-9));
    // 20,000 by the one line and 24,000 by the other.
    Found both = table.at(20, 200, 1, 1);
    assertThat(both.seconds()).isCloseTo(22_000, within(1e-9));
    assertThat(both.provenance()).isEqualTo(Provenance.INTERPOLATED);
  }

  @Test
  void beyondTheLastMatrixItsOwnUtilisationIsHeld() {
    KernelTable table =
        table(
            Blend.LINEAR,
            new double[] {10, 10, 1, 1, 2 * ROOF.at(10, 10, 1, 1)},
            new double[] {20, 10, 1, 1, 4 * ROOF.at(20, 10, 1, 1)},
            new double[] {10, 20, 1, 1, 5 * ROOF.at(10, 20, 1, 1)});
    assertThat(table.at(40, 10, 1, 1).seconds()).isCloseTo(4 * ROOF.at(40, 10, 1, 1), within(1e-9));
    assertThat(table.at(10, 80, 1, 1).seconds()).isCloseTo(5 * ROOF.at(10, 80, 1, 1), within(1e-9));
  }

  @Test
  void theNearerOfTwoMatricesCountsMore() {
    KernelTable table =
        table(
            Blend.LINEAR,
            new double[] {10, 200, 1, 4, 2 * ROOF.at(10, 200, 1, 4)},
            new double[] {300, 20, 1, 4, 4 * ROOF.at(300, 20, 1, 4)});
    // Squares of the distances (ln 4)² + (ln 2)² = 2.402 and (ln 7.5)² + (ln 5)² = 6.650:
    // utilisation (0.5 / 2.402 + 0.25 / 6.650) / (1 / 2.402 + 1 / 6.650) of the roof of 4560.
    assertThat(table.at(40, 100, 1, 4).seconds()).isCloseTo(10515.232, within(0.001));
  }

  @Test
  void rowsOfATableAreHeldAgainstItsRoof() {
    KernelTable.Builder builder = new KernelTable.Builder();
    double[] times = {1, 1.5, 8, 4};
    for (int i = 0; i < times.length; i++) {
      builder.add(1, 1, 1, 1 << i, times[i]);
    }
    // Eight rows take 4, but the roof of four of them is 5.
    KernelTable table = builder.buildOfRows(Blend.LINEAR, (a, b, y, x) -> x == 4 ? 5 : 0.1 * x);
    assertThat(table.at(1, 1, 1, 4).seconds()).isEqualTo(5);
    assertThat(table.replaced()).isEqualTo(1);
  }

  @Test
  void aQuadraticKernelIsMetExactlyBetweenTwoSizes() {
    KernelTable table =
        table(
            Blend.SQUARE_ROOT,
            new double[] {1, 1, 1, 1000, 1e6},
            new double[] {1, 1, 1, 4000, 16e6});
    assertThat(table.at(1, 1, 1, 2000).seconds()).isCloseTo(4e6, within(1e-3));
  }

  @Test
  void theFloorAndTheRoofOfAProductAreMetExactlyBetweenFourMatrices() {
    for (KernelTable.Roof truth :
        List.<KernelTable.Roof>of(
            (a, b, y, x) -> 1e9, (a, b, y, x) -> 3 * (a * b + a * x + b * x))) {
      KernelTable.Builder builder = new KernelTable.Builder();
      for (double a : new double[] {10, 40}) {
        for (double b : new double[] {100, 300}) {
          for (double x : new double[] {1, 8}) {
            builder.add(a, b, 1, x, truth.at(a, b, 1, x));
          }
        }
      }
      Found found = builder.build(Blend.LINEAR, ROOF).at(20, 150, 1, 3);
      assertThat(found.seconds()).isCloseTo(truth.at(20, 150, 1, 3), within(1e-6));
      assertThat(found.provenance()).isEqualTo(Provenance.INTERPOLATED);
    }
  }

  @Test
  void theMissingCornerOfACellIsMadeFromTheOthers() {
    KernelTable table =
        table(
            Blend.LINEAR,
            new double[] {10, 10, 1, 1, 1000},
            new double[] {20, 10, 1, 1, 2000},
            new double[] {10, 20, 1, 1, 2000});
    Found found = table.at(15, 15, 1, 1);
    assertThat(found.seconds()).isCloseTo(2250, within(1e-9));
    assertThat(found.provenance()).isEqualTo(Provenance.EXTRAPOLATED);
  }

  @Test
  void beyondTheLargestSizeTheUtilisationIsHeld() {
    KernelTable table = table(Blend.LINEAR, new double[] {2, 3, 1, 5, 2 * ROOF.at(2, 3, 1, 5)});
    Found found = table.at(2, 3, 1, 500);
    assertThat(found.seconds()).isCloseTo(2 * ROOF.at(2, 3, 1, 500), within(1e-9));
    assertThat(found.provenance()).isEqualTo(Provenance.EXTRAPOLATED);
  }

  @Test
  void belowTheSmallestSizeNothingIsFasterThanTheFastestMeasured() {
    KernelTable table =
        table(Blend.LINEAR, new double[] {2, 3, 1, 100, 5000}, new double[] {50, 60, 1, 100, 9e4});
    assertThat(table.at(2, 3, 1, 1).seconds()).isEqualTo(5000);
    // The large matrix has room to shrink until there.
    assertThat(table.at(50, 60, 1, 1).seconds()).isBetween(5000.0, 9e4);
  }

  @Test
  void aSiteThatNothingBracketsTakesTheUtilisationOfTheNearest() {
    KernelTable table =
        table(
            Blend.LINEAR,
            new double[] {10, 200, 1, 4, 2 * ROOF.at(10, 200, 1, 4)},
            new double[] {300, 20, 1, 4, 2 * ROOF.at(300, 20, 1, 4)});
    Found found = table.at(50, 50, 1, 4);
    assertThat(found.seconds()).isCloseTo(2 * ROOF.at(50, 50, 1, 4), within(1e-6));
    assertThat(found.provenance()).isEqualTo(Provenance.EXTRAPOLATED);
  }

  @Test
  void leavingOneOutComparesEveryPointWithItsNeighbours() {
    KernelTable table =
        table(
            Blend.LINEAR,
            new double[] {1, 1, 1, 1, 100},
            new double[] {1, 1, 1, 2, 220},
            new double[] {1, 1, 1, 3, 300});
    LookupErrors errors = new LookupErrors(table);
    List<LookupError> list = errors.list("k");
    assertThat(list).extracting(LookupError::operation).containsExactly("k, size", "k, beyond");
    assertThat(list.get(0).points()).isEqualTo(1);
    assertThat(list.get(0).median()).isCloseTo(20 / 220.0, within(1e-12));
    assertThat(list)
        .allMatch(e -> e.reason().equals("fewer than 5 points can be left out"))
        .extracting(LookupError::sigma)
        .containsExactly(LookupErrors.UNKNOWN_INSIDE, LookupErrors.UNKNOWN_BEYOND);
  }

  /** Three batches at each of three matrices; {@code odd} is one more size of the middle batch. */
  private static Map<Axis, List<Double>> leftOut(double... odd) {
    KernelTable.Builder builder = new KernelTable.Builder();
    for (double a : new double[] {10, 20, 30}) {
      for (double y : new double[] {1, 2, 3}) {
        for (double x : new double[] {5, 6}) {
          builder.add(a, 1, y, x, 1e6 + a + 10 * y + x);
        }
      }
      for (double x : odd) {
        builder.add(a, 1, 2, x, 1e6 + a + 20 + x);
      }
    }
    Map<Axis, List<Double>> found = new EnumMap<>(Axis.class);
    builder
        .build(Blend.LINEAR, ROOF)
        .leaveOneOut(
            (axis, measured, lookedUp) ->
                found.computeIfAbsent(axis, x -> new ArrayList<>()).add(lookedUp - measured));
    return found;
  }

  @Test
  void batchesAndMatricesAreLeftOutWhole() {
    Map<Axis, List<Double>> found = leftOut();
    // Two sizes of three matrices in the middle batch, and of three batches in the middle matrix.
    assertThat(found.get(Axis.BATCH)).hasSize(6).allMatch(d -> Math.abs(d) < 1e-6);
    assertThat(found.get(Axis.SITE)).hasSize(6).allMatch(d -> Math.abs(d) < 1e-6);
    // The larger size of nine curves, and the last batch of three matrices with two sizes.
    assertThat(found.get(Axis.BEYOND)).hasSize(9 + 6);
    assertThat(found).doesNotContainKey(Axis.SIZE);
  }

  @Test
  void aSizeThatTheOtherBatchesDoNotReachTellsNothingOfBatches() {
    // 4 and 7 lie outside of the batches beside: only matrices and sizes tell of them.
    Map<Axis, List<Double>> found = leftOut(4, 7);
    assertThat(found.get(Axis.BATCH)).hasSize(6);
    assertThat(found.get(Axis.SITE)).hasSize(8);
    assertThat(found.get(Axis.SIZE)).hasSize(6).allMatch(d -> Math.abs(d) < 1e-6);
    assertThat(found.get(Axis.BEYOND)).hasSize(9 + 6);
  }

  @Test
  void anAxisAlongWhichNothingCanBeLeftOutHasItsReasonAndNoNumber() {
    KernelTable one = table(Blend.LINEAR, new double[] {1, 1, 1, 1, 100});
    assertThat(new LookupErrors(one).list("k"))
        .singleElement()
        .satisfies(
            e -> {
              assertThat(e.operation()).isEqualTo("k, beyond");
              assertThat(e.points()).isZero();
              assertThat(e.median()).isNaN();
              assertThat(e.p90()).isNaN();
              assertThat(e.known()).isFalse();
            });
    KernelTable two =
        table(Blend.LINEAR, new double[] {1, 1, 1, 1, 100}, new double[] {1, 1, 2, 1, 110});
    assertThat(new LookupErrors(two).list("k"))
        .extracting(LookupError::operation)
        .containsExactly("k, batch", "k, beyond");
  }

  @Test
  void theErrorOfALookUpIsTheMedianAsAStandardDeviation() {
    double[][] line = new double[8][];
    for (int i = 0; i < line.length; i++) {
      // Every other point is 10 % above a straight line.
      line[i] = new double[] {1, 1, 1, 100 + i, 1e6 * (100 + i) * (i % 2 == 0 ? 1 : 1.1)};
    }
    LookupErrors errors = new LookupErrors(table(Blend.LINEAR, line));
    LookupError size = errors.list("k").get(0);
    assertThat(size.known()).isTrue();
    assertThat(size.points()).isGreaterThanOrEqualTo(5);
    assertThat(size.median()).isBetween(0.08, 0.11);
    assertThat(size.sigma())
        .isEqualTo(errors.sigma(Axis.SIZE))
        .isCloseTo(size.median() / 0.6745, within(1e-12));
  }

  record Line(double[] x, double[] t) {}

  /** Any times at all, far above the roof of {@code (2, 3, 1, x)}. */
  @Provide
  Arbitrary<Line> lines() {
    Arbitrary<List<Double>> sizes =
        Arbitraries.doubles().between(1, 1e5).list().uniqueElements().ofMinSize(2).ofMaxSize(8);
    Arbitrary<List<Double>> times = Arbitraries.doubles().between(1e7, 1e9).list().ofSize(8);
    return Combinators.combine(sizes, times)
        .as(
            (x, t) ->
                new Line(
                    x.stream().mapToDouble(v -> v).sorted().toArray(),
                    t.stream().mapToDouble(v -> v).toArray()));
  }

  private static KernelTable table(Blend blend, Line line) {
    KernelTable.Builder builder = new KernelTable.Builder();
    for (int i = 0; i < line.x.length; i++) {
      builder.add(2, 3, 1, line.x[i], line.t[i]);
    }
    return builder.build(blend, ROOF);
  }

  @Property
  void betweenTwoPointsTheTimeStaysBetweenTheirs(
      @ForAll("lines") Line line,
      @ForAll @DoubleRange(min = 0, max = 1) double w,
      @ForAll Blend blend) {
    KernelTable table = table(blend, line);
    for (int i = 0; i + 1 < line.x.length; i++) {
      double x = line.x[i] + w * (line.x[i + 1] - line.x[i]);
      double low = Math.min(line.t[i], line.t[i + 1]);
      double high = Math.max(line.t[i], line.t[i + 1]);
      assertThat(table.at(2, 3, 1, x).seconds()).isBetween(low * (1 - 1e-12), high * (1 + 1e-12));
    }
  }

  @Property
  void outsideTheTimeNeverFallsWithTheSize(
      @ForAll("lines") Line line,
      @ForAll @Size(2) List<@DoubleRange(min = 1, max = 1000) Double> factors,
      @ForAll Blend blend) {
    KernelTable table = table(blend, line);
    double near = Math.min(factors.get(0), factors.get(1));
    double far = Math.max(factors.get(0), factors.get(1));
    double last = line.x[line.x.length - 1];
    assertThat(table.at(2, 3, 1, last * far).seconds())
        .isGreaterThanOrEqualTo(table.at(2, 3, 1, last * near).seconds());
    assertThat(table.at(2, 3, 1, line.x[0] / far).seconds())
        .isLessThanOrEqualTo(table.at(2, 3, 1, line.x[0] / near).seconds());
    // The same for batches and for both sides of a site.
    double x = line.x[0];
    for (List<double[]> pair :
        List.of(
            List.of(new double[] {2, 3, near}, new double[] {2, 3, far}),
            List.of(new double[] {2 * near, 3, 1}, new double[] {2 * far, 3, 1}),
            List.of(new double[] {2, 3 * near, 1}, new double[] {2, 3 * far, 1}))) {
      double[] seconds =
          pair.stream().mapToDouble(p -> table.at(p[0], p[1], p[2], x).seconds()).toArray();
      assertThat(seconds[1]).isGreaterThanOrEqualTo(seconds[0]);
    }
  }

  @Provide
  Arbitrary<List<Double>> utilisations() {
    return Arbitraries.doubles().between(0.01, 1).list().ofSize(24);
  }

  /** Two by two sites, two batches, three sizes, each at some part of the roof. */
  @Property
  void noLookUpIsFasterThanTheRoofIfNoPointIs(
      @ForAll("utilisations") List<Double> utilisations,
      @ForAll @DoubleRange(min = 1, max = 100) double a,
      @ForAll @DoubleRange(min = 1, max = 100) double b,
      @ForAll @DoubleRange(min = 1, max = 100) double y,
      @ForAll @DoubleRange(min = 1, max = 1000) double x,
      @ForAll Blend blend) {
    KernelTable.Builder builder = new KernelTable.Builder();
    int next = 0;
    for (double pa : new double[] {4, 30}) {
      for (double pb : new double[] {5, 50}) {
        for (double py : new double[] {2, 20}) {
          for (double px : new double[] {3, 40, 300}) {
            builder.add(pa, pb, py, px, ROOF.at(pa, pb, py, px) / utilisations.get(next++));
          }
        }
      }
    }
    double seconds = builder.build(blend, ROOF).at(a, b, y, x).seconds();
    assertThat(seconds).isGreaterThanOrEqualTo(ROOF.at(a, b, y, x) * (1 - 1e-9));
  }

  @Test
  void rowsFasterThanTheRoofAreKeptAndSaid() {
    KernelTable table =
        table(
            Blend.LINEAR,
            new double[] {2, 3, 1, 1, ROOF.at(2, 3, 1, 1) / 2},
            new double[] {2, 3, 1, 3, ROOF.at(2, 3, 1, 3)});
    assertThat(table.belowRoof()).containsExactly(0.5);
    assertThat(table.at(2, 3, 1, 1).seconds()).isEqualTo(ROOF.at(2, 3, 1, 1) / 2);
    assertThat(table.at(2, 3, 1, 2).seconds()).isLessThan(ROOF.at(2, 3, 1, 2));
  }

  @Test
  void aTimeThatMoreRowsOrPartsContradictIsReplaced() {
    double[] rows = {1, 2, 4, 8, 16};
    // 4 rows longer than 8; 16 rows longer than two times 8 by 20 %, which is left.
    TimeCurve curve = TimeCurve.ofRows(rows, new double[] {1, 1.5, 8, 4, 9.6}, x -> 0);
    assertThat(curve.replaced()).isEqualTo(1);
    assertThat(curve.seconds(2)).isEqualTo(3);
    assertThat(curve.measured(2)).isEqualTo(8);
    assertThat(curve.seconds(4)).isEqualTo(9.6);
    Found found = curve.at(4, Blend.LINEAR, x -> x, 0);
    assertThat(found.seconds()).isEqualTo(3);
    assertThat(found.provenance()).isEqualTo(Provenance.INTERPOLATED);
    assertThat(curve.at(8, Blend.LINEAR, x -> x, 0).provenance()).isEqualTo(Provenance.MEASURED);
    assertThat(TimeCurve.ofRows(rows, new double[] {1, 1.5, 8, 4, 9.6}, x -> 3.5).seconds(2))
        .isEqualTo(3.5);
    assertThat(TimeCurve.ofRows(rows, new double[] {1, 2, 4, 8, 16}, x -> 0).replaced()).isZero();
  }
}
