package io.musabench.jmh.cli;

import io.musabench.results.compare.Baselines;
import io.musabench.results.compare.Comparison;
import io.musabench.results.compare.ComparisonReport;
import io.musabench.results.compare.Judge;
import io.musabench.results.compare.MeasuredRun;
import io.musabench.results.compare.Tolerance;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How to judge and how to print it: of every command that compares. */
final class VerdictOptions {
  @Option(
      names = "--format",
      paramLabel = "NAME",
      defaultValue = "text",
      description = "text, md, json, junit or csv (default ${DEFAULT-VALUE})")
  private ComparisonReport format;

  @Option(
      names = "--alpha",
      paramLabel = "P",
      description = "chance of a false alarm among all cases together (default 0.01)")
  private double alpha = Judge.ALPHA;

  @Option(
      names = "--epsilon",
      paramLabel = "PERCENT",
      description =
          "least change that counts (default 1%%); twice a case's own noise and the resolution of"
              + " events raise it")
  private String epsilon;

  @Option(names = "--strict", description = "undecided cases are a failure, exit code 2")
  private boolean strict;

  @Mixin private BaselinesOption baselines;

  ComparisonReport format() {
    return format;
  }

  Baselines baselines() {
    return baselines.open();
  }

  /** Checks that the folder of baselines exists, if one was named. */
  void checkBaselines() {
    baselines.check();
  }

  /** What {@code qualify} found for a run's device, driver and clock mode; often nothing. */
  Map<String, Double> noise(MeasuredRun candidate) {
    return baselines.noise(candidate);
  }

  /** Checks the values, before anything is measured. */
  void check() {
    options(Map.of(), Set.of(), false);
  }

  Comparison.Options options(Map<String, Double> noise, Set<String> accepted, boolean paired) {
    if (!(alpha > 0 && alpha < 1)) {
      throw new UsageException("--alpha must lie between 0 and 1");
    }
    double least = epsilon == null ? Tolerance.LEAST : Percent.parse("--epsilon", epsilon);
    return new Comparison.Options(new Judge(alpha), least, noise, accepted, strict, paired);
  }

  void print(Comparison comparison, PrintWriter out) {
    try {
      format.write(comparison, out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    out.flush();
  }
}
