package io.musabench.results.tpot.kernels;

import io.musabench.results.tpot.Provenance;

/**
 * Time of one call of a kernel.
 *
 * @param seconds device time; 0 where it is contained in the time of another kernel
 * @param relativeError one standard deviation over the time; shared by all calls of this kernel and
 *     shape, so it does not shrink with their number
 * @param provenance how it was got
 * @param from what it was got from, in a few words
 */
public record KernelTime(double seconds, double relativeError, Provenance provenance, String from) {
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
