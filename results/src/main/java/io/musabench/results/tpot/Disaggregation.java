package io.musabench.results.tpot;

/**
 * Prefills and decodes on different devices (P/D). Both kinds are laid out as the engine says.
 *
 * @param prefillers groups of devices that prefill, at least 1
 * @param decoders groups of devices that decode, at least 1
 * @param linkGbPerS bandwidth over which one rank sends its keys and values, 10<sup>9</sup> bytes a
 *     second
 * @param linkSeconds time before the first of them arrives
 */
public record Disaggregation(int prefillers, int decoders, double linkGbPerS, double linkSeconds) {
  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if one is out of range
   */
  public Disaggregation {
    if (prefillers < 1 || decoders < 1 || !(linkGbPerS > 0) || !(linkSeconds >= 0)) {
      throw new IllegalArgumentException(
          "Separate prefill needs at least 1 prefiller, 1 decoder and a link above 0 GB/s, not "
              + prefillers
              + ", "
              + decoders
              + ", "
              + linkGbPerS
              + " GB/s and "
              + linkSeconds
              + " s");
    }
  }

  /**
   * Time in which the keys and values of a prompt reach the decoder.
   *
   * @param engine that holds them
   */
  public double transferSeconds(Engine engine, int inputTokens) {
    long each = engine.layout().kvBytesPerToken(engine.precision().kvCache().bytes());
    return linkSeconds + (double) inputTokens * each / (linkGbPerS * 1e9);
  }
}
