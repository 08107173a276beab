package io.musabench.results.tpot;

/**
 * What a closed loop is predicted to give. Nothing in here was measured but the two steps it is
 * made of. Times are seconds; NaN where {@link State#SATURATED} leaves no prediction.
 *
 * @param workload the loop
 * @param state whether the formula may be trusted
 * @param decodeStep step that every output token but the first waits for
 * @param prefillStep step that the first output token waits for
 * @param tpot mean time an output token after the first
 * @param ttftStaggered time to the first token if requests arrive one by one, each finding the
 *     device free for its prefill
 * @param ttftBurst time to the first token of the last request if all arrive at once
 * @param requestsPerSecond requests answered a second; where saturated, the most there can be
 * @param prefillShare share of the device's time that prefills take
 */
public record Prediction(
    Workload workload,
    State state,
    Timing decodeStep,
    Timing prefillStep,
    double tpot,
    double ttftStaggered,
    double ttftBurst,
    double requestsPerSecond,
    double prefillShare) {

  /** How far the formula reaches. */
  public enum State {
    /** Prefills take less than half of the time. */
    OK,
    /** Prefills take half of the time or more: requests queue for them, which is not modelled. */
    STRAINED,
    /** Prefills leave next to nothing for decoding: there is no steady TPOT to predict. */
    SATURATED
  }

  /** Output tokens a second of all requests together. */
  public double outputTokensPerSecond() {
    return requestsPerSecond * workload.outputTokens();
  }

  /** The less certain of the two steps. */
  public Provenance provenance() {
    return decodeStep.provenance().worse(prefillStep.provenance());
  }

  /** One line on how far to trust it; empty when there is nothing to say. */
  public String remark() {
    String share = Math.round(100 * prefillShare) + " % of the time is prefill";
    return switch (state) {
      case OK -> "";
      case STRAINED -> share + ": requests queue";
      case SATURATED -> "saturated: " + share;
    };
  }
}
