package io.musabench.results.tpot;

/** How a number was got, from the most to the least certain. */
public enum Provenance {
  /** Measured at exactly this point. */
  MEASURED,
  /** Between two measured points. */
  INTERPOLATED,
  /** Outside what was measured. */
  EXTRAPOLATED;

  /** The less certain of the two: what a number made of both deserves. */
  public Provenance worse(Provenance other) {
    return compareTo(other) >= 0 ? this : other;
  }
}
