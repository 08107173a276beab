package io.musabench.results.model;

/**
 * One operation of a step.
 *
 * @param role what it does in the model, for example {@code gate_up}
 * @param call kernel and shape
 * @param count how often a step does it with this shape
 */
public record Operation(String role, KernelCall call, int count) {
  /**
   * Checks the count.
   *
   * @throws IllegalArgumentException if it is below 1
   */
  public Operation {
    if (count < 1) {
      throw new IllegalArgumentException(role + " occurs at least once, not " + count);
    }
  }

  /** An operation that occurs once. */
  public Operation(String role, KernelCall call) {
    this(role, call, 1);
  }

  /** Work of all {@link #count} calls. */
  public Work work(int elementBytes) {
    return call.work(elementBytes).times(count);
  }
}
