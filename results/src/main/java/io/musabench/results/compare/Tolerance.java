package io.musabench.results.compare;

/**
 * The change that does not count as one, epsilon: a time within {@code 1 ± epsilon} of the base is
 * the same.
 *
 * @param fraction for example 0.01
 * @param reason what set it, in a word or two
 */
public record Tolerance(double fraction, String reason) {

  /** Below this a change of a kernel's time is not worth anybody's day. */
  public static final double LEAST = 0.01;

  /**
   * The largest of what is asked for, twice the noise of the case, and the clock's resolution.
   *
   * @param least what is asked for, usually {@link #LEAST}
   * @param noise change that the case shows against itself, as a fraction; NaN if not known
   * @param resolution resolution of the clock over the measured span, as a fraction; 0 if it does
   *     not matter
   */
  public static Tolerance of(double least, double noise, double resolution) {
    Tolerance tolerance = new Tolerance(least, "least");
    if (2 * noise > tolerance.fraction) {
      tolerance = new Tolerance(2 * noise, "noise");
    }
    if (resolution > tolerance.fraction) {
      tolerance = new Tolerance(resolution, "clock");
    }
    return tolerance;
  }

  /** The same as a log ratio; used on both sides, so that swapping the runs swaps the verdict. */
  double log() {
    return Math.log1p(fraction);
  }
}
