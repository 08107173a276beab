package io.musabench.jmh.elementwise;

import io.musabench.bindings.ffi.DType;
import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelBenchmark;
import io.musabench.jmh.device.KernelCase;
import io.musabench.jmh.device.ParameterException;
import io.musabench.results.model.Layout;
import io.musabench.results.model.Models;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** Greedy sampling: the index of each row's greatest logit. */
public class Sampler extends KernelBenchmark {
  @Param("Qwen3-0.6B")
  public String model;

  @Param("1")
  public int tp;

  @Param("8")
  public int tokens;

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
    int vocabulary = layout().vocabSize();
    return inputs
        .cases()
        .argmax(inputs.activation(tokens, vocabulary), inputs.output(DType.I32, tokens));
  }
}
