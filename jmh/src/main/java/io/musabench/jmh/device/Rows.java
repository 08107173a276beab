package io.musabench.jmh.device;

import java.util.Random;
import java.util.TreeSet;

/** Chooses what a check looks at: the ends, where kernels go wrong, and some in between. */
final class Rows {
  // Its own seed: a check must not change what the inputs are.
  private static final Random RANDOM = new Random(20_260_101);

  private Rows() {}

  /** At most {@code most} different numbers below {@code total}, the first and last among them. */
  static synchronized int[] some(long total, int most) {
    TreeSet<Integer> chosen = new TreeSet<>();
    int count = (int) Math.min(total, most);
    if (count > 0) {
      chosen.add(0);
    }
    if (count > 1) {
      chosen.add((int) total - 1);
    }
    while (chosen.size() < count) {
      chosen.add(total == count ? chosen.size() - 1 : RANDOM.nextInt((int) total));
    }
    return chosen.stream().mapToInt(Integer::intValue).toArray();
  }
}
