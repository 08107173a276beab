package io.musabench.jmh.samples;

import io.musabench.results.model.Layout;
import io.musabench.results.model.Models;
import io.musabench.results.tpot.ClosedLoop;
import io.musabench.results.tpot.Engine;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Prediction;
import io.musabench.results.tpot.StepModel;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.kernels.KernelSource;
import io.musabench.results.tpot.kernels.KernelSources;
import io.musabench.results.tpot.kernels.KernelTimes;
import java.nio.file.Path;

/**
 * From kernel times to TPOT: what would a service feel that runs a model with these kernels?
 *
 * <p>What the source has no time for is taken from the roofs it measured, and is called assumed.
 */
public final class Sample08Tpot {
  private Sample08Tpot() {}

  /** Takes a run directory, or another source of kernel times. */
  public static void main(String[] args) {
    KernelSource source = KernelSources.open(Path.of(args[0]), Mode.GRAPH);
    KernelTimes kernels = new KernelTimes(source);
    Layout layout = new Layout(Models.find("Qwen3-0.6B"), 1);
    StepModel steps = new StepModel(Engine.of(layout), kernels);
    for (int concurrency : new int[] {1, 2, 4, 8}) {
      Prediction p = ClosedLoop.predictWithInterval(steps, new Workload(concurrency, 512, 128));
      System.out.printf(
          "concurrency %d: TPOT %.1f ms (%.1f to %.1f, %s), bound by %s%n",
          concurrency,
          1e3 * p.tpot().value(),
          1e3 * p.tpot().low(),
          1e3 * p.tpot().high(),
          p.tpot().provenance(),
          p.bound());
    }
    System.out.println("assumed: " + kernels.assumed());
  }
}
