package io.musabench.results.compare;

import java.util.Map;

/**
 * A unit of JMH's scores.
 *
 * @param microseconds microseconds in the unit of time
 * @param rate whether it is operations per time, so that more is better
 */
record TimeUnit(double microseconds, boolean rate) {
  private static final Map<String, Double> MICROSECONDS =
      Map.of("ns", 1e-3, "us", 1.0, "ms", 1e3, "s", 1e6, "min", 60e6, "hr", 3600e6, "day", 86400e6);

  /**
   * Reads {@code ns/op} or {@code ops/s} and their like.
   *
   * @throws IllegalArgumentException with a line for the user if it is neither
   */
  static TimeUnit parse(String unit) {
    boolean rate = unit.startsWith("ops/");
    String name = rate ? unit.substring("ops/".length()) : unit.replaceFirst("/op$", "");
    Double us = MICROSECONDS.get(name);
    if (us == null || !rate && !unit.endsWith("/op")) {
      throw new IllegalArgumentException(
          "its unit \"" + unit + "\" is neither time per operation nor operations per time");
    }
    return new TimeUnit(us, rate);
  }
}
