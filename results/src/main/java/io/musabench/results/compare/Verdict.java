package io.musabench.results.compare;

/** What can be said about a case. */
public enum Verdict {
  /** Takes longer, by more than the tolerance. */
  SLOWER("SLOWER"),
  /** Takes less time, by more than the tolerance. */
  FASTER("FASTER"),
  /**
   * The whole interval lies within the tolerance: shown to be the same, not merely not different.
   */
  SAME("SAME"),
  /** Neither was shown. */
  UNDECIDED("UNDECIDED"),
  /** Measured under conditions that differ, too seldom, or with values that are no times. */
  NOT_COMPARABLE("NOT COMPARABLE"),
  /** In the base but not in the candidate, or without a number there. */
  MISSING("MISSING"),
  /** In the candidate only. */
  NEW("NEW");

  private final String text;

  Verdict(String text) {
    this.text = text;
  }

  /** As it is printed. */
  public String text() {
    return text;
  }

  /** Whether a case was judged. */
  public boolean judged() {
    return ordinal() <= UNDECIDED.ordinal();
  }
}
