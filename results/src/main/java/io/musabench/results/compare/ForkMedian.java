package io.musabench.results.compare;

import io.musabench.results.stats.Stats;
import java.util.Arrays;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.DoubleStream;

/**
 * What one fork says about a case.
 *
 * @param log natural logarithm of the median of its samples
 * @param variance variance of that logarithm over bootstrap resamples of the samples
 * @param samples number of samples
 * @param turns logarithm of the median of each of its turns by the turn's number, where it took
 *     turns with another fork; else empty
 */
public record ForkMedian(
    double log, double variance, int samples, SortedMap<Integer, Double> turns) {
  /** Copies the turns. */
  public ForkMedian {
    turns = Collections.unmodifiableSortedMap(new TreeMap<>(turns));
  }

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
        Math.log(Stats.median(samples)),
        Stats.varianceOfMedian(logs),
        samples.length,
        Collections.emptySortedMap());
  }

  /**
   * Of a fork that took turns with another one.
   *
   * @param samples all above 0
   * @param turns number of the turn in which each was taken
   */
  public static ForkMedian of(double[] samples, double[] turns) {
    ForkMedian whole = of(samples);
    SortedMap<Integer, DoubleStream.Builder> byTurn = new TreeMap<>();
    for (int i = 0; i < samples.length; i++) {
      byTurn.computeIfAbsent((int) turns[i], turn -> DoubleStream.builder()).add(samples[i]);
    }
    SortedMap<Integer, Double> medians = new TreeMap<>();
    byTurn.forEach(
        (turn, taken) -> medians.put(turn, Math.log(Stats.median(taken.build().toArray()))));
    return new ForkMedian(whole.log, whole.variance, whole.samples, medians);
  }

  /** The same measurement as another quantity: the logarithms of two factors add up. */
  ForkMedian times(ForkMedian other) {
    return new ForkMedian(
        log + other.log,
        variance + other.variance,
        Math.min(samples, other.samples),
        Collections.emptySortedMap());
  }
}
