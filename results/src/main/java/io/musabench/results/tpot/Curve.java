package io.musabench.results.tpot;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * A time that grows with a size, known at some sizes.
 *
 * <p>Between two of them it is linear. Outside it is pessimistic: below the smallest it stays what
 * it is there; above the largest it follows the line through the last two, or, where that falls or
 * only one is known, grows in proportion to the size.
 */
final class Curve {
  private final NavigableMap<Integer, Double> points;

  /**
   * Keeps a copy.
   *
   * @param points seconds by size, at least one
   */
  Curve(String what, Map<Integer, Double> points) {
    if (points.isEmpty()) {
      throw new IllegalArgumentException("There is no measured " + what + " step");
    }
    points.forEach((size, seconds) -> new Timing(seconds, Provenance.MEASURED));
    this.points = new TreeMap<>(points);
  }

  Timing at(int size) {
    Map.Entry<Integer, Double> below = points.floorEntry(size);
    Map.Entry<Integer, Double> above = points.ceilingEntry(size);
    if (below == null) {
      return new Timing(above.getValue(), Provenance.EXTRAPOLATED);
    }
    if (below.getKey() == size) {
      return new Timing(below.getValue(), Provenance.MEASURED);
    }
    if (above == null) {
      return new Timing(beyond(below, size), Provenance.EXTRAPOLATED);
    }
    return new Timing(line(below, above, size), Provenance.INTERPOLATED);
  }

  private double beyond(Map.Entry<Integer, Double> last, int size) {
    Map.Entry<Integer, Double> previous = points.lowerEntry(last.getKey());
    if (previous == null || previous.getValue() >= last.getValue()) {
      return last.getValue() * size / last.getKey();
    }
    return line(previous, last, size);
  }

  private static double line(Map.Entry<Integer, Double> a, Map.Entry<Integer, Double> b, int size) {
    double slope = (b.getValue() - a.getValue()) / (b.getKey() - a.getKey());
    return a.getValue() + slope * (size - a.getKey());
  }
}
