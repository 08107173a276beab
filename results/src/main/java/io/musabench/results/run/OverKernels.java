package io.musabench.results.run;

/**
 * By how much a step takes longer than its kernels one by one, in microseconds of device time. Both
 * are measured once in every round, one after the other, so the difference is taken round by round:
 * what drifts between rounds is not in it. NaN where it is not known.
 *
 * @param medianUs median over the rounds; below zero where the kernels by themselves were slower
 * @param lowUs lower end of the median's 95 % interval between rounds
 * @param highUs upper end
 */
public record OverKernels(double medianUs, double lowUs, double highUs) {
  /** Not known. */
  public static final OverKernels UNKNOWN = new OverKernels(Double.NaN, Double.NaN, Double.NaN);

  /** From the differences of all rounds. */
  public static OverKernels of(double[] differencesUs) {
    MedianInterval m = MedianInterval.of(differencesUs);
    return new OverKernels(m.median(), m.low(), m.high());
  }
}
