package io.musabench.results.serving;

import java.util.Map;
import java.util.TreeMap;

/**
 * Statistics of one metric as a tool's file states them, in milliseconds; {@code NaN} where it says
 * nothing.
 */
final class Reported {
  final Formula formula;

  /** The tool's own word for it. */
  final String called;

  long count = Request.MISSING;
  double mean = Double.NaN;
  double std = Double.NaN;
  double min = Double.NaN;
  double max = Double.NaN;

  /** Percent (50, 99.9) to value. */
  final Map<Double, Double> percentiles = new TreeMap<>();

  Reported(Formula formula, String called) {
    this.formula = formula;
    this.called = called;
  }

  /** Statistics that no duration can have: below zero, or without end. They are left out. */
  int impossible;

  /** Sets one statistic by the names that tools use; others and missing values are ignored. */
  void set(String statistic, double ms) {
    if (Double.isNaN(ms)) {
      return;
    }
    if (ms < 0 || ms > Request.MAX_MS) {
      impossible++;
      return;
    }
    switch (statistic) {
      case "mean", "avg", "average" -> mean = ms;
      case "std", "stddev", "std_dev" -> std = ms;
      case "min" -> min = ms;
      case "max" -> max = ms;
      case "median" -> percentiles.put(50.0, ms);
      default -> {
        double p = percent(statistic);
        if (p >= 0 && p <= 100) {
          percentiles.put(p, ms);
        }
      }
    }
  }

  /** 99 for {@code p99}, {@code quantiles_p99} and {@code 99%}; NaN for anything else. */
  static double percent(String name) {
    String digits = name.substring(name.lastIndexOf('_') + 1);
    if (digits.endsWith("%")) {
      digits = digits.substring(0, digits.length() - 1);
    } else if (digits.startsWith("p") || digits.startsWith("P")) {
      digits = digits.substring(1);
    } else {
      return Double.NaN;
    }
    return digits.matches("\\d{1,3}(\\.\\d{1,6})?") ? Double.parseDouble(digits) : Double.NaN;
  }

  double percentile(double p) {
    return percentiles.getOrDefault(p, Double.NaN);
  }

  boolean empty() {
    return Double.isNaN(mean) && Double.isNaN(min) && Double.isNaN(max) && percentiles.isEmpty();
  }

  /** Whether every statistic is exactly zero: what tools write when nothing was measured. */
  boolean allZero() {
    return !empty()
        && zero(mean)
        && zero(min)
        && zero(max)
        && percentiles.values().stream().allMatch(v -> v == 0);
  }

  private static boolean zero(double v) {
    return Double.isNaN(v) || v == 0;
  }
}
