package io.musabench.results.stats;

/**
 * What a sample says, in the unit of its values. Definitions are those of {@link Stats}.
 *
 * @param n number of values
 * @param min smallest
 * @param p10 10 % quantile
 * @param median median
 * @param p90 90 % quantile
 * @param max largest
 * @param iqr interquartile range
 * @param mad median absolute deviation, not scaled
 * @param mean arithmetic mean
 * @param relativeStandardError standard error of the mean over the mean; NaN for one value
 */
public record Summary(
    int n,
    double min,
    double p10,
    double median,
    double p90,
    double max,
    double iqr,
    double mad,
    double mean,
    double relativeStandardError) {

  /**
   * Summarises a sample.
   *
   * @throws IllegalArgumentException if it is empty or holds NaN or infinity
   */
  public static Summary of(double... sample) {
    return new Summary(
        sample.length,
        Stats.quantile(sample, 0),
        Stats.quantile(sample, 0.1),
        Stats.median(sample),
        Stats.quantile(sample, 0.9),
        Stats.quantile(sample, 1),
        Stats.iqr(sample),
        Stats.mad(sample),
        Stats.mean(sample),
        Stats.relativeStandardError(sample));
  }
}
