package io.musabench.results.stats;

import java.util.Arrays;
import java.util.List;
import org.apache.commons.statistics.inference.MannWhitneyUTest;

/**
 * What a median hides: whether the times of a case have two modes, whether they drift while a fork
 * runs, and whether forks differ. Rules, not proofs; each is stated where its flag is.
 *
 * @param modes the two modes; null if there is one
 * @param drift by how much the last third of the forks is slower than the first, as a share; NaN
 *     with fewer than {@link #LEAST_IN_FORK} values a fork
 * @param drifting whether that is a drift: more than {@link #LEAST_CHANGE}, and the first and the
 *     last thirds differ by the Mann-Whitney test at {@link #LEVEL}
 * @param betweenForks greatest over least of the forks' medians, less 1; NaN with one fork
 */
public record SampleShape(Modes modes, double drift, boolean drifting, double betweenForks) {
  /** Fewer values than this have no shape. */
  public static final int LEAST = 20;

  /** Fewer values in a fork than this do not tell a beginning from an end. */
  public static final int LEAST_IN_FORK = 9;

  /** A smaller part of the values than this is a tail and not a mode. */
  public static final double LEAST_SHARE = 0.1;

  /**
   * Two groups are modes if their means lie further apart than so many of their standard
   * deviations. The best split of a normal distribution comes to 2.6 and that of a uniform one to
   * 3.5, so neither is taken for two.
   */
  public static final double SEPARATION = 5;

  /** Modes and drifts below this share of the time matter to nobody. */
  public static final double LEAST_CHANGE = 0.01;

  /** Forks whose medians differ by more than this share differ. */
  public static final double FORKS_DIFFER = 0.03;

  /** A clock that moved by more than this share of its median moved. */
  public static final double CLOCK_MOVED = 0.02;

  /** A trend by chance at this level is rare among hundreds of cases. */
  public static final double LEVEL = 0.001;

  /** At either end, so that a few outliers do not make the split. */
  private static final double TRIM = 0.02;

  /**
   * Two modes.
   *
   * @param low mean of the lower one
   * @param high mean of the upper one
   * @param lowShare share of the values in the lower one
   */
  public record Modes(double low, double high, double lowShare) {}

  /**
   * Looks at the times of one case.
   *
   * @param forks the values of each fork, above 0 and at least one, in the order in which they were
   *     taken
   */
  public static SampleShape of(List<double[]> forks) {
    double[] all = forks.stream().flatMapToDouble(Arrays::stream).toArray();
    double drift = drift(forks);
    return new SampleShape(
        modes(all), drift, Math.abs(drift) > LEAST_CHANGE && trend(forks), betweenForks(forks));
  }

  /** Whether forks differ. */
  public boolean forksDiffer() {
    return betweenForks > FORKS_DIFFER;
  }

  /** Greatest less least of the clock over its median; NaN without values. */
  public static double clockRange(double... mhz) {
    if (mhz.length == 0) {
      return Double.NaN;
    }
    double most = Arrays.stream(mhz).max().getAsDouble();
    return (most - Arrays.stream(mhz).min().getAsDouble()) / Stats.median(mhz);
  }

  /** The split in two groups that leaves the least variance inside them (of logarithms). */
  private static Modes modes(double[] values) {
    if (values.length < LEAST) {
      return null;
    }
    double[] sorted = Arrays.stream(values).map(Math::log).sorted().toArray();
    int cut = (int) (TRIM * sorted.length);
    double[] v = Arrays.copyOfRange(sorted, cut, sorted.length - cut);
    int n = v.length;
    double[] sum = new double[n + 1];
    double[] squares = new double[n + 1];
    for (int i = 0; i < n; i++) {
      // Less the first, so that the differences of squares keep their digits.
      double x = v[i] - v[0];
      sum[i + 1] = sum[i] + x;
      squares[i + 1] = squares[i] + x * x;
    }
    int at = 0;
    double least = Double.POSITIVE_INFINITY;
    int smallest = (int) Math.ceil(LEAST_SHARE * n);
    for (int k = smallest; k <= n - smallest; k++) {
      double inside = inside(sum, squares, 0, k) + inside(sum, squares, k, n);
      if (inside < least) {
        least = inside;
        at = k;
      }
    }
    double low = sum[at] / at;
    double high = (sum[n] - sum[at]) / (n - at);
    double deviation = Math.sqrt(least / (n - 2));
    return Math.expm1(high - low) > LEAST_CHANGE && high - low > SEPARATION * deviation
        ? new Modes(Math.exp(v[0] + low), Math.exp(v[0] + high), (double) at / n)
        : null;
  }

  private static double inside(double[] sum, double[] squares, int from, int to) {
    double s = sum[to] - sum[from];
    return Math.max(0, squares[to] - squares[from] - s * s / (to - from));
  }

  /** Mean over the forks of the logarithm of last third over first third. */
  private static double drift(List<double[]> forks) {
    double logs = 0;
    int counted = 0;
    for (double[] fork : forks) {
      if (fork.length >= LEAST_IN_FORK) {
        logs += Math.log(Stats.median(last(fork)) / Stats.median(first(fork)));
        counted++;
      }
    }
    return counted == 0 ? Double.NaN : Math.expm1(logs / counted);
  }

  /**
   * Each fork over its own median, so that what forks differ by is no trend and hides none. At
   * least one fork must be long enough.
   */
  private static boolean trend(List<double[]> forks) {
    double[] early = new double[0];
    double[] late = new double[0];
    for (double[] fork : forks) {
      if (fork.length >= LEAST_IN_FORK) {
        double median = Stats.median(fork);
        early = joined(early, first(fork), median);
        late = joined(late, last(fork), median);
      }
    }
    return MannWhitneyUTest.withDefaults().test(early, late).reject(LEVEL);
  }

  private static double[] joined(double[] a, double[] b, double over) {
    double[] all = Arrays.copyOf(a, a.length + b.length);
    for (int i = 0; i < b.length; i++) {
      all[a.length + i] = b[i] / over;
    }
    return all;
  }

  private static double[] first(double[] fork) {
    return Arrays.copyOf(fork, fork.length / 3);
  }

  private static double[] last(double[] fork) {
    return Arrays.copyOfRange(fork, fork.length - fork.length / 3, fork.length);
  }

  private static double betweenForks(List<double[]> forks) {
    double[] medians = forks.stream().mapToDouble(f -> Stats.median(f)).toArray();
    return medians.length < 2
        ? Double.NaN
        : Arrays.stream(medians).max().getAsDouble() / Arrays.stream(medians).min().getAsDouble()
            - 1;
  }
}
