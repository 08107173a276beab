package io.musabench.results.tpot;

/**
 * Speculative decoding: a draft model guesses, the model checks all guesses in one step.
 *
 * @param acceptance probability that a guess is right if all before it were, 0 to 1
 * @param guesses tokens guessed a step, at least 1
 * @param draftSeconds time of guessing one token
 */
public record Speculation(double acceptance, int guesses, double draftSeconds) {
  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if one is out of range
   */
  public Speculation {
    if (!(acceptance >= 0 && acceptance <= 1) || guesses < 1 || !(draftSeconds >= 0)) {
      throw new IllegalArgumentException(
          "Speculation needs an acceptance from 0 to 1, at least 1 guess and a draft time from 0"
              + " on, not "
              + acceptance
              + ", "
              + guesses
              + " and "
              + draftSeconds
              + " s");
    }
  }

  /**
   * Tokens that a step yields on average: {@code 1 + a + ... + a^k = (1 - a^(k+1)) / (1 - a)}
   * (Leviathan et al., "Fast inference from transformers via speculative decoding", equation 1).
   */
  public double tokensPerStep() {
    double sum = 1;
    for (int i = 0; i < guesses; i++) {
      sum = 1 + acceptance * sum;
    }
    return sum;
  }

  /** Share of the gaps between tokens that are 0, because both tokens come from the same step. */
  public double itlAtomAtZero() {
    double tokens = tokensPerStep();
    return (tokens - 1) / tokens;
  }
}
