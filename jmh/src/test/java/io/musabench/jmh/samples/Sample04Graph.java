package io.musabench.jmh.samples;

import io.musabench.bindings.Target;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Ffi;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.runtime.Graph;
import io.musabench.bindings.runtime.GraphExec;
import io.musabench.bindings.runtime.Stream;

/**
 * A graph: captured once, replayed with one call in place of one a kernel.
 *
 * <p>Capture records what is launched on the stream and runs nothing. The replay runs the kernels
 * on the addresses of then; new inputs are written to these addresses.
 */
public final class Sample04Graph {
  private static final int KERNELS = 200;

  private Sample04Graph() {}

  public static void main(String[] args) {
    try (Target target = Target.open()) {
      Ffi ffi = target.ffi();
      Stream stream = target.runtime().createStream(); // The default stream cannot be captured.
      ffi.setStream(stream);
      Tensor x = ffi.allocate(DType.BF16, 1, 1024);
      Tensor weight = ffi.allocate(DType.BF16, 1024);
      Tensor out = ffi.allocate(DType.BF16, 1, 1024);
      target.kernels().randomFill(x, 1, 1.0).launch();
      target.kernels().randomFill(weight, 2, 1.0).launch();
      PreparedCall kernel = target.kernels().rmsNorm(x, weight, out, 1e-6);
      Runnable step =
          () -> {
            for (int i = 0; i < KERNELS; i++) {
              kernel.launch();
            }
          };
      step.run(); // Warm-up.
      stream.synchronize();

      long start = System.nanoTime();
      step.run();
      double eagerUs = (System.nanoTime() - start) / 1e3;
      stream.synchronize();
      long eager = out.checksum();

      // The graph must stay open as long as what was made from it.
      try (Graph graph = target.runtime().capture(stream, step);
          GraphExec replay = graph.instantiate()) {
        replay.launch(stream);
        stream.synchronize();

        out.poison();
        start = System.nanoTime();
        replay.launch(stream);
        double graphUs = (System.nanoTime() - start) / 1e3;
        stream.synchronize();
        System.out.printf(
            "%d nodes: queued in %.1f us eager, %.1f us as a graph, same bits: %s%n",
            graph.nodeCount(), eagerUs, graphUs, out.checksum() == eager);
      }
    }
  }
}
