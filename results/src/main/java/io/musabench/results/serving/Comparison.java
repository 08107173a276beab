package io.musabench.results.serving;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Several runs side by side. A column holds one definition only: a value by another formula is left
 * blank and the row says what it would have been. The column's definition is the default one if a
 * run has it, else that of the first run that may stand in the column at all.
 */
final class Comparison {
  private Comparison() {}

  /**
   * One run in the table.
   *
   * @param blanked what is not comparable with the column's definition, and why; empty if nothing
   * @param blanks the metrics that this is about
   * @param remarks what to know about values that are shown
   */
  record Row(Summary summary, List<String> blanked, Set<Metric> blanks, List<String> remarks) {
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
    boolean answerOnly = answerMayBeginLater(summaries);
    for (Summary s : summaries) {
      List<String> blanked = new ArrayList<>();
      Set<Metric> blanks = EnumSet.noneOf(Metric.class);
      for (Metric metric : new Metric[] {Metric.TTFT, Metric.TPOT, Metric.ITL, Metric.E2E}) {
        Stat stat = s.stat(metric);
        if (!stat.missing() && !inColumn(stat.formula, metric, summaries, answerOnly)) {
          blanks.add(metric);
          blanked.add(
              metric.id() + " is " + stat.formula.id() + " here (" + stat.formula.meaning() + ")");
        }
      }
      rows.add(new Row(s, blanked, blanks, remarks(s)));
    }
    return rows;
  }

  private static boolean inColumn(
      Formula formula, Metric metric, List<Summary> summaries, boolean answerOnly) {
    if (allAlike(metric, summaries)) {
      return true;
    }
    if (!formula.comparable()) {
      return false;
    }
    if (metric == Metric.TTFT && !answerOnly) {
      return true;
    }
    List<Formula> candidates =
        summaries.stream()
            .map(s -> s.stat(metric))
            .filter(stat -> !stat.missing() && stat.formula.comparable())
            .map(stat -> stat.formula)
            .toList();
    Formula wanted = summaries.get(0).definitions.formula(metric);
    return formula == (candidates.contains(wanted) ? wanted : candidates.get(0));
  }

  /**
   * Whether the first token of an answer may be another than the first token: where a run is known
   * to reason first, and where no run tells reasoning from the answer and finds none. One that does
   * speaks for the others, unless they are known to be of other models.
   */
  private static boolean answerMayBeginLater(List<Summary> summaries) {
    return summaries.stream().anyMatch(Comparison::reasons)
        || summaries.stream().noneMatch(s -> s.run.tellsReasoning)
        || summaries.stream().map(s -> s.labels.getOrDefault("model", "")).distinct().count() > 1;
  }

  private static boolean reasons(Summary s) {
    Stat answer = s.stat(Metric.TTFO);
    return answer != null && answer.mean > 1.001 * s.stat(Metric.TTFT).mean;
  }

  /** Percentiles that a file states are by its tool's method, whatever was asked for. */
  private static List<String> remarks(Summary s) {
    if (s.run.hasRequests()) {
      return List.of();
    }
    return switch (s.run.tool) {
      case "guidellm" -> List.of("percentiles are the tool's: values that occurred (inverted CDF)");
      case "evalscope" -> List.of("percentiles are the tool's: values that occurred, rounded");
      default -> List.of();
    };
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
