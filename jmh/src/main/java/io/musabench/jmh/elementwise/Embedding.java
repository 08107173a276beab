package io.musabench.jmh.elementwise;

import io.musabench.bindings.ffi.Tensor;
import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelBenchmark;
import io.musabench.jmh.device.KernelCase;
import io.musabench.jmh.device.ParameterException;
import io.musabench.results.model.Layout;
import io.musabench.results.model.Models;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** Row gather from the embedding table. */
public class Embedding extends KernelBenchmark {
  @Param("Qwen3-0.6B")
  public String model;

  @Param("1")
  public int tp;

  @Param("8")
  public int tokens;

  // One for all copies: a launch touches but a few of its rows, and those differ.
  private Tensor table;

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
    Layout layout = layout();
    int hidden = layout.model().hiddenSize();
    if (table == null) {
      table = inputs.random(1, layout.vocabSize(), hidden);
    }
    int[] ids = inputs.random().ints(tokens, 0, layout.vocabSize()).toArray();
    return inputs.cases().embedding(inputs.ints(ids), table, inputs.output(tokens, hidden));
  }
}
