package io.musabench.jmh.step;

import io.musabench.jmh.device.ParameterException;
import io.musabench.results.model.BatchSpec;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** One step with prompt tokens: whole prompts, chunks of them, or chunks and decodes together. */
public class PrefillStep extends StepBenchmark {
  @Param("q128")
  public String batch;

  @Benchmark
  public void time() {
    sample();
  }

  @Override
  protected int captured() {
    return requests().size(); // Servers pad tokens of a prompt, but replay no attention over them.
  }

  @Override
  protected BatchSpec requests() {
    BatchSpec requests = ParameterException.derive("batch", batch, () -> BatchSpec.parse(batch));
    if (requests.isDecode()) {
      throw new ParameterException(
          "batch", batch, "has no prompt tokens, as q2k or 2q1ks4k have; see DecodeStep");
    }
    return requests;
  }
}
