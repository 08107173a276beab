package io.musabench.jmh.attention;

import io.musabench.bindings.kernels.AttentionOptions;
import io.musabench.jmh.device.AttentionKernels;
import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelBenchmark;
import io.musabench.jmh.device.KernelCase;
import io.musabench.jmh.device.Libraries;
import io.musabench.jmh.device.MateOptions;
import io.musabench.jmh.device.ParameterException;
import io.musabench.jmh.device.ScheduledCase;
import io.musabench.results.model.HeadGeometry;
import java.util.List;
import org.openjdk.jmh.annotations.Param;

/** What the attention benchmarks have in common: the mask, and whose kernels run. */
public abstract class AttentionBenchmark extends KernelBenchmark {
  @Param("16:8:128")
  public String heads;

  @Param("true")
  public boolean causal;

  @Param("-1")
  public int window;

  @Param("0")
  public double softcap;

  /** {@code portable}, {@code mate}, or {@code auto}: what there is. */
  @Param(Libraries.AUTO)
  public String library;

  /** mate only. */
  @Param("auto")
  public String backend;

  /** mate only. */
  @Param("auto")
  public String packGqa;

  /** mate only: {@code only} times the kernel that computes the scheduler's metadata by itself. */
  @Param("with")
  public String metadata;

  /** mate only. */
  @Param("0")
  public int mpMargin;

  /** Checks the parameters that all have; the portable kernels' head sizes by {@code portable}. */
  final void validate(PortableHeadDims portable) {
    ParameterException.check(
        "heads",
        heads,
        () -> {
          HeadGeometry geometry = HeadGeometry.parse(heads);
          if (!isMate()) {
            portable.require(geometry.qkDim(), geometry.vDim());
          }
        });
    if (!List.of(Libraries.AUTO, Libraries.PORTABLE, Libraries.MATE).contains(library)) {
      throw new ParameterException("library", library, "attention is in portable and mate");
    }
  }

  /** Refuses head sizes. */
  interface PortableHeadDims {
    void require(int qkDim, int vDim);
  }

  final boolean isMate() {
    return library.equals(Libraries.MATE);
  }

  final AttentionOptions options(HeadGeometry geometry) {
    return new AttentionOptions(1 / Math.sqrt(geometry.qkDim()), causal, window, -1, softcap);
  }

  final AttentionKernels kernels(Inputs inputs, int splits) {
    MateOptions mate = MateOptions.of(backend, splits, packGqa, metadata, mpMargin);
    return Libraries.attention(library, inputs, splits, mate);
  }

  /** What is timed of an attention. */
  final KernelCase timed(Inputs inputs, ScheduledCase prepared) {
    return isMate() && metadata.equals("only")
        ? prepared.scheduling(inputs.context())
        : prepared.attention();
  }
}
