package io.musabench.jmh.samples;

import io.musabench.bindings.Target;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Ffi;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.PortableKernels;
import io.musabench.bindings.kernels.reference.LayerReference;
import io.musabench.bindings.runtime.Stream;
import java.util.Arrays;

/**
 * One kernel: open the device, make tensors, prepare the call once, launch it, read the result.
 *
 * <p>{@link Target#open} takes a MUSA device if there is one, else CUDA, else this machine's CPU;
 * {@code -Dmusabench.target=host} decides. Nothing below knows which one it is.
 */
public final class Sample01OneKernel {
  private static final int TOKENS = 4;
  private static final int HIDDEN = 1024;
  private static final double EPS = 1e-6;

  private Sample01OneKernel() {}

  public static void main(String[] args) {
    try (Target target = Target.open()) {
      Ffi ffi = target.ffi();
      PortableKernels kernels = target.kernels();

      // Kernels are launched on the thread's current stream, as TVM-FFI keeps it.
      Stream stream = target.runtime().createStream();
      ffi.setStream(stream);

      Tensor x = ffi.allocate(DType.BF16, TOKENS, HIDDEN);
      Tensor weight = ffi.allocate(DType.BF16, HIDDEN);
      Tensor out = ffi.allocate(DType.BF16, TOKENS, HIDDEN);
      kernels.randomFill(x, 1, 1.0).launch();
      kernels.randomFill(weight, 2, 1.0).launch();

      // Preparing packs the arguments into native memory; a launch then costs well below a
      // microsecond, and the same call can be launched a million times.
      PreparedCall norm = kernels.rmsNorm(x, weight, out, EPS);
      norm.launch();
      stream.synchronize(); // Launches return at once. Errors of the kernel are thrown here.

      float[] first = Arrays.copyOf(x.toFloats(), HIDDEN);
      double[] wanted = LayerReference.rmsNorm(first, weight.toFloats(), EPS);
      float[] got = out.toFloats();
      double worst = 0;
      for (int i = 0; i < HIDDEN; i++) {
        worst = Math.max(worst, Math.abs(got[i] - wanted[i]));
      }
      System.out.printf(
          "%s: row 0 differs from double precision by at most %.4f%n", norm.name(), worst);
    }
  }
}
