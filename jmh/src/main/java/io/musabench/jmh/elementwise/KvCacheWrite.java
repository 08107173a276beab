package io.musabench.jmh.elementwise;

import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelBenchmark;
import io.musabench.jmh.device.KernelCase;
import io.musabench.jmh.device.PagedCache;
import io.musabench.jmh.device.ParameterException;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;
import io.musabench.results.model.Layout;
import io.musabench.results.model.Models;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** Writing new keys and values into a paged KV cache. */
public class KvCacheWrite extends KernelBenchmark {
  private static final int CONTEXT = 128;

  @Param("Qwen3-0.6B")
  public String model;

  @Param("1")
  public int tp;

  @Param("8")
  public int tokens;

  @Param("16")
  public int page;

  @Benchmark
  public void time() {
    sample();
  }

  @Override
  public void validate() {
    layout();
  }

  private Layout layout() {
    return ParameterException.derive("tp", tp, () -> Models.find(model).layout(tp));
  }

  @Override
  protected KernelCase build(Inputs inputs) {
    HeadGeometry heads = layout().heads();
    PagedCache cache = PagedCache.create(inputs, BatchSpec.decode(tokens, CONTEXT), heads, page);
    long[] slots = cache.newSlots();
    return inputs
        .cases()
        .kvCacheWrite(
            heads,
            inputs.activation(tokens, heads.kvHeads(), heads.qkDim()),
            inputs.activation(tokens, heads.kvHeads(), heads.vDim()),
            cache.keys(),
            cache.values(),
            inputs.longs(slots),
            slots);
  }
}
