package io.musabench.results.tpot.kernels;

import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;

/**
 * Measured times over one size. Between two points it is linear in the time, or in its square root;
 * outside, the utilisation of the edge is held: {@code t = t_edge * roof(x) / roof(edge)}, but
 * never below {@code floor}, the shortest time ever measured of this kernel, because launching and
 * synchronising do not shrink with the work.
 */
final class TimeCurve {
  /** In what the curve is straight between two points. */
  enum Blend {
    /** For work in proportion to the size: never more than the chord. */
    LINEAR,
    /**
     * For work that grows with the square of the size: {@code sqrt(t)} is straight, so a purely
     * quadratic kernel is met exactly, where a chord would lie up to 12.5 % above it between x and
     * 2x.
     */
    SQUARE_ROOT
  }

  /** A time this much above what larger sizes or parts show is no property of the kernel. */
  private static final double DAMAGED = 1.25;

  private final double[] x;
  private final double[] measured;

  /** The measured times, but for damaged ones. */
  private final double[] seconds;

  /**
   * Takes the arrays.
   *
   * @param x sizes, ascending, at least one
   * @param measured times, above 0
   */
  TimeCurve(double[] x, double[] measured) {
    this(x, measured, measured);
  }

  private TimeCurve(double[] x, double[] measured, double[] seconds) {
    this.x = x;
    this.measured = measured;
    this.seconds = seconds;
  }

  /**
   * A curve over rows that can be computed in parts. A call never needs longer than one with more
   * rows, and not longer than its parts one after the other: {@code t(m) <= t(n)} for {@code n >
   * m}, {@code t(m) <= ceil(m / n) t(n)} for {@code n < m}. Where a time is more than a quarter
   * above that, something else disturbed the measurement, and the bound counts (or the roof, if
   * that is longer). Less is left as it is: long products do slow down, because the device then
   * lowers its clocks.
   */
  static TimeCurve ofRows(double[] x, double[] measured, DoubleUnaryOperator roof) {
    double[] seconds = measured.clone();
    for (int i = 0; i < x.length; i++) {
      double bound = Double.POSITIVE_INFINITY;
      for (int j = 0; j < x.length; j++) {
        if (j != i) {
          double parts = j > i ? 1 : Math.ceil(x[i] / x[j]);
          bound = Math.min(bound, parts * measured[j]);
        }
      }
      if (measured[i] > DAMAGED * bound) {
        seconds[i] = Math.max(bound, Math.min(measured[i], roof.applyAsDouble(x[i])));
      }
    }
    return new TimeCurve(x, measured, seconds);
  }

  int size() {
    return x.length;
  }

  double x(int i) {
    return x[i];
  }

  /** What counts at point {@code i}. */
  double seconds(int i) {
    return seconds[i];
  }

  double measured(int i) {
    return measured[i];
  }

  /** How many points {@link #ofRows} replaced. */
  int replaced() {
    int count = 0;
    for (int i = 0; i < x.length; i++) {
      count += seconds[i] == measured[i] ? 0 : 1;
    }
    return count;
  }

  boolean covers(double size) {
    return size >= x[0] && size <= x[x.length - 1];
  }

  Found at(double size, Blend blend, DoubleUnaryOperator roof, double floor) {
    int at = Arrays.binarySearch(x, size);
    if (at >= 0) {
      return new Found(seconds[at], seconds[at] == measured[at] ? 0 : Axis.SIZE.bit());
    }
    int above = -at - 1;
    return between(above - 1, above, size, blend, roof, floor);
  }

  /** What {@link #at} would give for point {@code i} if it had not been measured. */
  Found without(int i, Blend blend, DoubleUnaryOperator roof, double floor) {
    return between(i - 1, i + 1, x[i], blend, roof, floor);
  }

  private Found between(
      int below, int above, double size, Blend blend, DoubleUnaryOperator roof, double floor) {
    if (below >= 0 && above < x.length) {
      double weight = (size - x[below]) / (x[above] - x[below]);
      double time = blend(seconds[below], seconds[above], weight, blend);
      return new Found(aboveRoof(time, below, above, size, roof), Axis.SIZE.bit());
    }
    int edge = below >= 0 ? below : above;
    return hold(seconds[edge], roof.applyAsDouble(size) / roof.applyAsDouble(x[edge]), floor);
  }

  /**
   * No time between two points is below the roof if theirs are not: a roof may bulge above the line
   * (bytes under a square root, experts that are not yet all touched).
   */
  private double aboveRoof(
      double time, int below, int above, double size, DoubleUnaryOperator roof) {
    double least = roof.applyAsDouble(size);
    return time < least
            && seconds[below] >= roof.applyAsDouble(x[below])
            && seconds[above] >= roof.applyAsDouble(x[above])
        ? least
        : time;
  }

  private static double blend(double low, double high, double weight, Blend blend) {
    if (blend == Blend.LINEAR) {
      return low + (high - low) * weight;
    }
    double a = Math.sqrt(low);
    double b = Math.sqrt(high);
    double root = a + (b - a) * weight;
    return root * root;
  }

  /** Holds the utilisation of a point whose roof is {@code ratio} times lower. */
  static Found hold(double seconds, double ratio, double floor) {
    return new Found(Math.max(seconds * ratio, Math.min(seconds, floor)), Axis.BEYOND.bit());
  }
}
