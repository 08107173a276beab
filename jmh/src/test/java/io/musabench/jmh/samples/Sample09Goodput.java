package io.musabench.jmh.samples;

import io.musabench.results.serving.Analysis;
import io.musabench.results.serving.Definitions;
import io.musabench.results.serving.Goodput;
import io.musabench.results.serving.Metric;
import io.musabench.results.serving.ServingFiles;
import io.musabench.results.serving.Slo;
import io.musabench.results.serving.Summary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/**
 * What a serving benchmark's file says: the metrics by the course's definitions, and how many
 * requests a second kept their limits.
 */
public final class Sample09Goodput {
  private Sample09Goodput() {}

  /** Takes a result file of one of the tools that `musabench serving --help` names. */
  public static void main(String[] args) throws IOException {
    Slo slo = Slo.of(1000, 50); // TTFT and TPOT in milliseconds.
    Analysis analysis = new Analysis(Definitions.COURSE, slo, Map.of());
    for (Summary run : analysis.of(ServingFiles.read(Path.of(args[0]), null))) {
      Goodput goodput = run.goodput();
      System.out.printf(
          "TPOT %s; good: %d of %d requests, %.2f a second%n",
          run.stat(Metric.TPOT), goodput.good(), goodput.considered(), goodput.requestsPerS());
    }
  }
}
