package io.musabench.results.tpot;

/**
 * A time and how it was got.
 *
 * @param seconds above 0
 * @param provenance how it was got
 */
public record Timing(double seconds, Provenance provenance) {
  /**
   * Checks the time.
   *
   * @throws IllegalArgumentException if it is not a positive number
   */
  public Timing {
    if (!(seconds > 0) || Double.isInfinite(seconds)) {
      throw new IllegalArgumentException("A step takes a time above 0, not " + seconds + " s");
    }
  }
}
