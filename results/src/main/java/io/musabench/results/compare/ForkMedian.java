package io.musabench.results.compare;

import io.musabench.results.stats.Stats;
import java.util.Arrays;

/**
 * What one fork says about a case.
 *
 * @param log natural logarithm of the median of its samples
 * @param variance variance of that logarithm over bootstrap resamples of the samples
 * @param samples number of samples
 */
public record ForkMedian(double log, double variance, int samples) {

  /**
   * Of a fork's samples, all above 0.
   *
   * @throws IllegalArgumentException if there is none, or one is not a positive number
   */
  public static ForkMedian of(double... samples) {
    for (double sample : samples) {
      if (!(sample > 0 && sample < Double.POSITIVE_INFINITY)) {
        throw new IllegalArgumentException(sample + " is not a positive number");
      }
    }
    double[] logs = Arrays.stream(samples).map(Math::log).toArray();
    return new ForkMedian(
        Math.log(Stats.median(samples)), Stats.varianceOfMedian(logs), samples.length);
  }

  /** The same measurement as another quantity: the logarithms of two factors add up. */
  ForkMedian times(ForkMedian other) {
    return new ForkMedian(
        log + other.log, variance + other.variance, Math.min(samples, other.samples));
  }
}
