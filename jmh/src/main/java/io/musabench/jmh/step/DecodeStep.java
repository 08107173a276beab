package io.musabench.jmh.step;

import io.musabench.jmh.device.ParameterException;
import io.musabench.results.model.BatchSpec;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** One decode step: one new token for each request of a batch. */
public class DecodeStep extends StepBenchmark {
  @Param({"q1s1k", "4q1s1k", "8q1s1k"})
  public String batch;

  /** Requests that a padded graph is captured for: a number, or vLLM's default sizes. */
  @Param(CapturedSizes.VLLM)
  public String captured;

  @Benchmark
  public void time() {
    sample();
  }

  @Override
  protected int captured() {
    int requests = requests().size();
    return ParameterException.derive(
        "captured", captured, () -> CapturedSizes.of(captured, requests));
  }

  @Override
  protected BatchSpec requests() {
    BatchSpec requests = ParameterException.derive("batch", batch, () -> BatchSpec.parse(batch));
    if (!requests.isDecode()) {
      throw new ParameterException(
          "batch", batch, "is no decode: every request needs one new token, as in 8q1s1k");
    }
    return requests;
  }
}
