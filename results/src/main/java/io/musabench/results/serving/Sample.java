package io.musabench.results.serving;

import java.util.Arrays;

/**
 * A population of values whose memory is bounded. Up to {@link #EXACT_LIMIT} values are all kept;
 * beyond that they are counted in buckets 1/4096 of an octave wide, so that a percentile is within
 * 0.02 % of the true one. Count, mean, minimum and maximum are exact either way.
 *
 * <p>NaN is not a value and is ignored.
 */
final class Sample {
  /**
   * So many values are kept: 16 MiB of doubles, the requests of any run that one client can make,
   * or a 64th of the heap if that is more, for the gaps between their tokens.
   */
  static final int EXACT_LIMIT =
      (int) Math.max(1 << 21, Math.min(1 << 26, Runtime.getRuntime().maxMemory() / 64 / 8));

  /** Relative half-width of a bucket: the error of a percentile once values are bucketed. */
  static final double BUCKET_ERROR = 0.5 / 4096;

  private final int limit;
  private double[] values = new double[64];
  private int kept;
  private boolean sorted;
  private Buckets buckets;
  private long count;
  private double sum;
  private double compensation;
  private double min = Double.POSITIVE_INFINITY;
  private double max = Double.NEGATIVE_INFINITY;

  Sample() {
    this(EXACT_LIMIT);
  }

  Sample(int limit) {
    this.limit = limit;
  }

  /** Another population that starts as a copy of this one, and then goes its own way. */
  Sample copy() {
    Sample other = new Sample(limit);
    if (buckets != null) {
      other.buckets = buckets.copy();
      other.values = new double[0];
    } else {
      other.values = values.clone();
    }
    other.kept = kept;
    other.sorted = sorted;
    other.count = count;
    other.sum = sum;
    other.compensation = compensation;
    other.min = min;
    other.max = max;
    return other;
  }

  void add(double value) {
    add(value, 1);
  }

  void add(double value, int times) {
    if (Double.isNaN(value) || times <= 0) {
      return;
    }
    count += times;
    addToSum(value * times);
    min = Math.min(min, value);
    max = Math.max(max, value);
    if (buckets == null && (long) kept + times > limit) {
      buckets = new Buckets();
      for (int i = 0; i < kept; i++) {
        buckets.add(values[i], 1);
      }
      values = new double[0];
      kept = 0;
    }
    if (buckets != null) {
      buckets.add(value, times);
      return;
    }
    if (kept + times > values.length) {
      values = Arrays.copyOf(values, Math.max(kept + times, Math.min(limit, 2 * values.length)));
    }
    Arrays.fill(values, kept, kept + times, value);
    kept += times;
    sorted = false;
  }

  /** Neumaier's sum: a mean of a hundred million gaps keeps its digits. */
  private void addToSum(double x) {
    double t = sum + x;
    compensation += Math.abs(sum) >= Math.abs(x) ? (sum - t) + x : (x - t) + sum;
    sum = t;
  }

  long count() {
    return count;
  }

  double sum() {
    double total = sum + compensation;
    return Double.isNaN(total) ? sum : total;
  }

  double mean() {
    return count == 0 ? Double.NaN : sum() / count;
  }

  double min() {
    return count == 0 ? Double.NaN : min;
  }

  double max() {
    return count == 0 ? Double.NaN : max;
  }

  /** Standard deviation with {@code ddof} degrees of freedom taken off; NaN with too few values. */
  double std(int ddof) {
    if (count <= ddof) {
      return Double.NaN;
    }
    double mean = mean();
    double squares = 0;
    if (buckets != null) {
      squares = buckets.squares(mean);
    } else {
      for (int i = 0; i < kept; i++) {
        squares += (values[i] - mean) * (values[i] - mean);
      }
    }
    return Math.sqrt(squares / (count - ddof));
  }

  /** Whether percentiles come from buckets and are {@link #BUCKET_ERROR} uncertain. */
  boolean approximate() {
    return buckets != null;
  }

  /** The value at 1-based rank {@code r} in ascending order, 1 ≤ r ≤ count. */
  double ranked(long r) {
    if (r <= 1) {
      return min();
    }
    if (r >= count) {
      return max();
    }
    if (buckets != null) {
      return Math.max(min, Math.min(max, buckets.ranked(r)));
    }
    sort();
    return values[(int) r - 1];
  }

  /** Share of values below {@code limit} (or at it, if {@code inclusive}); NaN if empty. */
  double shareBelow(double limit, boolean inclusive) {
    if (count == 0 || buckets != null) {
      return Double.NaN;
    }
    long below = 0;
    for (int i = 0; i < kept; i++) {
      if (values[i] < limit || inclusive && values[i] == limit) {
        below++;
      }
    }
    return (double) below / count;
  }

  private void sort() {
    if (!sorted) {
      Arrays.sort(values, 0, kept);
      sorted = true;
    }
  }

  /** Counts by sign, exponent and the first twelve bits of the fraction. */
  private static final class Buckets {
    private static final int DROPPED = 52 - 12;
    // 1e-12 to 1e15: from a femtosecond to thirty thousand years, in milliseconds.
    private static final long LOWEST = Double.doubleToLongBits(1e-12) >>> DROPPED;
    private static final long HIGHEST = Double.doubleToLongBits(1e15) >>> DROPPED;

    private long[] positive = new long[(int) (HIGHEST - LOWEST) + 2];
    private long[] negative;
    private long zeros;

    Buckets copy() {
      Buckets other = new Buckets();
      other.positive = positive.clone();
      other.negative = negative == null ? null : negative.clone();
      other.zeros = zeros;
      return other;
    }

    void add(double value, int times) {
      if (value == 0) {
        zeros += times;
      } else if (value > 0) {
        positive[index(value)] += times;
      } else {
        if (negative == null) {
          negative = new long[positive.length];
        }
        negative[index(-value)] += times;
      }
    }

    private static int index(double magnitude) {
      long key = Double.doubleToLongBits(magnitude) >>> DROPPED;
      return (int) (Math.max(LOWEST, Math.min(HIGHEST, key)) - LOWEST);
    }

    private static double middle(int index) {
      return Double.longBitsToDouble((LOWEST + index << DROPPED) + (1L << DROPPED - 1));
    }

    double ranked(long r) {
      long seen = 0;
      if (negative != null) {
        for (int i = negative.length - 1; i >= 0; i--) {
          seen += negative[i];
          if (seen >= r) {
            return -middle(i);
          }
        }
      }
      seen += zeros;
      if (seen >= r) {
        return 0;
      }
      for (int i = 0; i < positive.length; i++) {
        seen += positive[i];
        if (seen >= r) {
          return middle(i);
        }
      }
      return Double.NaN;
    }

    double squares(double mean) {
      double squares = zeros * mean * mean;
      for (int i = 0; i < positive.length; i++) {
        double d = middle(i) - mean;
        squares += positive[i] * d * d;
        if (negative != null) {
          double e = -middle(i) - mean;
          squares += negative[i] * e * e;
        }
      }
      return squares;
    }
  }
}
