package io.musabench.results.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IntervalsTest {
  /** 95 % ranks of the binomial distribution; n + 1 is "beyond the maximum". */
  @ParameterizedTest
  @CsvSource({"100,97,101", "300,293,301", "1000,983,997", "5429,5360,5390"})
  void ranksAroundP99(long n, long low, long high) {
    assertThat(Intervals.percentileRanks(n, 99)).isEqualTo(new Intervals.Ranks(low, high));
  }

  @Test
  void theUpperBoundAppearsAt368() {
    assertThat(Intervals.percentileRanks(367, 99).high()).isEqualTo(368);
    assertThat(Intervals.percentileRanks(368, 99).high()).isEqualTo(368);
  }

  @Test
  void ranksOfAMillionAreFoundAtOnce() {
    Intervals.Ranks r = Intervals.percentileRanks(1_000_000, 99);
    // 0.99 n -+ 1.96 sqrt(n 0.99 0.01) = 990,000 -+ 195.01.
    assertThat(r.low()).isBetween(989_804L, 989_806L);
    assertThat(r.high()).isBetween(990_194L, 990_197L);
  }

  @Test
  void wilson() {
    // 10 of 89, by the closed formula.
    assertThat(Intervals.wilson(10, 89).low()).isCloseTo(0.0622, within(1e-4));
    assertThat(Intervals.wilson(10, 89).high()).isCloseTo(0.1946, within(1e-4));
    assertThat(Intervals.wilson(0, 8).low()).isZero();
    assertThat(Intervals.wilson(0, 8).high()).isCloseTo(0.3244, within(1e-4));
    assertThat(Intervals.wilson(0, 0).low()).isNaN();
  }

  @ParameterizedTest
  @CsvSource({
    "LINEAR,100,99,99.01", "NEAREST_RANK,100,99,99", "INDEX,100,99,100",
    "LINEAR,10,99,9.91", "NEAREST_RANK,10,99,10", "INDEX,10,99,10",
    "LINEAR,10,50,5.5", "NEAREST_RANK,10,50,5", "INDEX,10,50,6"
  })
  void percentilesOfOneToN(PercentileMethod method, int n, double p, double expected) {
    Sample s = new Sample();
    for (int i = n; i >= 1; i--) {
      s.add(i);
    }
    assertThat(method.of(s, p)).isCloseTo(expected, within(1e-12));
  }

  @Test
  void aBoundedSampleIsCloseToTheExactOne() {
    Sample exact = new Sample();
    Sample bounded = new Sample(1000);
    java.util.Random random = new java.util.Random(7);
    for (int i = 0; i < 50_000; i++) {
      double v = Math.exp(random.nextGaussian()) * 20;
      exact.add(v);
      bounded.add(v);
    }
    assertThat(bounded.approximate()).isTrue();
    assertThat(bounded.mean()).isEqualTo(exact.mean());
    assertThat(bounded.max()).isEqualTo(exact.max());
    assertThat(bounded.std(0)).isCloseTo(exact.std(0), within(0.01 * exact.std(0)));
    for (double p : new double[] {1, 50, 90, 99, 99.9}) {
      double e = PercentileMethod.NEAREST_RANK.of(exact, p);
      assertThat(PercentileMethod.NEAREST_RANK.of(bounded, p))
          .isCloseTo(e, within(Sample.BUCKET_ERROR * e * 1.0001));
    }
  }
}
