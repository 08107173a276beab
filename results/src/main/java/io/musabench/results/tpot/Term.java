package io.musabench.results.tpot;

import io.musabench.results.model.KernelCall;
import io.musabench.results.tpot.kernels.KernelTime;

/**
 * One operation of a predicted step.
 *
 * @param role what it does in the model, for example {@code gate_up}
 * @param call kernel and shape
 * @param count how often the step does it
 * @param time of one call
 * @param bound what the roofs say limits it
 */
public record Term(String role, KernelCall call, int count, KernelTime time, Bound bound) {
  /** Device time of all calls. */
  public double seconds() {
    return count * time.seconds();
  }
}
