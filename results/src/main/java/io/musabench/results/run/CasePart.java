package io.musabench.results.run;

import io.musabench.results.model.Work;

/**
 * One kernel of a step, measured by itself in the same fork as the step.
 *
 * @param role what it does in the model, for example {@code gate_up}
 * @param kernel name of the kernel's export, for example {@code gemm}
 * @param shape shape as {@link io.musabench.results.model.KernelCall#shape} prints it
 * @param count calls of it in one step
 * @param work FLOPs and bytes of one call
 * @param deviceTimeMedianUs median device time of one call, in microseconds
 */
public record CasePart(
    String role, String kernel, String shape, int count, Work work, double deviceTimeMedianUs) {

  /** Time of all calls of a step, in microseconds. */
  public double totalUs() {
    return count * deviceTimeMedianUs;
  }
}
