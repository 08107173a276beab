package io.musabench.results.serving;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Several runs side by side. A column holds one definition only: a value by another formula is left
 * blank and the row says what it would have been.
 */
final class Comparison {
  private Comparison() {}

  /**
   * One run in the table.
   *
   * @param blanked what is not comparable with the column's definition, and why; empty if nothing
   * @param blanks the metrics that this is about
   */
  record Row(Summary summary, List<String> blanked, Set<Metric> blanks) {
    boolean comparable() {
      return blanked.isEmpty();
    }

    /** The statistics, or null where they are by another definition than the column's. */
    Stat stat(Metric metric) {
      return blanks.contains(metric) ? null : summary.stat(metric);
    }
  }

  static List<Row> of(List<Summary> summaries) {
    List<Row> rows = new ArrayList<>();
    for (Summary s : summaries) {
      List<String> blanked = new ArrayList<>();
      Set<Metric> blanks = EnumSet.noneOf(Metric.class);
      for (Metric metric : new Metric[] {Metric.TTFT, Metric.TPOT, Metric.ITL, Metric.E2E}) {
        Stat stat = s.stat(metric);
        if (!stat.missing() && !stat.formula.comparable() && !allAlike(metric, summaries)) {
          blanks.add(metric);
          blanked.add(
              metric.id() + " is " + stat.formula.id() + " here (" + stat.formula.meaning() + ")");
        }
      }
      rows.add(new Row(s, blanked, blanks));
    }
    return rows;
  }

  /** Whether all runs that have the metric have it by one formula: then that is the column's. */
  private static boolean allAlike(Metric metric, List<Summary> summaries) {
    return summaries.stream()
            .map(s -> s.stat(metric))
            .filter(stat -> !stat.missing())
            .map(stat -> stat.formula)
            .distinct()
            .count()
        == 1;
  }
}
