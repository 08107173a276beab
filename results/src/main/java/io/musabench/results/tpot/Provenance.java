package io.musabench.results.tpot;

import java.util.Locale;

/** How a number was got, from the most to the least certain. */
public enum Provenance {
  /** Measured at exactly this point. */
  MEASURED,
  /** Between two measured points. */
  INTERPOLATED,
  /** Outside what was measured. */
  EXTRAPOLATED,
  /** From figures that the maker publishes. */
  DATA_SHEET,
  /** From a rule of thumb, or given by whoever asks. */
  ASSUMED;

  /** The less certain of the two: what a number made of both deserves. */
  public Provenance worse(Provenance other) {
    return compareTo(other) >= 0 ? this : other;
  }

  /** Name in reports and files: {@code data sheet} for {@link #DATA_SHEET}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
