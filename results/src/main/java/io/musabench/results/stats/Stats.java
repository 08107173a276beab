package io.musabench.results.stats;

import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.statistics.descriptive.Mean;
import org.apache.commons.statistics.descriptive.Median;
import org.apache.commons.statistics.descriptive.Quantile;
import org.apache.commons.statistics.descriptive.Quantile.EstimationMethod;
import org.apache.commons.statistics.descriptive.StandardDeviation;
import org.apache.commons.statistics.descriptive.Variance;
import org.apache.commons.statistics.distribution.BetaDistribution;
import org.apache.commons.statistics.distribution.NormalDistribution;
import org.apache.commons.statistics.distribution.TDistribution;

/**
 * Statistics of a sample. Arguments are never changed.
 *
 * <p>Every method refuses an empty sample and a sample with NaN or infinite values by {@link
 * IllegalArgumentException}: a timing that is not a number is a fault to be found, not averaged.
 *
 * <p>Worked numbers, for the sample 10, 11, 12, 13, 100 (microseconds, one outlier): median 12,
 * quantile(0.9) 65.2, iqr 2, mad 1, mean 29.2, relative standard error 0.606.
 */
public final class Stats {
  private static final Median MEDIAN = Median.withDefaults().withCopy(true);
  private static final Quantile QUANTILE =
      Quantile.withDefaults().with(EstimationMethod.HF7).withCopy(true);

  /** Weights of the order statistics by sample size; sizes repeat from case to case. */
  private static final Map<Integer, double[]> MEDIAN_WEIGHTS = new ConcurrentHashMap<>();

  /** Weights below this no longer show in a variance. */
  private static final double NEGLIGIBLE = 1e-12;

  private Stats() {}

  /** The middle value, or the mean of the two middle ones. */
  public static double median(double... sample) {
    return MEDIAN.evaluate(checked(sample));
  }

  /**
   * Quantile by linear interpolation between the order statistics (Hyndman and Fan's definition 7,
   * the default of R and NumPy): position {@code (n - 1) p}, counted from 0.
   *
   * @param p between 0 (minimum) and 1 (maximum)
   */
  public static double quantile(double[] sample, double p) {
    return QUANTILE.evaluate(checked(sample), p);
  }

  /** Interquartile range: {@code quantile(0.75) - quantile(0.25)}. */
  public static double iqr(double... sample) {
    return quantile(sample, 0.75) - quantile(sample, 0.25);
  }

  /**
   * Median absolute deviation: the median of the distances from the median, not scaled. Of normally
   * distributed values it is 0.674 standard deviations.
   */
  public static double mad(double... sample) {
    double centre = median(sample);
    return median(Arrays.stream(sample).map(x -> Math.abs(x - centre)).toArray());
  }

  /** Arithmetic mean. */
  public static double mean(double... sample) {
    return Mean.of(checked(sample)).getAsDouble();
  }

  /**
   * Standard error of the mean over the mean: {@code s / (√n · mean)} with the sample's standard
   * deviation {@code s} ({@code n - 1} in the denominator). NaN for a single value, whose error is
   * not known, and for a mean of 0.
   */
  public static double relativeStandardError(double... sample) {
    double mean = mean(sample);
    if (sample.length < 2 || mean == 0) {
      return Double.NaN;
    }
    return StandardDeviation.of(sample).getAsDouble() / Math.sqrt(sample.length) / Math.abs(mean);
  }

  /**
   * How much wider a standard error must be that is itself known from few values only, so that as
   * many of it as a normal distribution takes are half an interval of Student's t: 3.8 for two
   * values and 90 %, 1.3 for five.
   *
   * @param degreesOfFreedom values less 1, at least 1
   * @param level of the interval, for example 0.9
   */
  public static double widening(int degreesOfFreedom, double level) {
    double tail = (1 - level) / 2;
    return TDistribution.of(degreesOfFreedom).inverseSurvivalProbability(tail)
        / NormalDistribution.of(0, 1).inverseSurvivalProbability(tail);
  }

  /**
   * Bootstrap interval of the median by the percentile method: {@code resamples} samples of the
   * same size are drawn with replacement, and the interval spans the middle {@code level} of their
   * medians. The same seed gives the same interval.
   *
   * <p>It holds the spread <em>between the given values</em> only. Values of one process share what
   * that process had in common, so give it one value a fork to learn about a case. From fewer than
   * about 6 values it is too narrow: of 5, only 126 different resamples exist.
   *
   * @param level share to cover, above 0 and below 1, for example 0.95
   * @param resamples number of resamples, at least 1; 2000 settle the second digit
   */
  public static Interval bootstrapMedian(double[] sample, double level, int resamples, long seed) {
    checked(sample);
    if (!(level > 0 && level < 1)) {
      throw new IllegalArgumentException("The level must lie between 0 and 1, not " + level);
    }
    if (resamples < 1) {
      throw new IllegalArgumentException("At least one resample is needed, not " + resamples);
    }
    SplittableRandom random = new SplittableRandom(seed);
    double[] medians = new double[resamples];
    double[] draw = new double[sample.length];
    for (int r = 0; r < resamples; r++) {
      for (int i = 0; i < draw.length; i++) {
        draw[i] = sample[random.nextInt(sample.length)];
      }
      medians[r] = median(draw);
    }
    double tail = (1 - level) / 2;
    return new Interval(quantile(medians, tail), quantile(medians, 1 - tail), level);
  }

  /** Variance of the values, {@code n - 1} in the denominator; 0 for a single value. */
  public static double variance(double... sample) {
    return checked(sample).length == 1 ? 0 : Variance.of(sample).getAsDouble();
  }

  /**
   * Variance that the median of the sample would have over bootstrap resamples of it, without
   * drawing any: the median of {@code n} draws is the k-th smallest value with a probability that a
   * beta distribution gives (Maritz and Jarrett, "A Note on Estimating the Variance of the Sample
   * Median", JASA 73, 1978). Exact for odd {@code n}, interpolated for even {@code n}; 0 for a
   * single value, which says nothing of its spread.
   */
  public static double varianceOfMedian(double... sample) {
    double[] sorted = checked(sample).clone();
    Arrays.sort(sorted);
    int n = sorted.length;
    double[] weights = MEDIAN_WEIGHTS.computeIfAbsent(n, Stats::medianWeights);
    int first = (n - weights.length) / 2;
    double mean = 0;
    for (int i = 0; i < weights.length; i++) {
      mean += weights[i] * sorted[first + i];
    }
    double variance = 0;
    for (int i = 0; i < weights.length; i++) {
      double distance = sorted[first + i] - mean;
      variance += weights[i] * distance * distance;
    }
    return variance;
  }

  /** Probabilities of the values around the middle to be the median of a resample. */
  private static double[] medianWeights(int n) {
    BetaDistribution position = BetaDistribution.of((n + 1) / 2.0, (n + 1) / 2.0);
    int first = n / 2;
    while (first > 0 && position.cumulativeProbability((double) first / n) > NEGLIGIBLE) {
      first--;
    }
    double[] weights = new double[n - 2 * first];
    for (int i = 0; i < weights.length; i++) {
      weights[i] = position.probability((double) (first + i) / n, (first + i + 1.0) / n);
    }
    return weights;
  }

  private static double[] checked(double[] sample) {
    if (sample.length == 0) {
      throw new IllegalArgumentException("A sample needs at least one value");
    }
    for (int i = 0; i < sample.length; i++) {
      if (!Double.isFinite(sample[i])) {
        throw new IllegalArgumentException("Value " + i + " of the sample is " + sample[i]);
      }
    }
    return sample;
  }
}
