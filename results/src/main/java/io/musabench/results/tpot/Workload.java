package io.musabench.results.tpot;

/**
 * A closed loop: so many clients, each of which sends its next request when the last is answered.
 *
 * @param concurrency requests in flight, at least 1
 * @param inputTokens tokens of each prompt, at least 1
 * @param outputTokens tokens of each answer, at least 2, because TPOT is the time between them
 */
public record Workload(int concurrency, int inputTokens, int outputTokens) {
  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if one is too small
   */
  public Workload {
    if (concurrency < 1 || inputTokens < 1 || outputTokens < 2) {
      throw new IllegalArgumentException(
          "A workload needs at least 1 request in flight, 1 input token and 2 output tokens, not "
              + concurrency
              + ", "
              + inputTokens
              + " and "
              + outputTokens);
    }
  }
}
