package io.musabench.results.audit;

import java.util.Map;
import java.util.SortedMap;

/**
 * Bounds on a share of requests.
 *
 * @param low at least so much, from 0
 * @param high at most so much, up to 1
 */
record Share(double low, double high) {
  static final Share ANY = new Share(0, 1);
  static final Share ALL = new Share(1, 1);

  /** 99 % quantile of the standard normal distribution. */
  static final double Z99 = 2.3263478740408408;

  /**
   * Share of requests below a limit, whatever their distribution: a percentile below the limit is a
   * lower bound, one at or above it an upper bound, and Markov's inequality makes a lower bound of
   * the mean (of values that are not negative, at most mean / limit reach the limit).
   *
   * @param percentiles values by share, 0.5 for the median
   * @param mean NaN if unknown
   */
  static Share below(double limit, SortedMap<Double, Double> percentiles, double mean) {
    double low = Double.isNaN(mean) ? 0 : Math.max(0, 1 - mean / limit);
    double high = 1;
    for (Map.Entry<Double, Double> p : percentiles.entrySet()) {
      if (p.getValue() < limit) {
        low = Math.max(low, p.getKey());
      } else {
        high = Math.min(high, p.getKey());
      }
    }
    return new Share(Math.min(low, high), high);
  }

  /** Share below a limit of a lognormal distribution through its median and its 99 % quantile. */
  static double lognormal(double limit, double median, double p99) {
    double sigma = Math.log(p99 / median) / Z99;
    double z = Math.log(limit / median);
    return sigma > 0 ? normal(z / sigma) : z > 0 ? 1 : 0;
  }

  /**
   * Bounds on the share for which two conditions hold, from the share of each, whatever their
   * dependence (Fréchet): at least the sum less one, at most the smaller.
   */
  Share and(Share other) {
    return new Share(Math.max(0, low + other.low - 1), Math.min(high, other.high));
  }

  boolean meets(Share other) {
    return low <= other.high && other.low <= high;
  }

  /**
   * The standard normal distribution function, to 1e-7 (Abramowitz and Stegun 26.2.17): more digits
   * than any table of latencies has.
   */
  static double normal(double z) {
    if (Math.abs(z) > 9) {
      return z > 0 ? 1 : 0;
    }
    double t = 1 / (1 + 0.2316419 * Math.abs(z));
    double poly =
        t
            * (0.319381530
                + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
    double upper = Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI) * poly;
    return z >= 0 ? 1 - upper : upper;
  }

  /** The argument at which {@link #normal} is {@code p}, by bisection. */
  static double quantile(double p) {
    double low = -9;
    double high = 9;
    for (int i = 0; i < 60; i++) {
      double middle = (low + high) / 2;
      if (normal(middle) < p) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return (low + high) / 2;
  }
}
