package io.musabench.results.stats;

/**
 * An interval that is meant to hold a true value with a stated probability.
 *
 * @param low lower end
 * @param high upper end, not below {@code low}
 * @param level probability, between 0 and 1
 */
public record Interval(double low, double high, double level) {
  /**
   * Checks the order of the ends.
   *
   * @throws IllegalArgumentException if {@code low <= high} does not hold
   */
  public Interval {
    if (!(low <= high)) {
      throw new IllegalArgumentException("The interval [" + low + ", " + high + "] is upside down");
    }
  }

  /** Whether the value lies inside, ends included. */
  public boolean contains(double value) {
    return low <= value && value <= high;
  }
}
