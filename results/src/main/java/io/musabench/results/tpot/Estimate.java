package io.musabench.results.tpot;

/**
 * A predicted number.
 *
 * @param value the prediction
 * @param low lower end of the interval that holds the true value in nine of ten cases; NaN if no
 *     interval was asked for
 * @param high its upper end, or NaN
 * @param provenance how the least certain part of it was got
 */
public record Estimate(double value, double low, double high, Provenance provenance) {
  /** Nine tenths of a normal distribution lie within so many standard deviations of its mean. */
  static final double DEVIATIONS = 1.6449;

  /** Without an interval. */
  public static Estimate point(double value, Provenance provenance) {
    return new Estimate(value, Double.NaN, Double.NaN, provenance);
  }

  /** With an interval cut off at what is possible; it still holds the value. */
  public Estimate within(double least, double most) {
    return new Estimate(
        value,
        Math.min(value, Math.max(low, least)),
        Math.max(value, Math.min(high, most)),
        provenance);
  }

  /** Got in another way. */
  public Estimate from(Provenance other) {
    return new Estimate(value, low, high, other);
  }

  /** In another unit. */
  public Estimate times(double factor) {
    return new Estimate(factor * value, factor * low, factor * high, provenance);
  }

  /** Whether there is an interval. */
  public boolean hasInterval() {
    return !Double.isNaN(low);
  }
}
