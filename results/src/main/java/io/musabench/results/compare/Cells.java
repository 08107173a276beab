package io.musabench.results.compare;

import io.musabench.results.report.Units;
import io.musabench.results.stats.Interval;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The cells of a comparison as people read them; the same in text and Markdown. */
final class Cells {
  /** A line that names more cases than this says nothing to anybody. */
  private static final int MOST_NAMES = 10;

  private Cells() {}

  static String time(MeasuredCase c) {
    return c == null ? Units.NOTHING : Units.time(c.timeUs());
  }

  static String spread(MeasuredCase c) {
    return c == null || Double.isNaN(c.halfWidth())
        ? Units.NOTHING
        : "±" + Units.percent(100 * c.halfWidth());
  }

  /** The change, whatever its verdict: the interval beside it says how sure it is. */
  static String change(CaseComparison row) {
    return row.ratio() == null ? Units.NOTHING : Units.change(percent(row.ratio().ratio()));
  }

  static String interval(CaseComparison row) {
    if (row.ratio() == null) {
      return "";
    }
    Interval ratio = row.ratio().ratio(Judge.LEVEL);
    return Units.change(percent(ratio.low())) + " to " + Units.change(percent(ratio.high()));
  }

  static String tolerance(CaseComparison row) {
    return row.tolerance() == null ? "" : Units.percent(100 * row.tolerance().fraction());
  }

  static double percent(double ratio) {
    return 100 * (ratio - 1);
  }

  static Labels labels(Comparison comparison) {
    return new Labels(comparison.rows().stream().map(CaseComparison::either).toList());
  }

  /** How many cases got which verdict. */
  static String summary(Comparison comparison) {
    List<String> words = new ArrayList<>();
    for (Verdict verdict : Verdict.values()) {
      long count = comparison.count(verdict);
      if (count > 0) {
        words.add(count + " " + verdict.text().toLowerCase(Locale.ROOT));
      }
    }
    return words.isEmpty() ? "no cases" : String.join(", ", words);
  }

  /** Why cases have no verdict, each reason once with the cases it holds for. */
  static List<String> reasons(Comparison comparison, Verdict verdict, Labels labels) {
    Map<String, List<String>> cases = new LinkedHashMap<>();
    for (CaseComparison row : comparison.rows()) {
      if (row.verdict() == verdict) {
        for (String reason : row.reason().split("; ")) {
          cases.computeIfAbsent(reason, r -> new ArrayList<>()).add(labels.of(row.id()));
        }
      }
    }
    List<String> lines = new ArrayList<>();
    cases.forEach(
        (reason, names) -> {
          String which = which(names, comparison.rows().size());
          lines.add(reason.isEmpty() ? which : reason + " (" + which + ")");
        });
    return lines;
  }

  private static String which(List<String> names, int all) {
    if (names.size() == all && all > 1) {
      return "every case";
    }
    return names.size() > MOST_NAMES ? names.size() + " cases" : String.join(", ", names);
  }
}
