package io.musabench.results.tpot.kernels;

import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Provenance;

/**
 * A link between the ranks that somebody describes, in place of measured communication.
 *
 * @param gbPerS bandwidth of a rank in one direction, 10<sup>9</sup> bytes a second
 * @param seconds what each all-reduce or gather takes however little it sends
 */
public record Link(double gbPerS, double seconds) {
  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if one is out of range
   */
  public Link {
    if (!(gbPerS > 0) || Double.isInfinite(gbPerS)) {
      throw new IllegalArgumentException("A link has a bandwidth above 0, not " + gbPerS + " GB/s");
    }
    if (!(seconds >= 0 && seconds < 1)) {
      throw new IllegalArgumentException(
          "The time of a link before the first bytes arrive cannot be " + seconds + " s");
    }
  }

  KernelTime time(KernelCall call, Precision precision) {
    return new KernelTime(
        seconds + call.work(precision).bytes() / (gbPerS * 1e9),
        Fallback.RELATIVE_ERROR,
        Provenance.ASSUMED,
        "the link that was given");
  }
}
