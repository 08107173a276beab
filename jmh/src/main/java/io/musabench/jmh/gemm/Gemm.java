package io.musabench.jmh.gemm;

import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelBenchmark;
import io.musabench.jmh.device.KernelCase;
import io.musabench.jmh.device.Libraries;
import io.musabench.jmh.device.ParameterException;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Layout;
import io.musabench.results.model.Models;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** A projection: activations times the transpose of a weight matrix, with the model's bias. */
public class Gemm extends KernelBenchmark {
  @Param("Qwen3-0.6B")
  public String model;

  @Param("1")
  public int tp;

  /** One of the model's, or an explicit size; see {@link Projection}. */
  @Param({"qkv", "o", "gate_up", "down", "lm_head"})
  public String projection;

  @Param("8")
  public int tokens;

  /** {@code portable}, {@code blas}, or {@code auto}: what there is. */
  @Param(Libraries.AUTO)
  public String library;

  @Benchmark
  public void time() {
    sample();
  }

  @Override
  public void validate() {
    size();
    if (library.equals(Libraries.MATE)) {
      throw new ParameterException("library", library, "matrix products are in portable and blas");
    }
  }

  private KernelCall.Gemm size() {
    Layout layout = ParameterException.derive("tp", tp, () -> Models.find(model).layout(tp));
    return ParameterException.derive(
        "projection", projection, () -> Projection.parse(projection).of(layout, tokens));
  }

  // The suite has resolved auto; a fork that was started by hand has not.
  private String ours() {
    return library.equals(Libraries.AUTO) ? Libraries.PORTABLE : library;
  }

  @Override
  protected KernelCase build(Inputs inputs) {
    KernelCall.Gemm size = size();
    return inputs
        .cases(Libraries.products(ours(), inputs))
        .gemm(
            inputs.activation(size.m(), size.k()),
            inputs.projection(size.n(), size.k()),
            inputs.output(size.m(), size.n()),
            size.bias() ? inputs.random(1, size.n()) : null);
  }
}
