package io.musabench.jmh.attention;

import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.PortableKernels;
import io.musabench.jmh.device.AttentionKernels;
import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelCase;
import io.musabench.jmh.device.ParameterException;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;
import java.util.Arrays;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** Attention over contiguous keys and values: prefills of equal or different lengths. */
public class FmhaPrefill extends AttentionBenchmark {
  @Param("q1k")
  public String batch;

  @Benchmark
  public void time() {
    sample();
  }

  @Override
  public void validate() {
    BatchSpec requests = ParameterException.derive("batch", batch, () -> BatchSpec.parse(batch));
    long tokens = requests.totalKv();
    if (tokens > Integer.MAX_VALUE) {
      throw new ParameterException(
          "batch", batch, tokens + " keys are more than the " + Integer.MAX_VALUE + " of one call");
    }
    validate(PortableKernels::requireHeadDims);
  }

  @Override
  protected KernelCase build(Inputs inputs) {
    BatchSpec requests = BatchSpec.parse(batch);
    HeadGeometry geometry = HeadGeometry.parse(heads);
    int[] starts = new int[requests.size() + 1];
    System.arraycopy(requests.kvLens(), 0, starts, 1, requests.size());
    Arrays.parallelPrefix(starts, Math::addExact);
    int keys = starts[requests.size()];
    Tensor q = inputs.activation(requests.totalQ(), geometry.qHeads(), geometry.qkDim());
    Tensor k = inputs.activation(keys, geometry.kvHeads(), geometry.qkDim());
    Tensor v = inputs.activation(keys, geometry.kvHeads(), geometry.vDim());
    Tensor out = inputs.output(requests.totalQ(), geometry.qHeads(), geometry.vDim());
    return timed(
        inputs,
        inputs
            .cases()
            .fmhaPrefill(
                kernels(inputs, 0),
                requests,
                geometry,
                options(geometry),
                new AttentionKernels.Contiguous(
                    q, k, v, out, inputs.ints(requests.cuSeqlensQ()), inputs.ints(starts))));
  }
}
