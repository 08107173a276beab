package io.musabench.results.run;

import io.musabench.results.stats.Interval;
import io.musabench.results.stats.Stats;
import java.util.Arrays;

/**
 * A median and its 95 % interval, in the unit of the values. NaN where either is not known.
 *
 * @param median the median
 * @param low lower end of the interval
 * @param high upper end
 */
public record MedianInterval(double median, double low, double high) {
  /** Not known. */
  public static final MedianInterval UNKNOWN =
      new MedianInterval(Double.NaN, Double.NaN, Double.NaN);

  private static final double LEVEL = 0.95;
  private static final int RESAMPLES = 2000;

  /**
   * Of values that were taken one after the other.
   *
   * <p>The interval is the bootstrap's. Of five values it is from the least to the greatest, which
   * holds the median in 94 % of cases; fewer have no interval, as even the widest would hold it too
   * seldom.
   */
  public static MedianInterval of(double[] values) {
    double median = Stats.median(values);
    if (values.length < 5) {
      return new MedianInterval(median, Double.NaN, Double.NaN);
    }
    if (values.length == 5) {
      double[] sorted = values.clone();
      Arrays.sort(sorted);
      return new MedianInterval(median, sorted[0], sorted[sorted.length - 1]);
    }
    Interval interval = Stats.bootstrapMedian(values, LEVEL, RESAMPLES, 1);
    return new MedianInterval(median, interval.low(), interval.high());
  }
}
