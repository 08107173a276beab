package io.musabench.results.tpot;

/**
 * A closed loop: so many clients, each of which sends its next request when the last is answered.
 *
 * @param concurrency requests in flight, at least 1
 * @param inputTokens tokens of each prompt, at least 1
 * @param outputTokens tokens of each answer, at least 2, because TPOT is the time between them
 * @param prefixHitShare share of each prompt whose keys and values are already cached, 0 to 1; only
 *     whole pages count, and the last token is always computed (as vLLM does)
 * @param disaggregation prefills on devices of their own; null for one device that does both
 * @param speculation tokens guessed by a draft model; null for none
 */
public record Workload(
    int concurrency,
    int inputTokens,
    int outputTokens,
    double prefixHitShare,
    Disaggregation disaggregation,
    Speculation speculation) {
  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if one is out of range
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
    if (!(prefixHitShare >= 0 && prefixHitShare <= 1)) {
      throw new IllegalArgumentException(
          "The share of cached prompt tokens lies between 0 and 1, not at " + prefixHitShare);
    }
  }

  /** Nothing cached, one device for both phases, no speculation. */
  public Workload(int concurrency, int inputTokens, int outputTokens) {
    this(concurrency, inputTokens, outputTokens, 0, null, null);
  }

  /** With a part of each prompt cached. */
  public Workload withPrefixHits(double share) {
    return new Workload(concurrency, inputTokens, outputTokens, share, disaggregation, speculation);
  }

  /** With prefills on devices of their own. */
  public Workload with(Disaggregation separate) {
    return new Workload(
        concurrency, inputTokens, outputTokens, prefixHitShare, separate, speculation);
  }

  /** With speculative decoding. */
  public Workload with(Speculation draft) {
    return new Workload(
        concurrency, inputTokens, outputTokens, prefixHitShare, disaggregation, draft);
  }

  /** Prompt tokens that are found in the cache. */
  public int cachedTokens(int pageSize) {
    int hit = (int) (prefixHitShare * inputTokens) / pageSize * pageSize;
    return hit < inputTokens ? hit : (inputTokens - 1) / pageSize * pageSize;
  }

  /** The part of this load that one of several decoders sees. */
  Workload perDecoder(int decoders) {
    return new Workload(
        (concurrency + decoders - 1) / decoders,
        inputTokens,
        outputTokens,
        prefixHitShare,
        disaggregation,
        speculation);
  }

  /** Tokens over which a decode step attends to one request, on average over its answer. */
  int meanContext() {
    return inputTokens + outputTokens / 2;
  }
}
