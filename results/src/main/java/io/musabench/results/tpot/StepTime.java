package io.musabench.results.tpot;

import java.util.List;

/**
 * How long one step takes.
 *
 * @param seconds from its start to the start of the next: {@code max(device, host) + gap}
 * @param kernelSeconds sum of its kernels
 * @param deviceSeconds its kernels and what the nodes of a graph add
 * @param hostSeconds what launching it costs the host; 0 if not known
 * @param gapSeconds time in which the device waits for scheduler, inputs and results
 * @param kernels launches or nodes; 0 if not known
 * @param terms its operations, in order; empty for a step that was measured as a whole
 * @param provenance how the least certain part of it was got, launching and gap among them where
 *     they count
 */
public record StepTime(
    double seconds,
    double kernelSeconds,
    double deviceSeconds,
    double hostSeconds,
    double gapSeconds,
    int kernels,
    List<Term> terms,
    Provenance provenance) {

  /** A step that was measured as a whole. */
  static StepTime measured(Timing timing) {
    double s = timing.seconds();
    return new StepTime(s, s, s, 0, 0, 0, List.of(), timing.provenance());
  }

  /** The same step with kernels that take so long together. */
  StepTime withKernelSeconds(double sum) {
    double device = deviceSeconds - kernelSeconds + sum;
    return new StepTime(
        Math.max(device, hostSeconds) + gapSeconds,
        sum,
        device,
        hostSeconds,
        gapSeconds,
        kernels,
        terms,
        provenance);
  }

  /** Whether the device waits for launches. */
  public boolean hostBound() {
    return hostSeconds > deviceSeconds;
  }

  /** Part of {@link #seconds} that an operation takes; of a host-bound step, of its kernels. */
  public double share(Term term) {
    return term.seconds() / Math.max(seconds, kernelSeconds);
  }

  /** Part of the kernels' time that was got this way. */
  public double share(Provenance how) {
    double sum = 0;
    for (Term t : terms) {
      sum += t.time().provenance() == how ? t.seconds() : 0;
    }
    return terms.isEmpty() ? (provenance == how ? 1 : 0) : sum / kernelSeconds;
  }

  /** Part of the kernels' time that was measured, or lies between measured points. */
  public double known() {
    return share(Provenance.MEASURED) + share(Provenance.INTERPOLATED);
  }

  /** What most of the step's time goes to. */
  public Bound bound() {
    if (hostBound()) {
      return Bound.HOST;
    }
    double[] sums = new double[Bound.values().length];
    for (Term t : terms) {
      sums[t.bound().ordinal()] += t.seconds();
    }
    int most = Bound.UNKNOWN.ordinal();
    for (int i = 0; i < sums.length; i++) {
      most = sums[i] > sums[most] ? i : most;
    }
    return Bound.values()[most];
  }
}
