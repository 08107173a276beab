package io.musabench.results.tpot;

import java.util.List;
import java.util.function.ToDoubleBiFunction;

/**
 * What the host costs, estimated from a service: the time that every step has beyond its kernels.
 *
 * @param gapSeconds per step
 * @param perRequestSeconds per step and request in it
 * @param gapError its standard error
 * @param perRequestError its standard error
 */
public record HostTerms(
    double gapSeconds, double perRequestSeconds, double gapError, double perRequestError) {
  /** Nothing. */
  public static final HostTerms NONE = new HostTerms(0, 0, 0, 0);

  /** Rounds of linearisation; three suffice for the H100 rows. */
  private static final int ROUNDS = 12;

  private static final double ENOUGH = 1e-8;

  /**
   * The two numbers, neither below 0, with the least sum of relative errors without sign. That sum
   * is less bent by a row with a large error of its own than the sum of squares.
   *
   * <p>Standard errors are those of a jackknife that leaves out one group at a time: rows of one
   * group share their errors, so the rows are not what is independent.
   *
   * @param groups groups of rows, at least two
   * @param error of the prediction for a row with given terms, as a share of the measurement
   */
  static <R> HostTerms estimate(List<List<R>> groups, ToDoubleBiFunction<R, HostTerms> error) {
    double[] all = fit(groups.stream().flatMap(List::stream).toList(), error);
    int n = groups.size();
    double[][] without = new double[n][];
    double[] mean = new double[2];
    for (int i = 0; i < n; i++) {
      List<R> left = groups.get(i);
      without[i] =
          fit(groups.stream().filter(g -> g != left).flatMap(List::stream).toList(), error);
      mean[0] += without[i][0] / n;
      mean[1] += without[i][1] / n;
    }
    double[] variance = new double[2];
    for (double[] w : without) {
      for (int k = 0; k < 2; k++) {
        variance[k] += (w[k] - mean[k]) * (w[k] - mean[k]) * (n - 1) / n;
      }
    }
    return new HostTerms(all[0], all[1], Math.sqrt(variance[0]), Math.sqrt(variance[1]));
  }

  /** The errors are nearly linear in both terms: solve that, and again around the solution. */
  private static <R> double[] fit(List<R> rows, ToDoubleBiFunction<R, HostTerms> error) {
    double[] at = {5e-4, 1e-5};
    double[] step = {1e-4, 1e-6};
    for (int round = 0; round < ROUNDS; round++) {
      double[][] lines = new double[rows.size() + 2][3];
      for (int i = 0; i < rows.size(); i++) {
        R row = rows.get(i);
        double here = error.applyAsDouble(row, new HostTerms(at[0], at[1], 0, 0));
        double gap = error.applyAsDouble(row, new HostTerms(at[0] + step[0], at[1], 0, 0));
        double request = error.applyAsDouble(row, new HostTerms(at[0], at[1] + step[1], 0, 0));
        lines[i][1] = (gap - here) / step[0];
        lines[i][2] = (request - here) / step[1];
        lines[i][0] = here - lines[i][1] * at[0] - lines[i][2] * at[1];
      }
      lines[rows.size()] = new double[] {0, 1, 0};
      lines[rows.size() + 1] = new double[] {0, 0, 1};
      double[] next = leastAbsolute(lines, rows.size());
      boolean done = Math.abs(next[0] - at[0]) < ENOUGH && Math.abs(next[1] - at[1]) < ENOUGH / 10;
      at = next;
      if (done) {
        break;
      }
    }
    return at;
  }

  /**
   * Least sum of {@code |line[0] + line[1] x + line[2] y|} over the first {@code counted} lines
   * with x and y not below 0. It lies where two lines cross, the two axes (the lines after these)
   * among them.
   */
  private static double[] leastAbsolute(double[][] lines, int counted) {
    double[] best = {0, 0};
    double least = sum(lines, counted, 0, 0);
    for (int i = 0; i < lines.length; i++) {
      for (int j = 0; j < i; j++) {
        double det = lines[i][1] * lines[j][2] - lines[i][2] * lines[j][1];
        double x = (lines[i][2] * lines[j][0] - lines[i][0] * lines[j][2]) / det;
        double y = (lines[i][0] * lines[j][1] - lines[i][1] * lines[j][0]) / det;
        // Parallel lines give no number and fail here.
        if (x >= 0 && y >= 0) {
          double sum = sum(lines, counted, x, y);
          if (sum < least) {
            least = sum;
            best = new double[] {x, y};
          }
        }
      }
    }
    return best;
  }

  private static double sum(double[][] lines, int counted, double x, double y) {
    double sum = 0;
    for (int i = 0; i < counted; i++) {
      sum += Math.abs(lines[i][0] + lines[i][1] * x + lines[i][2] * y);
    }
    return sum;
  }
}
