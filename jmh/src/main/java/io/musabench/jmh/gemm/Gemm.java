package io.musabench.jmh.gemm;

import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelBenchmark;
import io.musabench.jmh.device.KernelCase;
import io.musabench.results.model.Models;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** A projection: activations times the transpose of a weight matrix. */
public class Gemm extends KernelBenchmark {
  @Param("Qwen3-0.6B")
  public String model;

  @Param("1")
  public int tp;

  @Param({"qkv", "o", "gate_up", "down", "lm_head"})
  public String projection;

  @Param("8")
  public int tokens;

  /** {@code model}, or a size that takes the place of model, projection and tokens. */
  @Param("model")
  public String mnk;

  @Benchmark
  public void time() {
    sample();
  }

  @Override
  protected KernelCase build(Inputs inputs) {
    GemmSize size =
        mnk.equals("model")
            ? GemmSize.of(Models.find(model).layout(tp), projection, tokens)
            : GemmSize.parse(mnk);
    return inputs
        .cases()
        .gemm(
            inputs.random(1, size.m(), size.k()),
            inputs.projection(size.n(), size.k()),
            inputs.output(size.m(), size.n()));
  }
}
