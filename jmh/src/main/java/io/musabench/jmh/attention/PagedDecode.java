package io.musabench.jmh.attention;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.AttentionOptions;
import io.musabench.bindings.kernels.PortableKernels;
import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelBenchmark;
import io.musabench.jmh.device.KernelCase;
import io.musabench.jmh.device.PagedCache;
import io.musabench.jmh.device.ParameterException;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** Attention over a paged KV cache: decodes, and chunks of several queries a request. */
public class PagedDecode extends KernelBenchmark {
  @Param("8q1s4k")
  public String batch;

  @Param("16:8:128")
  public String heads;

  @Param("16")
  public int page;

  @Param("0")
  public int splits;

  @Param("true")
  public boolean causal;

  @Param("-1")
  public int window;

  @Param("0")
  public double softcap;

  @Benchmark
  public void time() {
    sample();
  }

  @Override
  public void validate() {
    ParameterException.check(
        "heads",
        heads,
        () -> {
          HeadGeometry geometry = HeadGeometry.parse(heads);
          PortableKernels.requirePagedHeadDims(geometry.qkDim(), geometry.vDim());
        });
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
    Tensor q = inputs.random(1, requests.totalQ(), geometry.qHeads(), geometry.qkDim());
    Tensor out = inputs.output(requests.totalQ(), geometry.qHeads(), geometry.vDim());
    long workspace =
        inputs
            .kernels()
            .pagedAttentionWorkspace(
                requests.size(),
                requests.maxQ(),
                requests.totalQ(),
                geometry.qHeads(),
                geometry.kvHeads(),
                geometry.qkDim(),
                cache.capacity(),
                splits);
    AttentionOptions options =
        new AttentionOptions(1 / Math.sqrt(geometry.qkDim()), causal, window, -1, softcap);
    return inputs
        .cases()
        .pagedAttention(
            cache, geometry, options, q, out, splits, inputs.output(DType.U8, workspace));
  }
}
