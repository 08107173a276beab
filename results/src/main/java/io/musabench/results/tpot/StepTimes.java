package io.musabench.results.tpot;

/** How long the steps of one model take on one device. */
public interface StepTimes {
  /** A decode step with {@code batch} requests, at the contexts of the workload. */
  Timing decode(int batch);

  /** A step that prefills one request of {@code tokens} tokens, nothing cached. */
  Timing prefill(int tokens);
}
