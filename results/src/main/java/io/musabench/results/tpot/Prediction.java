package io.musabench.results.tpot;

/**
 * What a closed loop is predicted to give. Nothing in here was measured but the times it is made
 * of. Times are seconds.
 *
 * @param workload the loop
 * @param state how far the formulas reach
 * @param bound what limits the throughput
 * @param decodeStep step that every output token but the first waits for
 * @param prefillStep step that the first output token waits for
 * @param tpot mean time an output token after the first
 * @param ttft mean time to the first token, as far as it can be said: the logarithmic middle of the
 *     following two
 * @param ttftStaggered mean time to the first token if requests arrive independently of each other
 * @param ttftBurst mean time to the first token if all arrive at once
 * @param throughput requests answered a second; its value is for independent arrivals, its interval
 *     goes down to those of a burst
 * @param runningRequests requests that run at the same time
 * @param waitingRequests requests that wait to be let in
 * @param prefillShare share of the device's time that prefills take
 * @param itlAtomAtZero share of the gaps between tokens that are 0 (speculative decoding)
 */
public record Prediction(
    Workload workload,
    State state,
    Bound bound,
    StepTime decodeStep,
    StepTime prefillStep,
    Estimate tpot,
    Estimate ttft,
    Estimate ttftStaggered,
    Estimate ttftBurst,
    Estimate throughput,
    int runningRequests,
    int waitingRequests,
    Estimate prefillShare,
    double itlAtomAtZero) {

  /** How far the formulas reach. */
  public enum State {
    /** Prefills take less than half of the time. */
    OK,
    /** Prefills take half of the time or more: requests queue for them. */
    STRAINED,
    /**
     * Requests wait to be let in (KV cache, limit of the scheduler), or prefills leave next to
     * nothing for decoding. TPOT is that of the running requests; TTFT is waiting, and follows from
     * Little's law only as long as nothing else is lost.
     */
    SATURATED
  }

  /** Requests answered a second. */
  public double requestsPerSecond() {
    return throughput.value();
  }

  /** Requests answered a second if all arrive at once, at most as many. */
  public double burstRequestsPerSecond() {
    double answer = (workload.outputTokens() - 1) * tpot.value();
    return Math.min(throughput.value(), workload.concurrency() / (ttftBurst.value() + answer));
  }

  /** Output tokens a second of all requests together. */
  public double outputTokensPerSecond() {
    return outputThroughput().value();
  }

  /** The same with its interval. */
  public Estimate outputThroughput() {
    return throughput.times(workload.outputTokens());
  }

  /** The less certain of the two steps. */
  public Provenance provenance() {
    return decodeStep.provenance().worse(prefillStep.provenance());
  }

  /** One line on how far to trust it; empty when there is nothing to say. */
  public String remark() {
    String share = Math.round(100 * prefillShare.value()) + " % of the time is prefill";
    return switch (state) {
      case OK -> "";
      case STRAINED -> share + ": requests queue";
      case SATURATED ->
          "saturated: "
              + switch (bound) {
                case KV_CAPACITY ->
                    runningRequests < workload.concurrency()
                        ? "the KV cache holds "
                            + runningRequests
                            + " of the "
                            + workload.concurrency()
                            + " requests"
                        : "the KV cache holds the prompts of all "
                            + runningRequests
                            + " requests, but not their answers: some are dropped and computed"
                            + " again";
                case TOKEN_BUDGET ->
                    "the token budget of a step lets "
                        + runningRequests
                        + " of the "
                        + workload.concurrency()
                        + " requests run";
                case RUNNING_LIMIT ->
                    "the server runs "
                        + runningRequests
                        + " of the "
                        + workload.concurrency()
                        + " requests";
                default -> share;
              };
    };
  }
}
