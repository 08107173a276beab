package io.musabench.results.tpot;

import io.musabench.results.model.Models;
import io.musabench.results.tpot.kernels.KernelSources;
import io.musabench.results.tpot.kernels.KernelTimes;
import java.nio.file.Path;
import java.util.function.Function;

/**
 * Prints how many predictions a second one thread makes, on kernel times given on the command line.
 * Run by hand, because a time depends on the machine and on what else runs there.
 */
final class PredictionSpeed {
  private static final int LOOPS = 5;

  private PredictionSpeed() {}

  /** Takes the path of kernel times. */
  public static void main(String[] args) {
    KernelTimes times = new KernelTimes(KernelSources.open(Path.of(args[0]), Mode.GRAPH));
    Engine.Builder engine =
        Engine.of(Models.find("Qwen3-32B").layout(4)).toBuilder()
            .captureSizes(Engine.VLLM_CAPTURE_SIZES);
    for (int budget : new int[] {0, 512, Engine.VLLM_TOKEN_BUDGET}) {
      StepModel model = new StepModel(engine.tokenBudget(budget).build(), times);
      print("budget " + budget, 100_000, w -> ClosedLoop.predict(model, w));
      print(
          "budget " + budget + ", intervals", 3_000, w -> ClosedLoop.predictWithInterval(model, w));
    }
  }

  private static void print(String what, int calls, Function<Workload, Prediction> predict) {
    double best = 0;
    double sum = 0;
    for (int loop = 0; loop < LOOPS; loop++) {
      long begin = System.nanoTime();
      for (int i = 0; i < calls; i++) {
        sum += predict.apply(new Workload(1 + i % 200, 1024, 256)).tpot().value();
      }
      best = Math.max(best, calls / ((System.nanoTime() - begin) / 1e9));
    }
    System.out.printf("%s: %.0f a second (sum %.3g)%n", what, best, sum);
  }
}
