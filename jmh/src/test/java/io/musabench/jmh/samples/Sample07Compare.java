package io.musabench.jmh.samples;

import io.musabench.results.compare.CaseComparison;
import io.musabench.results.compare.Comparison;
import io.musabench.results.compare.MeasuredRun;
import java.nio.file.Path;

/**
 * Is the candidate slower? Two run directories, or the JMH JSON of any project, with at least four
 * forks a side.
 */
public final class Sample07Compare {
  private Sample07Compare() {}

  /** Takes the base and the candidate. */
  public static void main(String[] args) {
    MeasuredRun base = MeasuredRun.read(Path.of(args[0]));
    MeasuredRun candidate = MeasuredRun.read(Path.of(args[1]));
    Comparison comparison = Comparison.of(base, candidate, Comparison.Options.DEFAULT);
    for (CaseComparison row : comparison.rows()) {
      System.out.printf("%s: %s%n", row.id(), row.verdict());
    }
    // What `musabench compare` would end with: 0 fine, 1 regression, 3 not comparable.
    System.out.println("exit code " + comparison.exitCode());
  }
}
