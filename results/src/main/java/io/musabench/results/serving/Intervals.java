package io.musabench.results.serving;

/** Confidence intervals at 95 %. */
final class Intervals {
  private static final double Z = 1.959963984540054;
  private static final double TAIL = 0.025;

  /** Up to here ranks are summed from the binomial itself. */
  private static final long EXACT_RANKS = 100_000;

  private Intervals() {}

  /** Two bounds; {@code NaN} where there is none. */
  record Bounds(double low, double high) {
    static final Bounds NONE = new Bounds(Double.NaN, Double.NaN);
  }

  /**
   * Ranks of order statistics; {@code high} is {@code n + 1} where the sample has no such value.
   */
  record Ranks(long low, long high) {}

  /** Wilson's interval for a share of {@code good} out of {@code n}. */
  static Bounds wilson(long good, long n) {
    if (n == 0) {
      return Bounds.NONE;
    }
    double p = (double) good / n;
    double z2 = Z * Z;
    double centre = (p + z2 / (2 * n)) / (1 + z2 / n);
    double half = Z / (1 + z2 / n) * Math.sqrt(p * (1 - p) / n + z2 / (4.0 * n * n));
    return new Bounds(Math.max(0, centre - half), Math.min(1, centre + half));
  }

  /**
   * The order statistics between which the {@code p}th percentile lies.
   *
   * <p>The number of values below the true percentile is binomial (n, p/100) whatever the
   * distribution; low is the largest rank with P(K &lt; low) ≤ 2.5 %, high the smallest with P(K ≥
   * high) ≤ 2.5 %. For P99: n=100 gives 97 and none, n=1000 gives 983 and 997.
   */
  static Ranks percentileRanks(long n, double p) {
    double q = 1 - p / 100;
    if (n > EXACT_RANKS) {
      // The normal limit of the binomial: off by at most one rank in thousands here.
      double half = Z * Math.sqrt(n * q * (1 - q));
      double middle = n * (1 - q);
      return new Ranks((long) Math.floor(middle - half), (long) Math.ceil(middle + half));
    }
    // e = n - K, the number of values at or above the percentile, is binomial (n, q).
    double logOdds = Math.log(q) - Math.log1p(-q);
    double logMass = n * Math.log1p(-q);
    double below = 0;
    long high = n + 1;
    long low = 0;
    boolean highFound = false;
    for (long e = 0; e <= n; e++) {
      double upTo = below + Math.exp(logMass);
      // P(K >= n - e) = P(e' <= e): the last e for which that is small gives the upper rank.
      if (!highFound) {
        if (upTo <= TAIL) {
          high = n - e;
        } else {
          highFound = true;
        }
      }
      // P(K <= n - e - 1) = P(e' > e): the first e for which that is small gives the lower rank.
      if (1 - upTo <= TAIL) {
        low = n - e;
        break;
      }
      below = upTo;
      logMass += logOdds + Math.log(n - e) - Math.log(e + 1);
    }
    return new Ranks(Math.max(low, 0), high);
  }
}
