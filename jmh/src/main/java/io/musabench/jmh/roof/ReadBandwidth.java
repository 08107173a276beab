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

/**
 * How fast the device reads memory; the best over stream counts and kinds of memory is the roof.
 */
public class ReadBandwidth extends KernelBenchmark {
  @Param("268435456")
  public long bytes;

  @Param({"1", "4", "16"})
  public int streams;

  /**
   * {@code device}, or {@code host}: page-locked. On the host device these differ in the size of
   * their pages, 2 MiB and 4 KiB; on a GPU the second is read through the link.
   */
  @Param({"device", "host"})
  public String memory;

  @Benchmark
  public void time() {
    sample();
  }

  @Override
  protected KernelCase build(Inputs inputs) {
    Tensor source = memory.equals("host") ? inputs.hostBytes(bytes) : inputs.bytes(bytes);
    Tensor out = inputs.output(DType.F32, 1);
    return new KernelCase(
        "bytes=" + bytes + " streams=" + streams + " memory=" + memory,
        new Work(0, bytes),
        inputs.kernels().readBandwidth(source, streams, out),
        List.of(out),
        () -> Agreement.NONE); // That the sum was written is all there is to check.
  }
}
