package io.musabench.jmh.elementwise;

import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelBenchmark;
import io.musabench.jmh.device.KernelCase;
import io.musabench.results.model.Models;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** Residual addition and RMS normalisation in one pass. */
public class FusedAddRmsNorm extends KernelBenchmark {
  @Param("Qwen3-0.6B")
  public String model;

  @Param("8")
  public int tokens;

  @Benchmark
  public void time() {
    sample();
  }

  @Override
  protected KernelCase build(Inputs inputs) {
    int hidden = Models.find(model).hiddenSize();
    return inputs
        .cases()
        .fusedAddRmsNorm(
            inputs.activation(tokens, hidden),
            inputs.activation(tokens, hidden),
            inputs.random(1, hidden),
            inputs.output(tokens, hidden),
            inputs.output(tokens, hidden));
  }
}
