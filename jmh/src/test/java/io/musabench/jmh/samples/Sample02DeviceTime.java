package io.musabench.jmh.samples;

import io.musabench.bindings.Target;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Ffi;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.runtime.Event;
import io.musabench.bindings.runtime.Stream;
import java.util.Arrays;

/**
 * Device time: what events on the stream say, beside what the host's clock says of the same launch.
 *
 * <p>The host's clock around a launch shows what it costs to queue the kernel, not what the kernel
 * takes: the launch returns before the kernel has run. With a synchronize inside it also shows the
 * way there and back. Events are reached on the device itself.
 */
public final class Sample02DeviceTime {
  private static final int SAMPLES = 31;

  private Sample02DeviceTime() {}

  public static void main(String[] args) {
    try (Target target = Target.open()) {
      Ffi ffi = target.ffi();
      Stream stream = target.runtime().createStream();
      ffi.setStream(stream);
      Tensor x = ffi.allocate(DType.BF16, 64, 6144);
      Tensor out = ffi.allocate(DType.BF16, 64, 3072);
      target.kernels().randomFill(x, 1, 1.0).launch();
      PreparedCall kernel = target.kernels().siluAndMul(x, out);

      Event start = target.runtime().createEvent();
      Event end = target.runtime().createEvent();
      double[] queued = new double[SAMPLES];
      double[] finished = new double[SAMPLES];
      double[] device = new double[SAMPLES];
      for (int i = -3; i < SAMPLES; i++) { // The first three warm up and are thrown away.
        start.record(stream);
        long before = System.nanoTime();
        kernel.launch();
        long returned = System.nanoTime();
        end.record(stream);
        end.synchronize();
        long after = System.nanoTime();
        if (i >= 0) {
          queued[i] = (returned - before) / 1e3;
          finished[i] = (after - before) / 1e3;
          device[i] = 1e3 * end.millisecondsSince(start);
        }
      }
      System.out.printf(
          "medians: queued after %.1f us, finished after %.1f us, between the events %.1f us%n",
          median(queued), median(finished), median(device));
    }
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
