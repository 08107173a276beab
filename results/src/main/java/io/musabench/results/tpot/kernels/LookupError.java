package io.musabench.results.tpot.kernels;

/**
 * Leave-one-out error of the look-up of one operation: the relative distance, without sign, between
 * a measured time and what the look-up gives when that time is not in the table.
 *
 * @param operation and along what the measured points are left, for example {@code gemm, size}
 * @param points number of points left out, one at a time
 * @param median half of them are nearer; NaN of no points
 * @param p90 nine in ten are nearer; NaN of no points
 * @param sigma one standard deviation of a look-up there, as a share of the time; it is in the
 *     error of every time that is looked up so, and with it in the intervals
 * @param reason why {@code sigma} is assumed and does not follow from the points; empty if it does
 */
public record LookupError(
    String operation, int points, double median, double p90, double sigma, String reason) {
  /** Whether there are enough points to tell the error. */
  public boolean known() {
    return reason.isEmpty();
  }
}
