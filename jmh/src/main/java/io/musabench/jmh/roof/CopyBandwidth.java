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

/** How fast the device copies memory; a byte copied is a byte read and a byte written. */
public class CopyBandwidth extends KernelBenchmark {
  @Param("268435456")
  public long bytes;

  @Benchmark
  public void time() {
    sample();
  }

  @Override
  protected KernelCase build(Inputs inputs) {
    Tensor source = inputs.bytes(bytes);
    Tensor destination = inputs.output(DType.U8, bytes);
    return new KernelCase(
        "bytes=" + bytes,
        new Work(0, 2 * bytes),
        inputs.kernels().copyBandwidth(source, destination),
        List.of(destination),
        () -> Agreement.requireSameBytes("copy_bandwidth", source, destination));
  }
}
