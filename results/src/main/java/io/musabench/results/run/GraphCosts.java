package io.musabench.results.run;

import java.util.Locale;

/**
 * A step launched kernel by kernel against the same step as a graph, measured round by round in one
 * process, each time on an idle device with cold caches. Microseconds; NaN where it is not known.
 *
 * @param eager kernel by kernel
 * @param graph as a graph, its inputs as they were
 * @param savedUs by how much the graph's span is shorter than the eager one of the same round
 * @param captureUs host time to capture the graph
 * @param instantiateUs host time to make it executable
 * @param uploadUs host time to bring it to the device ahead of the first replay
 * @param updated as a graph whose token ids, positions, slots, page table and lengths are written
 *     and copied to the device before each replay, other ones every time, as a server does it; the
 *     copies are within device time and span
 * @param updateUs host time to write them and to queue the copies, within the span
 * @param capturedRequests requests that a padded graph was captured for; 0 where none was measured
 * @param padded these requests in that graph, the rest of it filled up
 */
public record GraphCosts(
    Spans eager,
    Spans graph,
    MedianInterval savedUs,
    double captureUs,
    double instantiateUs,
    double uploadUs,
    Spans updated,
    double updateUs,
    int capturedRequests,
    Spans padded) {
  /** Not measured. */
  public static final GraphCosts UNKNOWN =
      new GraphCosts(
          Spans.UNKNOWN,
          Spans.UNKNOWN,
          MedianInterval.UNKNOWN,
          Double.NaN,
          Double.NaN,
          Double.NaN,
          Spans.UNKNOWN,
          Double.NaN,
          0,
          Spans.UNKNOWN);

  /**
   * Medians of one way to run a step.
   *
   * @param deviceUs device time from the first kernel to the end of the last
   * @param spanUs host time from the first call to the end of the work
   * @param submitUs host time until the calls have returned
   */
  public record Spans(double deviceUs, double spanUs, double submitUs) {
    /** Not measured. */
    public static final Spans UNKNOWN = new Spans(Double.NaN, Double.NaN, Double.NaN);
  }

  /** Whether a graph has paid for itself at some point. */
  public enum Outcome {
    /** The whole interval of the saving lies above zero. */
    PAYS,
    /** None of it does. */
    NEVER,
    /** Zero lies within it, or there is no interval. */
    UNDECIDED;

    /** As files have it. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Replays after which capturing has paid.
   *
   * @param outcome whether it does
   * @param replays number of replays; NaN unless it pays
   * @param least lower end of its interval; NaN if it never pays or nothing is known
   * @param most upper end; infinite where it is undecided, NaN if it never pays
   */
  public record BreakEven(Outcome outcome, double replays, double least, double most) {}

  /** Whether it was measured. */
  public boolean known() {
    return !Double.isNaN(savedUs.median());
  }

  /** What a graph costs before its first replay. */
  public double setUpUs() {
    return captureUs + instantiateUs + uploadUs;
  }

  /** {@code (capture + instantiate + upload) / (eager span - graph span)}, rounded up. */
  public BreakEven breakEven() {
    if (Double.isNaN(savedUs.low())) {
      return new BreakEven(Outcome.UNDECIDED, Double.NaN, Double.NaN, Double.POSITIVE_INFINITY);
    }
    if (savedUs.high() <= 0) {
      return new BreakEven(Outcome.NEVER, Double.NaN, Double.NaN, Double.NaN);
    }
    double least = Math.ceil(setUpUs() / savedUs.high());
    return savedUs.low() > 0
        ? new BreakEven(
            Outcome.PAYS,
            Math.ceil(setUpUs() / savedUs.median()),
            least,
            Math.ceil(setUpUs() / savedUs.low()))
        : new BreakEven(Outcome.UNDECIDED, Double.NaN, least, Double.POSITIVE_INFINITY);
  }
}
