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

/** How fast the device reads memory; the best over the stream counts is the roof. */
public class ReadBandwidth extends KernelBenchmark {
  @Param("268435456")
  public long bytes;

  @Param({"1", "4", "16"})
  public int streams;

  @Benchmark
  public void time() {
    sample();
  }

  @Override
  protected KernelCase build(Inputs inputs) {
    Tensor source = inputs.bytes(bytes);
    Tensor out = inputs.output(DType.F32, 1);
    return new KernelCase(
        "bytes=" + bytes + " streams=" + streams,
        new Work(0, bytes),
        inputs.kernels().readBandwidth(source, streams, out),
        List.of(out),
        () -> new Agreement(1, 0)); // That the sum was written is all there is to check.
  }
}
