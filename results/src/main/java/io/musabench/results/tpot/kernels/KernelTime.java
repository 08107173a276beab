package io.musabench.results.tpot.kernels;

import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Provenance;

/**
 * Time of one call of a kernel.
 *
 * @param seconds device time; 0 where it is contained in the time of another kernel
 * @param relativeError one standard deviation over the time; shared by all calls of this kernel and
 *     shape, so it does not shrink with their number
 * @param provenance how it was got
 * @param from what it was got from, in a few words
 * @param otherTypes where it was measured in other types than were asked for; else null
 */
public record KernelTime(
    double seconds,
    double relativeError,
    Provenance provenance,
    String from,
    OtherTypes otherTypes) {
  /**
   * That only times in other types are known.
   *
   * @param measured those types
   * @param scaled whether the share of the roof was kept, and not the time itself: that needs the
   *     roofs of both
   */
  public record OtherTypes(Precision measured, boolean scaled) {}

  /** A time in the types that were asked for. */
  public KernelTime(double seconds, double relativeError, Provenance provenance, String from) {
    this(seconds, relativeError, provenance, from, null);
  }

  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if a number is negative or not finite
   */
  public KernelTime {
    if (!(seconds >= 0) || Double.isInfinite(seconds)) {
      throw new IllegalArgumentException("A kernel takes a time from 0 on, not " + seconds + " s");
    }
    if (!(relativeError >= 0) || Double.isInfinite(relativeError)) {
      throw new IllegalArgumentException(
          "A relative error is a number from 0 on, not " + relativeError);
    }
  }
}
