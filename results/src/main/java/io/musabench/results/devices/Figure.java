package io.musabench.results.devices;

/**
 * One figure of a data sheet.
 *
 * @param value the value, above 0, in the unit that the figure's name tells
 * @param source who says so, in a few words
 * @param confidence how far to trust it
 */
public record Figure(double value, String source, Confidence confidence) {
  /** How far a figure is to be trusted, from the most to the least. */
  public enum Confidence {
    /** The maker's documents or what its tools print. */
    VENDOR,
    /** Repeated by the press, without a document of the maker. */
    PRESS,
    /** Not published: derived by an assumption that the source names. */
    ASSUMED
  }

  /**
   * Checks the value.
   *
   * @throws IllegalArgumentException if it is not a positive number
   */
  public Figure {
    if (!(value > 0) || Double.isInfinite(value)) {
      throw new IllegalArgumentException("A figure is a number above 0, not " + value);
    }
  }
}
