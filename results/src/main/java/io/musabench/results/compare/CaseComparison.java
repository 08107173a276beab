package io.musabench.results.compare;

import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One row of a comparison.
 *
 * @param id name of the case
 * @param verdict what can be said about it
 * @param base its base; null if it is new
 * @param candidate its candidate; null if it is missing
 * @param ratio the estimate; null unless it was judged
 * @param tolerance what does not count as a change; null unless it was judged
 * @param p Holm's adjusted probability; NaN unless it was judged
 * @param moreForks about how many more forks would decide; empty unless it is UNDECIDED and fewer
 *     than a thousand would
 * @param clockEffect whether it is slower in time but not in cycles: the clock fell, the code did
 *     not get slower
 * @param reason why there is no verdict, or what a new or missing case is; empty if there is
 *     nothing to say
 */
public record CaseComparison(
    String id,
    Verdict verdict,
    MeasuredCase base,
    MeasuredCase candidate,
    LogRatio ratio,
    Tolerance tolerance,
    double p,
    OptionalInt moreForks,
    boolean clockEffect,
    String reason) {

  /** A row without an estimate. */
  static CaseComparison unjudged(
      Verdict verdict, MeasuredCase base, MeasuredCase candidate, String reason) {
    return new CaseComparison(
        (base == null ? candidate : base).id(),
        verdict,
        base,
        candidate,
        null,
        null,
        Double.NaN,
        OptionalInt.empty(),
        false,
        reason);
  }

  /** Whether this alone makes the candidate fail. */
  public boolean regression() {
    return verdict == Verdict.SLOWER && !clockEffect || verdict == Verdict.MISSING || crashesMore();
  }

  /** Whether forks of the candidate crashed, and fewer or none of the base. */
  public boolean crashesMore() {
    return base != null && candidate != null && candidate.lostForks() > base.lostForks();
  }

  /** The side that exists, the base first. */
  MeasuredCase either() {
    return base == null ? candidate : base;
  }

  /** What stands in a table's last column. */
  public String remark() {
    return Stream.of(crashes("base", base), crashes("candidate", candidate), finding())
        .filter(text -> !text.isEmpty())
        .collect(Collectors.joining("; "));
  }

  private static String crashes(String side, MeasuredCase c) {
    return c == null || c.lostForks() == 0
        ? ""
        : "%s: %d of %d forks crashed"
            .formatted(side, c.lostForks(), c.lostForks() + c.forks().size());
  }

  private String finding() {
    if (clockEffect) {
      return "clock effect: not slower in cycles";
    }
    if (verdict == Verdict.UNDECIDED) {
      return moreForks.isPresent()
          ? "about " + moreForks.getAsInt() + " more forks would decide"
          : "more forks would not decide";
    }
    return reason;
  }
}
