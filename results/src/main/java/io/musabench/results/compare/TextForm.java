package io.musabench.results.compare;

import io.musabench.results.Printable;
import io.musabench.results.report.TextTable;
import io.musabench.results.report.Units;
import java.util.List;
import java.util.regex.Pattern;

/** A comparison for the terminal, in the manner of benchstat. */
final class TextForm {
  /** A reason that names a condition; a unit is none that could be accepted. */
  private static final Pattern CONDITION = Pattern.compile("^(?!unit:)[\\w.]+: .* against ");

  private final Comparison comparison;
  private final Labels labels;
  private final StringBuilder out = new StringBuilder();

  TextForm(Comparison comparison) {
    this.comparison = comparison;
    this.labels = Cells.labels(comparison);
  }

  @Override
  public String toString() {
    out.setLength(0);
    side("base", comparison.base());
    side("candidate", comparison.candidate());
    out.append("%-10s ".formatted("judged by")).append(unit()).append('\n');
    out.append('\n');
    table();
    reasons("Not comparable", Verdict.NOT_COMPARABLE);
    reasons("Missing in the candidate, which counts as a regression", Verdict.MISSING);
    reasons("New, not judged", Verdict.NEW);
    crashes();
    out.append('\n').append(Cells.summary(comparison)).append('\n');
    return out.toString();
  }

  private String unit() {
    String unit = comparison.options().paired() ? "pairs of forks" : "forks";
    return "%s, chance of a false alarm among all cases %s"
        .formatted(unit, Units.percent(100 * comparison.options().judge().alpha()));
  }

  private void side(String name, MeasuredRun run) {
    StringBuilder line = new StringBuilder(run.name());
    line.append(run.device().isEmpty() ? "" : ", " + run.device());
    line.append(run.partial().isEmpty() ? "" : ", " + run.partial());
    out.append("%-10s %s%n".formatted(name, Printable.line(line.toString())));
  }

  private void table() {
    TextTable table =
        new TextTable(
                "case",
                ">base",
                ">",
                ">candidate",
                ">",
                ">change",
                ">95 % interval",
                ">epsilon",
                "verdict",
                "")
            .uncut();
    for (CaseComparison row : comparison.rows()) {
      if (row.verdict().judged() || row.verdict() == Verdict.NOT_COMPARABLE) {
        table.row(
            labels.of(row.id()),
            Cells.time(row.base()),
            Cells.spread(row.base()),
            Cells.time(row.candidate()),
            Cells.spread(row.candidate()),
            Cells.change(row),
            Cells.interval(row),
            Cells.tolerance(row),
            row.verdict().text(),
            row.verdict().judged() ? row.remark() : "");
      }
    }
    if (table.isEmpty()) {
      return;
    }
    if (comparison.rows().stream().filter(row -> row.ratio() != null).count() > 1) {
      table.row(
          "geometric mean",
          "",
          "",
          "",
          "",
          Units.change(Cells.percent(comparison.geometricMean())),
          "",
          "",
          "",
          "");
    }
    String caption = Printable.line(labels.caption());
    out.append(caption.isEmpty() ? "" : caption + "\n").append(table);
  }

  private void crashes() {
    List<String> cases =
        comparison.rows().stream()
            .filter(CaseComparison::crashesMore)
            .map(row -> labels.of(row.id()) + ": " + row.remark())
            .toList();
    if (!cases.isEmpty()) {
      out.append("\nForks of the candidate crashed, which counts as a regression\n");
      cases.forEach(line -> out.append("  ").append(Printable.line(line)).append('\n'));
    }
  }

  private void reasons(String heading, Verdict verdict) {
    List<String> reasons = Cells.reasons(comparison, verdict, labels);
    if (reasons.isEmpty()) {
      return;
    }
    out.append('\n').append(heading).append('\n');
    reasons.forEach(reason -> out.append("  ").append(Printable.line(reason)).append('\n'));
    if (reasons.stream().anyMatch(CONDITION.asPredicate())) {
      out.append("  A difference that is meant to be there is accepted by --accept NAME.\n");
    }
  }
}
