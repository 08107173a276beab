package io.musabench.results.compare;

import io.musabench.results.report.Markdown;
import io.musabench.results.report.Units;

/** A comparison in Markdown: what needs attention first, the rest folded away. */
final class MarkdownForm {
  private final Comparison comparison;
  private final Labels labels;

  MarkdownForm(Comparison comparison) {
    this.comparison = comparison;
    this.labels = Cells.labels(comparison);
  }

  @Override
  public String toString() {
    Markdown attention = table();
    Markdown fine = table();
    for (CaseComparison row : comparison.rows()) {
      boolean same = row.verdict() == Verdict.SAME || row.verdict() == Verdict.NEW;
      row(same ? fine : attention, row);
    }
    StringBuilder out = new StringBuilder();
    out.append("**musabench compare: ").append(Cells.summary(comparison)).append("**");
    if (!Double.isNaN(comparison.geometricMean())) {
      out.append(", geometric mean ")
          .append(Units.change(Cells.percent(comparison.geometricMean())));
    }
    out.append("\n\nbase ").append(side(comparison.base()));
    out.append(", candidate ").append(side(comparison.candidate())).append('\n');
    if (!labels.caption().isEmpty()) {
      out.append("\n").append(Markdown.escape(labels.caption())).append("\n");
    }
    if (!attention.isEmpty()) {
      out.append("\n").append(attention);
    }
    if (!fine.isEmpty()) {
      out.append("\n<details><summary>same or new</summary>\n\n");
      out.append(fine).append("\n</details>\n");
    }
    return out.toString();
  }

  private static String side(MeasuredRun run) {
    String partial = run.partial().isEmpty() ? "" : " (" + run.partial() + ")";
    return Markdown.code(run.name()) + partial;
  }

  private static Markdown table() {
    return new Markdown(
        "case", ">base", ">candidate", ">change", ">95 % interval", ">epsilon", "verdict");
  }

  private void row(Markdown table, CaseComparison row) {
    String verdict = row.verdict().text();
    if (row.regression()) {
      verdict = "**" + verdict + "**";
    }
    table.markup(
        Markdown.escape(labels.of(row.id())),
        Cells.time(row.base()) + " " + Cells.spread(row.base()),
        Cells.time(row.candidate()) + " " + Cells.spread(row.candidate()),
        Cells.change(row),
        Cells.interval(row),
        Cells.tolerance(row),
        row.remark().isEmpty() ? verdict : verdict + ": " + Markdown.escape(row.remark()));
  }
}
