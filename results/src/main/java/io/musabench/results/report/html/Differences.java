package io.musabench.results.report.html;

import io.musabench.results.compare.CaseComparison;
import io.musabench.results.compare.Comparison;
import io.musabench.results.compare.Judge;
import io.musabench.results.compare.Labels;
import io.musabench.results.compare.MeasuredCase;
import io.musabench.results.stats.Interval;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A candidate against its base, case by case. */
final class Differences {
  /** More intervals in one chart are a wall; the table has them all. */
  private static final int MOST = 40;

  private Differences() {}

  static Section section(
      Comparison comparison, String command, List<ReportedRun> runs, Cases cases) {
    Section section = new Section("differences").command(command);
    if (comparison == null) {
      return section;
    }
    // A comparison of JMH's JSON has no run behind its cases.
    int run = -1;
    for (int i = 0; i < runs.size(); i++) {
      run = runs.get(i).data().name().equals(comparison.candidate().name()) ? i : run;
    }
    section.note(
        Message.of(
            "note.differences",
            "base",
            comparison.base().name(),
            "candidate",
            comparison.candidate().name()));
    return section.add(chart(comparison, run, cases)).add(table(comparison, run, cases));
  }

  private static int number(CaseComparison row, int run, Cases cases) {
    return run < 0 ? Table.NO_CASE : cases.of(run, row.id());
  }

  private static Chart chart(Comparison comparison, int run, Cases cases) {
    List<CaseComparison> judged =
        new ArrayList<>(comparison.rows().stream().filter(r -> r.ratio() != null).toList());
    judged.sort(Comparator.comparingDouble((CaseComparison r) -> -Math.abs(r.ratio().value())));
    List<CaseComparison> shown = judged.subList(0, Math.min(MOST, judged.size()));
    Labels labels = new Labels(shown.stream().map(CaseComparison::candidate).toList());
    Chart chart =
        new Chart("differences", Message.of("chart.differences"))
            .categories("case", shown.stream().map(r -> labels.of(r.id())).toList())
            .y("change", Type.CHANGE, false);
    if (shown.size() < judged.size()) {
      chart.note(
          Message.of(
              "note.largest_of",
              "shown",
              Integer.toString(shown.size()),
              "all",
              Integer.toString(judged.size())));
    }
    Chart.Series change =
        chart.series(Message.of("series.change"), Kind.MEASURED, Chart.Shape.POINTS);
    Chart.Series slower =
        chart.series(Message.of("series.epsilon"), Kind.LIMIT, Chart.Shape.POINTS);
    for (int i = 0; i < shown.size(); i++) {
      CaseComparison row = shown.get(i);
      Interval interval = row.ratio().ratio(Judge.LEVEL);
      change.point(
          number(row, run, cases),
          i,
          percent(row.ratio().ratio()),
          percent(interval.low()),
          percent(interval.high()));
      slower.point(
          Table.NO_CASE,
          i,
          0,
          percent(1 / (1 + row.tolerance().fraction())),
          percent(1 + row.tolerance().fraction()));
    }
    return chart;
  }

  private static double percent(double ratio) {
    return 100 * (ratio - 1);
  }

  private static Table table(Comparison comparison, int run, Cases cases) {
    Table table =
        new Table("differences", Message.of("table.differences"))
            .column("case", Type.CODE)
            .column("state", Type.STATE)
            .column("base", Type.TIME_US)
            .column("candidate", Type.TIME_US)
            .column("change", Type.CHANGE)
            .column("low_95", Type.CHANGE)
            .column("high_95", Type.CHANGE)
            .column("epsilon", Type.PERCENT)
            .column("forks_base", Type.COUNT)
            .column("forks_candidate", Type.COUNT)
            .column("remark", Type.TEXT);
    for (CaseComparison row : comparison.rows()) {
      boolean judged = row.ratio() != null;
      Interval interval = judged ? row.ratio().ratio(Judge.LEVEL) : null;
      table.caseRow(
          number(row, run, cases),
          row.id(),
          row.verdict(),
          time(row.base()),
          time(row.candidate()),
          judged ? percent(row.ratio().ratio()) : Double.NaN,
          judged ? percent(interval.low()) : Double.NaN,
          judged ? percent(interval.high()) : Double.NaN,
          judged ? 100 * row.tolerance().fraction() : Double.NaN,
          forks(row.base()),
          forks(row.candidate()),
          Message.said(row.remark()));
    }
    return table;
  }

  private static double time(MeasuredCase c) {
    return c == null ? Double.NaN : c.timeUs();
  }

  private static Object forks(MeasuredCase c) {
    return c == null ? null : c.forks().size();
  }
}
