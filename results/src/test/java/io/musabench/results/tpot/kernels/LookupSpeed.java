package io.musabench.results.tpot.kernels;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.KernelCall.Gemm;
import io.musabench.results.model.KernelCall.PagedAttention;
import io.musabench.results.model.Layout;
import io.musabench.results.model.Mask;
import io.musabench.results.model.ModelOperations;
import io.musabench.results.model.Models;
import io.musabench.results.model.Operation;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Mode;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntToDoubleFunction;

/**
 * Prints how fast kernel times load and are looked up, for whoever changes them; not a test,
 * because a time depends on the machine and on what else runs there.
 */
final class LookupSpeed {
  private static final int LOOPS = 6;
  private static final int CALLS = 2_000_000;

  private LookupSpeed() {}

  /** Takes the path of kernel times. */
  public static void main(String[] args) {
    long begin = System.nanoTime();
    KernelSource source = KernelSources.open(Path.of(args[0]), Mode.GRAPH);
    System.out.printf("load %.0f ms, cold JVM%n", (System.nanoTime() - begin) / 1e6);
    begin = System.nanoTime();
    source.leaveOneOut();
    System.out.printf("leave one out %.0f ms, cold JVM%n", (System.nanoTime() - begin) / 1e6);

    KernelTimes times = new KernelTimes(source);
    Layout layout = Models.find("Qwen3-32B").layout(2);
    List<KernelCall> step =
        ModelOperations.of(layout, BatchSpec.decode(100, 1500), 16).stream()
            .map(Operation::call)
            .toList();
    print(
        "remembered calls of a step",
        i -> times.of(step.get(i % step.size()), Precision.BF16).seconds());
    print(
        "new product each",
        i ->
            source
                .time(new Gemm(1 + i % 8000, 6400 + i % 7, 5120), Precision.BF16)
                .get()
                .seconds());
    print(
        "new decode attention each",
        i ->
            source
                .time(
                    new PagedAttention(
                        BatchSpec.decode(100, 1000 + i % 3000), layout.heads(), Mask.CAUSAL, 16),
                    Precision.BF16)
                .get()
                .seconds());
  }

  private static void print(String what, IntToDoubleFunction look) {
    double best = 0;
    double sum = 0;
    for (int loop = 0; loop < LOOPS; loop++) {
      long begin = System.nanoTime();
      for (int i = 0; i < CALLS; i++) {
        sum += look.applyAsDouble(i);
      }
      best = Math.max(best, CALLS / ((System.nanoTime() - begin) / 1e9));
    }
    System.out.printf("%s: %.1f million a second (sum %.3g)%n", what, best / 1e6, sum);
  }
}
