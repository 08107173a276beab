package io.musabench.results.stopping;

/**
 * Decides after each batch of samples whether a session goes on: until the criterion is met and the
 * floors of samples and time are reached, or the ceiling of time is.
 *
 * <p>At least one batch is always taken. One object serves one session, on one thread.
 */
public final class StoppingRule {
  private final StoppingCriterion criterion;
  private final int leastSamples;
  private final double leastSeconds;
  private final double mostSeconds;
  private int samples;
  private double seconds;

  /**
   * @param criterion a new one
   * @param leastSamples floor of samples
   * @param leastSeconds floor of time
   * @param mostSeconds ceiling of time, not below the floor; it ends a session whatever is unmet
   */
  public StoppingRule(
      StoppingCriterion criterion, int leastSamples, double leastSeconds, double mostSeconds) {
    if (leastSamples < 1 || !(leastSeconds >= 0) || !(mostSeconds >= leastSeconds)) {
      throw new IllegalArgumentException(
          "floors of %d samples and %g s under a ceiling of %g s"
              .formatted(leastSamples, leastSeconds, mostSeconds));
    }
    this.criterion = criterion;
    this.leastSamples = leastSamples;
    this.leastSeconds = leastSeconds;
    this.mostSeconds = mostSeconds;
  }

  /**
   * Takes a batch.
   *
   * @param nanos accepted times of one operation
   * @param elapsed how long the batch took, with samples that were not accepted, in seconds
   */
  public void add(double[] nanos, double elapsed) {
    for (double value : nanos) {
      criterion.add(value);
    }
    samples += nanos.length;
    seconds += elapsed;
  }

  /** Whether the session ends. */
  public boolean done() {
    return unmet().isEmpty() || seconds >= mostSeconds;
  }

  /**
   * How many samples to take next: what floors and criterion ask for, as far as the ceiling allows.
   *
   * @param sampleSeconds how long a sample takes
   * @param most most samples of a batch
   */
  public int next(double sampleSeconds, int most) {
    double wanted = criterion.missing();
    if (criterion.estimates()) {
      wanted = Math.max(wanted, leastSamples - (double) samples);
      wanted = Math.max(wanted, (leastSeconds - seconds) / sampleSeconds);
    }
    double allowed = (mostSeconds - seconds) / sampleSeconds;
    // One sample alone has no spread, so a session of estimates has two, however long they take.
    double fewest = criterion.estimates() ? Math.max(1, 2 - samples) : 1;
    return (int) Math.max(fewest, Math.min(most, Math.min(Math.ceil(wanted), allowed)));
  }

  /**
   * Which condition is not met, for the results: {@code stopped at the time ceiling of 2.4 s,
   * relative standard error 1.2 % > 0.5 %}; empty if all are.
   */
  public String unmet() {
    String missing = missing();
    return missing.isEmpty()
        ? ""
        : "stopped at the time ceiling of " + Digits.three(mostSeconds) + " s, " + missing;
  }

  private String missing() {
    if (criterion.estimates()) {
      if (samples < leastSamples) {
        return "%d of at least %d samples".formatted(samples, leastSamples);
      }
      if (seconds < leastSeconds) {
        return Digits.three(seconds) + " of at least " + Digits.three(leastSeconds) + " s";
      }
    }
    return criterion.met() ? "" : criterion.unmet();
  }
}
