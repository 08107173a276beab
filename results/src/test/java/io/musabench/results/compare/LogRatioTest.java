package io.musabench.results.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.stats.Interval;
import io.musabench.results.stats.Stats;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LogRatioTest {
  private static List<ForkMedian> forks(double... medians) {
    return Arrays.stream(medians).mapToObj(ForkMedian::of).toList();
  }

  @Test
  void equalsWelchsIntervalWhereAForkIsOneValue() {
    // scipy.stats.ttest_ind([ln 10.2, ln 10.1, ln 10.4, ln 10.3], [ln 10, ln 9.9, ln 10.1, ln 10],
    // equal_var=False)
    LogRatio ratio = LogRatio.ofForks(forks(10, 9.9, 10.1, 10), forks(10.2, 10.1, 10.4, 10.3));
    assertThat(ratio.value() / ratio.standardError()).isCloseTo(3.285331, within(1e-6));
    assertThat(ratio.degreesOfFreedom()).isCloseTo(5.142916, within(1e-6));
    assertThat(ratio.tail(0)).isCloseTo(0.02093834, within(1e-8));
  }

  @Test
  void swappingTheSidesTurnsTheRatioOver() {
    List<ForkMedian> a = forks(10, 9.9, 10.1, 10);
    List<ForkMedian> b = forks(10.2, 10.1, 10.4, 10.3, 10.2);
    LogRatio ab = LogRatio.ofForks(a, b);
    LogRatio ba = LogRatio.ofForks(b, a);
    assertThat(ab.ratio() * ba.ratio()).isCloseTo(1, within(1e-12));
    Interval there = ab.ratio(0.95);
    Interval back = ba.ratio(0.95);
    assertThat(there.low() * back.high()).isCloseTo(1, within(1e-12));
  }

  @Test
  void theClosedFormIsTheVarianceOfAHierarchicalBootstrap() {
    SplittableRandom random = new SplittableRandom(20261129);
    int forks = 6;
    int samples = 61;
    double[][] values = new double[forks][samples];
    for (double[] fork : values) {
      double shift = 0.005 * random.nextGaussian();
      for (int i = 0; i < samples; i++) {
        fork[i] = 100 * Math.exp(shift + 0.005 * random.nextGaussian());
      }
    }
    int resamples = 10_000;
    double[] means = new double[resamples];
    double[] draw = new double[samples];
    for (int r = 0; r < resamples; r++) {
      double sum = 0;
      for (int f = 0; f < forks; f++) {
        double[] fork = values[random.nextInt(forks)];
        for (int i = 0; i < samples; i++) {
          draw[i] = fork[random.nextInt(samples)];
        }
        sum += Math.log(Stats.median(draw));
      }
      means[r] = sum / forks;
    }
    List<ForkMedian> medians = Arrays.stream(values).map(ForkMedian::of).toList();
    double[] logs = medians.stream().mapToDouble(ForkMedian::log).toArray();
    double between = Stats.variance(logs) / forks;
    // A bootstrap divides by n where the spread of few forks wants n - 1; that is the difference.
    double plain = Centre.of(medians).variance() - between / forks;
    assertThat(Stats.variance(means)).isCloseTo(plain, within(0.05 * plain));
  }

  @Test
  void pairsCancelWhatBothShare() {
    List<Double> pairs = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 10; i++) {
      double drift = random.nextGaussian();
      pairs.add(drift + 0.03 + 0.001 * random.nextGaussian() - drift);
    }
    LogRatio ratio = LogRatio.ofPairs(pairs.stream().mapToDouble(Double::doubleValue).toArray());
    assertThat(ratio.value()).isCloseTo(0.03, within(0.001));
    assertThat(ratio.degreesOfFreedom()).isEqualTo(9);
    assertThat(ratio.standardError()).isLessThan(0.001);
  }

  @Test
  void turnsCancelWhatChangesWhileAPairRuns() {
    SplittableRandom random = new SplittableRandom(8);
    List<ForkMedian> first = new ArrayList<>();
    List<ForkMedian> second = new ArrayList<>();
    for (int pair = 0; pair < 6; pair++) {
      int turns = 21;
      double[] turn = new double[turns];
      double[] a = new double[turns];
      double[] b = new double[turns];
      // Everything takes 40 % longer from some turn on; one side sees a turn more of it.
      int change = 1 + random.nextInt(turns - 1);
      for (int i = 0; i < turns; i++) {
        turn[i] = i + 1;
        a[i] = i < change ? 100 : 140;
        b[i] = 1.03 * (i < change - 1 ? 100 : 140);
      }
      first.add(ForkMedian.of(a, turn));
      second.add(ForkMedian.of(b, turn));
    }
    LogRatio ratio = Pairs.of(first, second).ratio();
    assertThat(ratio.value()).isCloseTo(Math.log(1.03), within(1e-9));
    assertThat(ratio.standardError()).isLessThan(1e-9);
  }

  @Test
  void onlyTurnsThatBothHadAreHeldAgainstEachOther() {
    ForkMedian first = ForkMedian.of(new double[] {10, 10, 20}, new double[] {1, 1, 2});
    ForkMedian second = ForkMedian.of(new double[] {22, 30, 30}, new double[] {2, 3, 3});
    assertThat(Pairs.of(List.of(first), List.of(second)).logRatios())
        .containsExactly(Math.log(22) - Math.log(20));
    ForkMedian without = ForkMedian.of(11, 11);
    assertThat(Pairs.of(List.of(first), List.of(without)).logRatios())
        .containsExactly(Math.log(11) - Math.log(10));
  }

  @Test
  void forksThatAgreeToTheLastBitAreCertain() {
    LogRatio ratio = LogRatio.ofForks(forks(10, 10, 10, 10), forks(11, 11, 11, 11));
    assertThat(ratio.tail(0.01)).isZero();
    assertThat(ratio.tail(0.2)).isEqualTo(1);
    assertThat(ratio.tail(ratio.value())).isEqualTo(1);
    assertThat(ratio.degreesOfFreedom()).isEqualTo(6);
    assertThat(ratio.ratio(0.95).low()).isEqualTo(ratio.ratio(0.95).high());
  }

  @Test
  void otherNumbersOfForksScaleTheErrorAndTheDegreesOfFreedom() {
    LogRatio four = LogRatio.ofForks(forks(9, 10, 11, 12), forks(9, 10, 11, 12));
    assertThat(four.degreesOfFreedom()).isCloseTo(6, within(1e-12));
    LogRatio sixteen = four.withForks(16);
    assertThat(sixteen.standardError()).isCloseTo(four.standardError() / 2, within(1e-15));
    assertThat(sixteen.degreesOfFreedom()).isCloseTo(30, within(1e-12));
    assertThat(sixteen.value()).isEqualTo(four.value());
    assertThat(sixteen.forks()).isEqualTo(16);
  }

  @Test
  void twoForksAreEnoughForASpread() {
    // Both logs lie ln(1.1)/2 from their mean: s = ln(1.1)/√2, and over √2 for the mean of two.
    assertThat(LogRatio.ofForks(forks(1, 1), forks(1, 1.1)).standardError())
        .isCloseTo(Math.log(1.1) / 2, within(1e-12));
    assertThat(LogRatio.ofPairs(0, 0.1).standardError()).isCloseTo(0.05, within(1e-12));
  }

  @Test
  void oneForkIsRefused() {
    assertThatThrownBy(() -> LogRatio.ofForks(forks(1), forks(1, 1)))
        .hasMessageContaining("spread of forks");
    assertThatThrownBy(() -> LogRatio.ofPairs(0.1)).hasMessageContaining("spread of pairs");
  }

  @Test
  void aTimeIsAPositiveNumber() {
    for (double bad : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> ForkMedian.of(1, bad)).hasMessageContaining("not a positive number");
    }
  }
}
