package io.musabench.results.audit;

/**
 * One number of a row changed so that a check no longer objects.
 *
 * @param field column of the table, or the option, that would have to change
 * @param key the same as {@link EndToEndRow} knows it
 * @param from what it is
 * @param to what it would have to be
 */
public record Edit(String field, String key, double from, double to) {
  /** The same with another aim. */
  Edit to(double changed) {
    return new Edit(field, key, from, changed);
  }

  /** How far it changes the number: the larger of the two over the smaller, at least 1. */
  public double factor() {
    return from > 0 && to > 0 ? Math.max(to / from, from / to) : Double.POSITIVE_INFINITY;
  }
}
