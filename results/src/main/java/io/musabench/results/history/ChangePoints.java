package io.musabench.results.history;

import io.musabench.results.stats.Stats;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.commons.statistics.inference.DataDispersion;
import org.apache.commons.statistics.inference.TTest;

/**
 * Where a series of times changed its level: E-divisive (Matteson and James, JASA 109, 2014) with
 * Student's t-test in place of permutations, windows and two passes, as in Hunter (Fleming et al.,
 * ICPE 2023) and its successor Apache Otava.
 *
 * <p>Windows of 50 runs are split where the energy distance between the two sides is largest, again
 * and again while the t-test finds them different at 1 %. Of all such points together, the weakest
 * are then dropped until each that is left separates its neighbouring segments at 0.1 % and by 1 %
 * of their medians. Medians, because one run that went wrong changes a mean but is no change.
 */
public final class ChangePoints {
  private static final int WINDOW = 50;
  private static final double WEAK_P = 0.01;
  private static final double P = 0.001;
  private static final double LEAST_CHANGE = 0.01;

  /** Fewer runs than this on a side could be outliers. */
  private static final int LEAST_RUNS = 3;

  private static final TTest T_TEST = TTest.withDefaults().with(DataDispersion.HOMOSCEDASTIC);

  /**
   * A change of level.
   *
   * @param index the first run of the new level
   * @param ratio median of the new level over the median of the old one
   * @param p probability of such a difference between two segments of one level
   */
  public record Change(int index, double ratio, double p) {
    /** Whether the new level takes longer. */
    public boolean slower() {
      return ratio > 1;
    }
  }

  private final double[] logs;

  private ChangePoints(double[] logs) {
    this.logs = logs;
  }

  /**
   * The changes of a series, in order.
   *
   * @param times times in the order of the runs, all above 0
   */
  public static List<Change> of(double... times) {
    ChangePoints series = new ChangePoints(Arrays.stream(times).map(Math::log).toArray());
    SortedSet<Integer> weak = new TreeSet<>();
    for (int start = 0; start < times.length; start += WINDOW / 2) {
      series.split(start, Math.min(start + WINDOW, times.length), weak);
    }
    return series.strong(new ArrayList<>(weak));
  }

  /** Adds the points that divide a segment, if any, to {@code points}. */
  private void split(int start, int end, SortedSet<Integer> points) {
    int best = mostDivided(start, end);
    if (best >= 0 && change(start, best, end).p() < WEAK_P) {
      points.add(best);
      split(start, best, points);
      split(best, end, points);
    }
  }

  /**
   * The first index of the right side where the energy statistic is largest, over all ends of that
   * side: with the end fixed, a level that comes and goes within a segment would hide itself. -1 if
   * the segment is too short to have two sides.
   */
  private int mostDivided(int start, int end) {
    double[][] sums = distanceSums(start, end);
    int best = -1;
    double most = Double.NEGATIVE_INFINITY;
    int length = end - start;
    for (int right = 2 * LEAST_RUNS; right <= length; right++) {
      for (int split = LEAST_RUNS; split <= right - LEAST_RUNS; split++) {
        double energy = energy(sums, split, right);
        if (energy > most) {
          most = energy;
          best = start + split;
        }
      }
    }
    return best;
  }

  /**
   * {@code n m / (n + m) · (2 E|X - Y| - E|X - X'| - E|Y - Y'|)} of the values before {@code split}
   * and those from there to {@code end}.
   *
   * @param sums {@code sums[i][j]} is the sum of the distances between the first i and the first j
   */
  private static double energy(double[][] sums, int split, int end) {
    double n = split;
    double m = end - split;
    double left = sums[split][split];
    double across = sums[split][end] - left;
    double right = sums[end][end] - 2 * sums[split][end] + left;
    double distance = 2 * across / (n * m) - left / (n * (n - 1)) - right / (m * (m - 1));
    return n * m / (n + m) * distance;
  }

  private double[][] distanceSums(int start, int end) {
    int n = end - start;
    double[][] sums = new double[n + 1][n + 1];
    for (int i = 1; i <= n; i++) {
      for (int j = 1; j <= n; j++) {
        double distance = Math.abs(logs[start + i - 1] - logs[start + j - 1]);
        sums[i][j] = distance + sums[i - 1][j] + sums[i][j - 1] - sums[i - 1][j - 1];
      }
    }
    return sums;
  }

  /** Drops the weakest point until all are strong; a drop joins two segments and so changes two. */
  private List<Change> strong(List<Integer> points) {
    while (true) {
      List<Change> changes = new ArrayList<>();
      int weakest = -1;
      for (int i = 0; i < points.size(); i++) {
        int start = i == 0 ? 0 : points.get(i - 1);
        int end = i == points.size() - 1 ? logs.length : points.get(i + 1);
        Change change = change(start, points.get(i), end);
        changes.add(change);
        if (!strong(change) && (weakest < 0 || change.p() > changes.get(weakest).p())) {
          weakest = i;
        }
      }
      if (weakest < 0) {
        return changes;
      }
      points.remove(weakest);
    }
  }

  private static boolean strong(Change change) {
    return change.p() < P && Math.abs(Math.log(change.ratio())) >= Math.log1p(LEAST_CHANGE);
  }

  private Change change(int start, int split, int end) {
    double[] left = Arrays.copyOfRange(logs, start, split);
    double[] right = Arrays.copyOfRange(logs, split, end);
    double ratio = Math.exp(Stats.median(right) - Stats.median(left));
    double p =
        Math.min(left.length, right.length) < LEAST_RUNS ? 1 : T_TEST.test(left, right).getPValue();
    // Without any spread it is 0 / 0 where nothing changed.
    return new Change(split, ratio, Double.isNaN(p) ? 1 : p);
  }
}
