package io.musabench.jmh.roof;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.jmh.device.Agreement;
import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelBenchmark;
import io.musabench.jmh.device.KernelCase;
import io.musabench.results.model.Work;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** How fast the device multiplies and adds with all operands in registers. */
public class PeakFlops extends KernelBenchmark {
  @Param("1000000")
  public long iterations;

  @Benchmark
  public void time() {
    sample();
  }

  @Override
  protected KernelCase build(Inputs inputs) {
    Tensor out = inputs.output(DType.F32, 1);
    return new KernelCase(
        "iterations=" + iterations,
        new Work(iterations * inputs.kernels().peakFlopsPerIteration(), 0),
        inputs.kernels().peakFlops(iterations, out),
        List.of(out),
        () -> new Agreement(1, 0)); // That a number was written is all there is to check.
  }
}
