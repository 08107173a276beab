package io.musabench.results.audit;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Finds the smallest change of one number that satisfies a check. */
final class Search {
  /** Changes by more than this are another measurement, not a correction. */
  private static final double LARGEST_FACTOR = 20;

  private static final double STEP = 1.005;

  private Search() {}

  /**
   * Tries each key by itself.
   *
   * @param accepts whether the changed subject passes
   * @return what works, the smallest first
   */
  static List<Edit> edits(
      RowChecks.Subject s, List<String> keys, Function<RowChecks.Subject, Boolean> accepts) {
    List<Edit> found = new ArrayList<>();
    for (String key : keys) {
      if (s.row().has(key)) {
        nearest(s, key, accepts)
            .ifPresent(to -> found.add(new Edit(s.row().column(key), key, s.row().get(key), to)));
      }
    }
    found.sort(Comparator.comparingDouble(Edit::factor));
    return found;
  }

  private static Optional<Double> nearest(
      RowChecks.Subject s, String key, Function<RowChecks.Subject, Boolean> accepts) {
    double from = s.row().get(key);
    if (!(from > 0)) {
      return Optional.empty();
    }
    for (double factor = STEP; factor <= LARGEST_FACTOR; factor *= STEP) {
      for (double f : new double[] {factor, 1 / factor}) {
        if (accepts.apply(s.with(key, from * f))) {
          return Optional.of(
              refine(s, key, accepts, from * f / (f > 1 ? STEP : 1 / STEP), from * f));
        }
      }
    }
    return Optional.empty();
  }

  private static double refine(
      RowChecks.Subject s,
      String key,
      Function<RowChecks.Subject, Boolean> accepts,
      double fails,
      double passes) {
    for (int i = 0; i < 20; i++) {
      double middle = (fails + passes) / 2;
      if (accepts.apply(s.with(key, middle))) {
        passes = middle;
      } else {
        fails = middle;
      }
    }
    return passes;
  }
}
