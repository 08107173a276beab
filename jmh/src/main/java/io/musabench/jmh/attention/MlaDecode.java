package io.musabench.jmh.attention;

import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelBenchmark;
import io.musabench.jmh.device.KernelCase;
import io.musabench.jmh.device.MlaCase;
import io.musabench.jmh.device.ParameterException;
import io.musabench.jmh.device.ScheduledCase;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/**
 * Multi-head latent attention over a paged cache, as DeepSeek-V2 and V3 decode: all heads read one
 * latent of 512 and one rotary part of 64 a token, and the latent is the value too. By mate's
 * kernels; there are no portable ones.
 */
public class MlaDecode extends KernelBenchmark {
  @Param("8q1s4k")
  public String batch;

  /** Query heads; the rest is what MLA is. */
  @Param("128:1:576/512")
  public String heads;

  @Param("true")
  public boolean causal;

  /** Which of mate's kernels. */
  @Param("auto")
  public String kernel;

  /** {@code with}, or {@code only}: the kernel that computes the schedule, by itself. */
  @Param("with")
  public String metadata;

  @Benchmark
  public void time() {
    sample();
  }

  @Override
  public void validate() {
    ParameterException.check("batch", batch, () -> BatchSpec.parse(batch));
    ParameterException.check("heads", heads, () -> MlaCase.require(HeadGeometry.parse(heads)));
    ParameterException.check("kernel", kernel, () -> MlaCase.Kernel.of(kernel));
    if (metadata.equals("without")) {
      throw new ParameterException(
          "metadata", metadata, "the kernel mla takes none: set kernel=mla; here with or only");
    }
  }

  @Override
  protected KernelCase build(Inputs inputs) {
    ScheduledCase prepared =
        MlaCase.prepare(
            inputs,
            BatchSpec.parse(batch),
            HeadGeometry.parse(heads),
            causal,
            MlaCase.Kernel.of(kernel));
    return metadata.equals("only") ? prepared.scheduling(inputs.context()) : prepared.attention();
  }
}
