package io.musabench.results.run;

import io.musabench.results.stats.Interval;
import io.musabench.results.stats.Stats;
import java.util.Arrays;

/**
 * By how much a step takes longer than its kernels one by one, in microseconds of device time. Both
 * are measured once in every round, one after the other, so the difference is taken round by round:
 * what drifts between rounds is not in it. NaN where it is not known.
 *
 * @param medianUs median over the rounds; below zero where the kernels by themselves were slower
 * @param lowUs lower end of the median's 95 % interval between rounds
 * @param highUs upper end
 */
public record OverKernels(double medianUs, double lowUs, double highUs) {
  /** Not known. */
  public static final OverKernels UNKNOWN = new OverKernels(Double.NaN, Double.NaN, Double.NaN);

  private static final double LEVEL = 0.95;
  private static final int RESAMPLES = 2000;

  /**
   * From the differences of all rounds.
   *
   * <p>The interval is the bootstrap's. Of fewer than six rounds it is from the least to the
   * greatest: no interval inside them holds the median in 95 % of cases (five hold it in 94 %).
   */
  public static OverKernels of(double[] differencesUs) {
    double median = Stats.median(differencesUs);
    if (differencesUs.length < 6) {
      double[] sorted = differencesUs.clone();
      Arrays.sort(sorted);
      return new OverKernels(median, sorted[0], sorted[sorted.length - 1]);
    }
    Interval interval = Stats.bootstrapMedian(differencesUs, LEVEL, RESAMPLES, 1);
    return new OverKernels(median, interval.low(), interval.high());
  }
}
