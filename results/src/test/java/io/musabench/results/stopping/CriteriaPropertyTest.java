package io.musabench.results.stopping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Scale;

/** What must hold of the criteria whatever the samples are. */
class CriteriaPropertyTest {
  private static double[] noisy(long seed, int n, double noise) {
    Random random = new Random(seed);
    return random.doubles(n).map(x -> 1000 * Math.exp(noise * random.nextGaussian())).toArray();
  }

  private static void feed(StoppingCriterion criterion, double[] samples) {
    Arrays.stream(samples).forEach(criterion::add);
  }

  @Property(tries = 200)
  void theRecurrenceShouldGiveTheTextbookError(
      @ForAll @IntRange(min = 2, max = 200) int n, @ForAll long seed) {
    double[] samples = noisy(seed, n, 0.3);
    RelativeStandardError criterion = new RelativeStandardError(0.01);
    feed(criterion, samples);
    double mean = Arrays.stream(samples).average().orElseThrow();
    double variance =
        Arrays.stream(samples).map(x -> (x - mean) * (x - mean)).sum() / (samples.length - 1);
    double expected = Math.sqrt(variance / samples.length) / mean;
    assertThat(criterion.value()).isCloseTo(expected, within(1e-9 * expected));
    assertThat(criterion.met()).isEqualTo(expected <= 0.01);
  }

  @Property(tries = 200)
  void noCriterionShouldDependOnTheUnit(
      @ForAll @IntRange(min = 40, max = 400) int n,
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 0.2) double noise,
      @ForAll long seed) {
    double[] samples = noisy(seed, n, noise);
    double[] larger = Arrays.stream(samples).map(x -> x * 1024).toArray();
    RelativeStandardError a = new RelativeStandardError(0.005);
    RelativeStandardError b = new RelativeStandardError(0.005);
    feed(a, samples);
    feed(b, larger);
    assertThat(b.value()).isCloseTo(a.value(), within(1e-9));
  }

  @Property(tries = 200)
  void entropyShouldLieBetweenNothingAndThatOfDifferentSamples(
      @ForAll @IntRange(min = 1, max = 500) int n,
      @ForAll @Scale(6) @DoubleRange(min = 0, max = 1) double noise,
      @ForAll long seed) {
    Entropy criterion = new Entropy(0.05);
    feed(criterion, noisy(seed, n, noise));
    assertThat(criterion.bits()).isBetween(0.0, Math.log(n) / Math.log(2) + 1e-9);
  }

  @Property(tries = 200)
  void whatACriterionSaysIsMissingShouldBeAboutEnough(
      @ForAll @Scale(6) @DoubleRange(min = 0.005, max = 0.1) double noise, @ForAll long seed) {
    RelativeStandardError criterion = new RelativeStandardError(0.002);
    double[] samples = noisy(seed, 200_000, noise);
    feed(criterion, Arrays.copyOf(samples, 30));
    int taken = 30;
    int asked = 0;
    while (!criterion.met()) {
      int more = criterion.missing();
      feed(criterion, Arrays.copyOfRange(samples, taken, taken + more));
      taken += more;
      asked++;
    }
    // A first estimate from 30 samples is off by a quarter at most times, so few rounds do.
    assertThat(asked).isLessThan(12);
    double wanted = Math.pow(noise / 0.002, 2);
    assertThat((double) taken).isLessThan(Math.max(40, 3 * wanted));
  }

  @Property(tries = 200)
  void aSessionShouldKeepItsFloorsAndItsCeiling(
      @ForAll @Scale(6) @DoubleRange(min = 0, max = 0.5) double noise,
      @ForAll @Scale(6) @DoubleRange(min = 1e-4, max = 0.5) double sampleSeconds,
      @ForAll long seed) {
    StoppingRule rule = new StoppingRule(new RelativeStandardError(0.01), 5, 0.2, 1.6);
    Random random = new Random(seed);
    int taken = 0;
    double seconds = 0;
    do {
      int batch = rule.next(sampleSeconds, 1000);
      double[] nanos =
          random.doubles(batch).map(x -> Math.exp(noise * random.nextGaussian())).toArray();
      rule.add(nanos, batch * sampleSeconds);
      taken += batch;
      seconds += batch * sampleSeconds;
    } while (!rule.done());
    if (rule.unmet().isEmpty()) {
      assertThat(taken).isGreaterThanOrEqualTo(5);
      assertThat(seconds).isGreaterThanOrEqualTo(0.2 * (1 - 1e-9));
    } else {
      assertThat(seconds).isGreaterThanOrEqualTo(1.6 * (1 - 1e-9));
    }
    assertThat(seconds).isLessThan(1.6 + 2 * sampleSeconds + 1e-9);
  }

  @Property(tries = 50)
  void entropyShouldOutlastAMeanThatAKernelWithTwoSpeedsSettles(@ForAll long seed) {
    Random random = new Random(seed);
    Entropy entropy = new Entropy(0.05);
    int n = 0;
    while (n < 200 || !entropy.met()) {
      entropy.add(random.nextInt(10) == 0 ? 1100 : 1000);
      n++;
    }
    assertThat(n).isLessThan(2000);
    assertThat(entropy.bits()).isCloseTo(0.469, within(0.3)); // Of one in ten: 0.469 bit.
  }
}
