package io.musabench.jmh.attention;

import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.PortableKernels;
import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelCase;
import io.musabench.jmh.device.PagedCache;
import io.musabench.jmh.device.ParameterException;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** Attention over a paged KV cache: decodes, and chunks of several queries a request. */
public class PagedDecode extends AttentionBenchmark {
  @Param("8q1s4k")
  public String batch;

  @Param("16")
  public int page;

  @Param("0")
  public int splits;

  @Benchmark
  public void time() {
    sample();
  }

  @Override
  public void validate() {
    validate(PortableKernels::requirePagedHeadDims);
    if (splits > PortableKernels.MOST_SPLITS) {
      throw new ParameterException(
          "splits", splits, "0 (heuristic) to " + PortableKernels.MOST_SPLITS + " are allowed");
    }
  }

  @Override
  protected KernelCase build(Inputs inputs) {
    BatchSpec requests = BatchSpec.parse(batch);
    HeadGeometry geometry = HeadGeometry.parse(heads);
    PagedCache cache = PagedCache.create(inputs, requests, geometry, page);
    Tensor q = inputs.activation(requests.totalQ(), geometry.qHeads(), geometry.qkDim());
    Tensor out = inputs.output(requests.totalQ(), geometry.qHeads(), geometry.vDim());
    return timed(
        inputs,
        inputs
            .cases()
            .pagedAttention(kernels(inputs, splits), cache, geometry, options(geometry), q, out));
  }
}
