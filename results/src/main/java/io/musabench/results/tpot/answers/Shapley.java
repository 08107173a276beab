package io.musabench.results.tpot.answers;

/**
 * Splits the change of a quantity among the parts that changed: each gets its contribution averaged
 * over all orders in which they could have changed one after the other (Shapley). The shares add up
 * to the whole change exactly, parts that matter alike get the same, and a part that changes
 * nothing gets nothing.
 *
 * <p>Exact: the quantity is computed for each subset of changed parts, 2<sup>n</sup> times in all.
 */
public final class Shapley {
  /** A million subsets take a second; more parts than these should be grouped. */
  static final int MOST_PARTS = 20;

  /** The quantity when the parts whose bits are set have changed. */
  @FunctionalInterface
  public interface Value {
    /** The quantity; bit {@code i} of {@code changed} says whether part {@code i} has changed. */
    double of(int changed);
  }

  private Shapley() {}

  /**
   * The share of each part in {@code value(all changed) - value(none changed)}.
   *
   * @param parts number of parts, 0 to {@value #MOST_PARTS}
   */
  public static double[] split(int parts, Value value) {
    if (parts < 0 || parts > MOST_PARTS) {
      throw new IllegalArgumentException(
          "The split takes up to " + MOST_PARTS + " parts, not " + parts);
    }
    double[] values = new double[1 << parts];
    for (int set = 0; set < values.length; set++) {
      values[set] = value.of(set);
    }
    // Weight of a set of s other parts that changed before: s! (n - s - 1)! / n!
    double[] weight = new double[parts];
    for (int s = 0; s < parts; s++) {
      weight[s] = 1.0 / (parts * binomial(parts - 1, s));
    }
    double[] shares = new double[parts];
    for (int set = 0; set < values.length; set++) {
      int size = Integer.bitCount(set);
      for (int i = 0; i < parts; i++) {
        if ((set & 1 << i) == 0) {
          shares[i] += weight[size] * (values[set | 1 << i] - values[set]);
        }
      }
    }
    return shares;
  }

  private static double binomial(int n, int k) {
    double product = 1;
    for (int i = 0; i < k; i++) {
      product = product * (n - i) / (i + 1);
    }
    return product;
  }
}
