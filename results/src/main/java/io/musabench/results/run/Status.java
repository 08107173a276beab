package io.musabench.results.run;

import java.util.Locale;

/** How a case ended. */
public enum Status {
  /** Measured, and right before and after. */
  OK,
  /** Wrong result, error or crash; there is no number. */
  FAILED,
  /** Stopped by the time limit; there is no number. */
  TIMEOUT,
  /** Not run, for a reason that the row gives. */
  SKIPPED;

  /** Name in files: lower case. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
