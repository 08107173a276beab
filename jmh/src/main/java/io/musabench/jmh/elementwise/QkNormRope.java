package io.musabench.jmh.elementwise;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.kernels.reference.LayerReference;
import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelBenchmark;
import io.musabench.jmh.device.KernelCase;
import io.musabench.jmh.device.ParameterException;
import io.musabench.results.model.HeadGeometry;
import io.musabench.results.model.Layout;
import io.musabench.results.model.Models;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** Per-head RMS normalisation (where the model has it) and rotary positions. */
public class QkNormRope extends KernelBenchmark {
  private static final int POSITIONS = 4096;

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
    Layout layout = layout();
    HeadGeometry heads = layout.heads();
    int dim = heads.qkDim();
    boolean norm = layout.model().qkNorm();
    int[] positions = inputs.random().ints(tokens, 0, POSITIONS).toArray();
    float[] table = LayerReference.cosSinTable(POSITIONS, dim, layout.model().ropeTheta());
    return inputs
        .cases()
        .qkNormRope(
            heads,
            inputs.activation(tokens, layout.qkvWidth()),
            norm ? inputs.random(1, dim) : null,
            norm ? inputs.random(1, dim) : null,
            inputs.output(DType.F32, POSITIONS, dim).copyFrom(table),
            inputs.ints(positions),
            inputs.output(tokens, heads.qHeads(), dim),
            inputs.output(tokens, heads.kvHeads(), dim));
  }
}
