package io.musabench.results.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.DoubleRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class StatsTest {
  private static final double[] OUTLIER = {10, 11, 12, 13, 100};

  @Test
  void theDocumentedNumbersAreRight() {
    assertThat(Stats.median(OUTLIER)).isEqualTo(12);
    assertThat(Stats.quantile(OUTLIER, 0.9)).isCloseTo(65.2, within(1e-9));
    assertThat(Stats.iqr(OUTLIER)).isEqualTo(2);
    assertThat(Stats.mad(OUTLIER)).isEqualTo(1);
    assertThat(Stats.mean(OUTLIER)).isCloseTo(29.2, within(1e-9));
    assertThat(Stats.relativeStandardError(OUTLIER)).isCloseTo(0.606, within(0.0005));
  }

  /** Quantiles of Student's t over those of a normal distribution, from tables. */
  @Test
  void aStandardErrorOfFewValuesIsMadeWider() {
    assertThat(Stats.widening(1, 0.9)).isCloseTo(6.3138 / 1.64485, within(1e-4));
    assertThat(Stats.widening(4, 0.9)).isCloseTo(2.1318 / 1.64485, within(1e-4));
    assertThat(Stats.widening(2, 0.95)).isCloseTo(4.3027 / 1.95996, within(1e-4));
    assertThat(Stats.widening(100_000, 0.9)).isCloseTo(1, within(1e-4));
  }

  @Test
  void summaryHoldsTheSameNumbers() {
    Summary s = Summary.of(OUTLIER);
    assertThat(s.n()).isEqualTo(5);
    assertThat(s.min()).isEqualTo(10);
    assertThat(s.p10()).isCloseTo(10.4, within(1e-9));
    assertThat(s.median()).isEqualTo(12);
    assertThat(s.p90()).isCloseTo(65.2, within(1e-9));
    assertThat(s.max()).isEqualTo(100);
    assertThat(s.iqr()).isEqualTo(2);
    assertThat(s.mad()).isEqualTo(1);
    assertThat(s.mean()).isCloseTo(29.2, within(1e-9));
    assertThat(s.relativeStandardError()).isEqualTo(Stats.relativeStandardError(OUTLIER));
  }

  @Test
  void theMedianOfAnEvenCountLiesBetweenTheMiddleTwo() {
    assertThat(Stats.median(4, 1, 3, 2)).isEqualTo(2.5);
  }

  @Test
  void oneValueHasNoSpreadAndAnUnknownError() {
    Summary s = Summary.of(7);
    assertThat(s.median()).isEqualTo(7);
    assertThat(s.p90()).isEqualTo(7);
    assertThat(s.iqr()).isZero();
    assertThat(s.mad()).isZero();
    assertThat(s.relativeStandardError()).isNaN();
  }

  @Test
  void theErrorIsRelativeToTheSizeOfTheMean() {
    // s = sqrt(2), n = 2: standard error 1
    assertThat(Stats.relativeStandardError(9, 11)).isCloseTo(0.1, within(1e-12));
    assertThat(Stats.relativeStandardError(-9, -11)).isCloseTo(0.1, within(1e-12));
    assertThat(Stats.relativeStandardError(-1, 1)).isNaN();
    assertThat(Stats.relativeStandardError(3, 3, 3)).isZero();
  }

  static Stream<Arguments> statistics() {
    return Stream.<ToDoubleFunction<double[]>>of(
            Stats::median,
            Stats::iqr,
            Stats::mad,
            Stats::mean,
            Stats::relativeStandardError,
            s -> Stats.quantile(s, 0.5),
            s -> Stats.bootstrapMedian(s, 0.95, 10, 1).low(),
            s -> Summary.of(s).median())
        .map(Arguments::of);
  }

  @ParameterizedTest
  @MethodSource("statistics")
  void everyStatisticRefusesAnEmptySampleAndWhatIsNotANumber(ToDoubleFunction<double[]> statistic) {
    assertThatThrownBy(() -> statistic.applyAsDouble(new double[0]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at least one value");
    assertThatThrownBy(() -> statistic.applyAsDouble(new double[] {1, Double.NaN}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Value 1 of the sample is NaN");
    assertThatThrownBy(() -> statistic.applyAsDouble(new double[] {Double.POSITIVE_INFINITY, 1}))
        .hasMessageContaining("Value 0 of the sample is Infinity");
  }

  @ParameterizedTest
  @MethodSource("statistics")
  void noStatisticChangesItsSample(ToDoubleFunction<double[]> statistic) {
    double[] sample = {5, 3, 9, 1, 7};
    statistic.applyAsDouble(sample);
    assertThat(sample).containsExactly(5, 3, 9, 1, 7);
  }

  @Property
  void quantilesMatchTheDefinitionAndRise(
      @ForAll("samples") double[] sample, @ForAll @DoubleRange(max = 1) double p) {
    double[] sorted = sample.clone();
    Arrays.sort(sorted);
    double position = (sample.length - 1) * p;
    int below = (int) Math.floor(position);
    int above = Math.min(below + 1, sample.length - 1);
    double expected = sorted[below] + (position - below) * (sorted[above] - sorted[below]);
    assertThat(Stats.quantile(sample, p)).isCloseTo(expected, within(1e-6));
    assertThat(Stats.quantile(sample, p)).isGreaterThanOrEqualTo(Stats.quantile(sample, p / 2));
    assertThat(Stats.quantile(sample, 0.5)).isCloseTo(Stats.median(sample), within(1e-9));
  }

  @Property
  void aChangeOfUnitScalesTheSpreadAndLeavesTheRelativeError(@ForAll("samples") double[] sample) {
    double[] scaled = Arrays.stream(sample).map(x -> 1000 * x).toArray();
    assertThat(Stats.median(scaled)).isCloseTo(1000 * Stats.median(sample), within(1e-6));
    assertThat(Stats.mad(scaled)).isCloseTo(1000 * Stats.mad(sample), within(1e-6));
    assertThat(Stats.iqr(scaled)).isCloseTo(1000 * Stats.iqr(sample), within(1e-6));
    if (sample.length > 1) {
      assertThat(Stats.relativeStandardError(scaled))
          .isCloseTo(Stats.relativeStandardError(sample), within(1e-9));
    }
  }

  @Property
  void oneWildValueMovesTheMedianNoFurtherThanItsNeighbours(@ForAll("samples") double[] sample) {
    double[] wild = sample.clone();
    wild[0] = 1e9;
    double[] sorted = sample.clone();
    Arrays.sort(sorted);
    int n = sorted.length;
    double most = sorted[Math.min(n - 1, n / 2 + 1)];
    if (n > 2) {
      assertThat(Stats.median(wild)).isBetween(Stats.median(sample), most);
    }
  }

  @Property(tries = 100)
  void theBootstrapIntervalStaysInsideTheSampleAndHoldsItsMedian(
      @ForAll("samples") double[] sample, @ForAll long seed) {
    Interval interval = Stats.bootstrapMedian(sample, 0.95, 400, seed);
    Summary s = Summary.of(sample);
    assertThat(interval.low()).isBetween(s.min(), s.max());
    assertThat(interval.high()).isBetween(s.min(), s.max());
    assertThat(interval.level()).isEqualTo(0.95);
    // Odd sizes only: of an even one, the median is no order statistic and may fall outside.
    if (sample.length % 2 == 1) {
      assertThat(interval.contains(s.median())).isTrue();
    }
  }

  @Provide
  Arbitrary<double[]> samples() {
    return Arbitraries.doubles()
        .between(1, 1000)
        .ofScale(3)
        .array(double[].class)
        .ofMinSize(1)
        .ofMaxSize(40);
  }

  @Test
  void theSameSeedGivesTheSameIntervalAndAnotherSeedAnother() {
    double[] sample = new Random(1).doubles(30).toArray();
    Interval first = Stats.bootstrapMedian(sample, 0.9, 500, 42);
    assertThat(Stats.bootstrapMedian(sample, 0.9, 500, 42)).isEqualTo(first);
    assertThat(Stats.bootstrapMedian(sample, 0.9, 500, 43)).isNotEqualTo(first);
  }

  @Test
  void theIntervalHoldsTheTrueMedianAboutAsOftenAsItClaims() {
    Random random = new Random(20260101);
    int held = 0;
    int trials = 400;
    for (int t = 0; t < trials; t++) {
      double[] sample = random.doubles(25).toArray();
      if (Stats.bootstrapMedian(sample, 0.9, 500, t).contains(0.5)) {
        held++;
      }
    }
    // 90 % claimed; 3 standard errors of 400 trials are 4.5 %, the method itself is off by ~2 %.
    assertThat(held / (double) trials).isBetween(0.84, 0.96);
  }

  @Test
  void aHigherLevelGivesAWiderInterval() {
    double[] sample = new Random(2).doubles(30).toArray();
    Interval narrow = Stats.bootstrapMedian(sample, 0.5, 2000, 1);
    Interval wide = Stats.bootstrapMedian(sample, 0.99, 2000, 1);
    assertThat(wide.low()).isLessThan(narrow.low());
    assertThat(wide.high()).isGreaterThan(narrow.high());
  }

  @Test
  void refusesImpossibleLevelsAndCounts() {
    for (double level : new double[] {0, 1, -0.1, 1.1, Double.NaN}) {
      assertThatThrownBy(() -> Stats.bootstrapMedian(OUTLIER, level, 10, 1))
          .hasMessageContaining("level");
    }
    assertThatThrownBy(() -> Stats.bootstrapMedian(OUTLIER, 0.9, 0, 1))
        .hasMessageContaining("resample");
    assertThat(Stats.bootstrapMedian(OUTLIER, 0.9, 1, 1).low()).isBetween(10.0, 100.0);
  }

  @Test
  void anIntervalHoldsItsEndsAndIsNotUpsideDown() {
    Interval interval = new Interval(1, 2, 0.9);
    assertThat(interval.contains(1)).isTrue();
    assertThat(interval.contains(2)).isTrue();
    assertThat(interval.contains(0.999)).isFalse();
    assertThat(interval.contains(2.001)).isFalse();
    assertThat(new Interval(1, 1, 0.9).contains(1)).isTrue();
    assertThatThrownBy(() -> new Interval(2, 1, 0.9)).hasMessageContaining("upside down");
    assertThatThrownBy(() -> new Interval(Double.NaN, 1, 0.9)).hasMessageContaining("upside down");
  }

  @Test
  void varianceOfMedianIsThatOfAllResamples() {
    double[] sample = {13, 100, 10, 12, 11};
    double[] medians = new double[5 * 5 * 5 * 5 * 5];
    for (int r = 0; r < medians.length; r++) {
      double[] resample = new double[5];
      for (int i = 0, rest = r; i < 5; i++, rest /= 5) {
        resample[i] = sample[rest % 5];
      }
      medians[r] = Stats.median(resample);
    }
    double all = Stats.variance(medians) * (medians.length - 1) / medians.length;
    assertThat(Stats.varianceOfMedian(sample)).isCloseTo(all, within(1e-9 * all));
    assertThat(Stats.varianceOfMedian(1, 3)).isCloseTo(1, within(1e-12));
    assertThat(Stats.varianceOfMedian(5)).isZero();
    assertThat(Stats.varianceOfMedian(5, 5, 5)).isZero();
  }

  @Test
  void varianceOfMedianOfManyValuesIsTheAsymptoticOne() {
    int n = 20_001;
    double[] exponential = new double[n];
    for (int i = 0; i < n; i++) {
      exponential[i] = -Math.log1p(-(i + 0.5) / n);
    }
    // 1 / (4 n f²) with the density f = 1/2 that the exponential distribution has at its median.
    assertThat(Stats.varianceOfMedian(exponential)).isCloseTo(1.0 / n, within(0.01 / n));
  }

  @Test
  void varianceDividesByOneLess() {
    assertThat(Stats.variance(1, 2, 3, 4)).isCloseTo(5.0 / 3, within(1e-12));
    assertThat(Stats.variance(3)).isZero();
  }
}
