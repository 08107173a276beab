package io.musabench.jmh.samples;

import io.musabench.bindings.Target;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Ffi;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Program;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.runtime.Attribute;
import io.musabench.bindings.runtime.Event;
import io.musabench.bindings.runtime.Stream;
import java.util.ArrayList;
import java.util.List;

/**
 * Cold and hot: a weight that was just read lies in a cache, and a GEMM that finds it there is
 * faster than any in a model, where all other weights are read in between.
 *
 * <p>Cold operands rotate over copies that together exceed the last-level cache. That needs no
 * flush between the launches, so nothing but the kernel lies in the timed span.
 */
public final class Sample03ColdAndHot {
  private static final int N = 1024;
  private static final int K = 1024;
  private static final int LAUNCHES = 64;

  private Sample03ColdAndHot() {}

  public static void main(String[] args) {
    try (Target target = Target.open()) {
      Ffi ffi = target.ffi();
      Stream stream = target.runtime().createStream();
      ffi.setStream(stream);
      long cache =
          target.runtime().currentDevice().findAttribute(Attribute.L2_CACHE_SIZE).orElse(64 << 20);
      int copies = (int) (2 * cache / (2L * N * K)) + 2;

      Tensor a = ffi.allocate(DType.BF16, 1, K);
      Tensor out = ffi.allocate(DType.BF16, 1, N);
      target.kernels().randomFill(a, 1, 1.0).launch();
      List<PreparedCall> calls = new ArrayList<>();
      for (int i = 0; i < copies; i++) {
        Tensor weight = ffi.allocate(DType.BF16, N, K);
        target.kernels().randomFill(weight, 2 + i, 0.03).launch();
        calls.add(target.kernels().gemm(a, weight, out, null));
      }

      double hot = time(target, stream, List.of(calls.get(0)));
      double cold = time(target, stream, calls);
      System.out.printf(
          "gemm m=1 n=%d k=%d: %.1f us hot, %.1f us cold over %d copies%n",
          N, K, hot, cold, copies);
    }
  }

  /** Microseconds a launch, taking the calls in turn. */
  private static double time(Target target, Stream stream, List<PreparedCall> calls) {
    Event start = target.runtime().createEvent();
    Event end = target.runtime().createEvent();
    // A program is queued in one native loop: no Java, and no garbage collector, between launches.
    Program.Builder program = Program.builder(target.ffi());
    calls.forEach(program::call); // Warm-up, outside of the span.
    program.record(start, stream);
    for (int i = 0; i < LAUNCHES; i++) {
      program.call(calls.get(i % calls.size()));
    }
    program.record(end, stream).build().run();
    end.synchronize();
    return 1e3 * end.millisecondsSince(start) / LAUNCHES;
  }
}
