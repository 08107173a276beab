package io.musabench.results.serving;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.util.List;

/** Prints summaries: as text, as JSON, as CSV. */
public final class ServingReport {
  private final List<Summary> summaries;
  private final Prediction prediction;

  /**
   * A report on some runs.
   *
   * @param prediction a predicted TPOT to compare with, or null
   */
  public ServingReport(List<Summary> summaries, Prediction prediction) {
    this.summaries = List.copyOf(summaries);
    this.prediction = prediction;
  }

  /** For a terminal: every run, then a comparison if there are several. */
  public void text(PrintWriter out) {
    if (summaries.isEmpty()) {
      return;
    }
    Definitions d = summaries.get(0).definitions;
    out.println(String.join("; ", d.lines()));
    if (d.compat() != null) {
      out.println("differs from the course's definitions:");
      d.compat().differences().forEach(line -> out.println("  " + line));
    }
    for (Summary s : summaries) {
      out.println();
      TextReport.print(s, out);
      if (prediction != null) {
        prediction.print(s, out);
      }
    }
    out.println();
    out.println("formulas");
    formulas().forEach(f -> out.printf("  %-20s %s%n", f.id(), f.meaning()));
    if (summaries.size() > 1) {
      out.println();
      ComparisonText.print(Comparison.of(summaries), out);
    }
    out.flush();
  }

  /** The formulas behind the numbers, each once, by name. */
  private java.util.Collection<Formula> formulas() {
    java.util.Map<String, Formula> used = new java.util.TreeMap<>();
    for (Summary s : summaries) {
      s.metrics.values().stream()
          .filter(stat -> !stat.missing())
          .forEach(stat -> used.putIfAbsent(stat.formula.id(), stat.formula));
      s.others.values().forEach(stat -> used.putIfAbsent(stat.formula.id(), stat.formula));
    }
    return used.values();
  }

  /** As JSON, of the schema that {@link #schema} describes. */
  public void json(Writer out) throws IOException {
    JsonReport.write(summaries, prediction, out);
  }

  /** As CSV, one row a run. */
  public void csv(Appendable out) throws IOException {
    CsvReport.write(summaries, out);
  }

  /** As the end-to-end table that {@code musabench tpot identify} reads. */
  public void endToEndCsv(Appendable out) throws IOException {
    CsvReport.endToEnd(summaries, out);
  }

  /** Whether every run passes every item of the checklist. */
  public boolean checklistPasses() {
    return summaries.stream().allMatch(Summary::checklistPasses);
  }

  /** The JSON Schema of the JSON output. */
  public static String schema() {
    try (var in = ServingReport.class.getResourceAsStream("serving.schema.json")) {
      return new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
