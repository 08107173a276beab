package io.musabench.results.serving;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Limits that a good request keeps, in milliseconds; {@code NaN} is no limit.
 *
 * @param ttftMs time to first token
 * @param tpotMs time per output token
 * @param e2eMs latency of the whole request
 */
public record Slo(double ttftMs, double tpotMs, double e2eMs) {
  /** No limit at all: no goodput either. */
  public static final Slo NONE = new Slo(Double.NaN, Double.NaN, Double.NaN);

  private static final Map<String, Slo> PRESETS = presets();

  private static Map<String, Slo> presets() {
    Map<String, Slo> all = new LinkedHashMap<>();
    // The course's thresholds for chat: excellent, acceptable, and where users leave or stutter.
    all.put("course", of(1000, 50));
    all.put("chat-excellent", of(500, 30));
    all.put("chat-acceptable", of(1000, 80));
    all.put("chat-limit", of(2000, 80));
    // MLPerf Inference rules, server and interactive scenarios, at P99.
    all.put("mlperf-llama3.1-8b", of(2000, 100));
    all.put("mlperf-llama3.1-8b-interactive", of(500, 30));
    all.put("mlperf-llama2-70b", of(2000, 200));
    all.put("mlperf-llama2-70b-interactive", of(450, 40));
    all.put("mlperf-llama3.1-405b", of(6000, 175));
    all.put("mlperf-llama3.1-405b-interactive", of(4500, 80));
    all.put("mlperf-mixtral", of(2000, 200));
    all.put("mlperf-deepseek-r1", of(2000, 80));
    all.put("mlperf-deepseek-r1-interactive", of(1500, 15));
    all.put("mlperf-gpt-oss-120b", of(3000, 80));
    all.put("mlperf-gpt-oss-120b-interactive", of(2000, 20));
    return all;
  }

  /** Limits on TTFT and TPOT alone. */
  public static Slo of(double ttftMs, double tpotMs) {
    return new Slo(ttftMs, tpotMs, Double.NaN);
  }

  /** Named limits, by name. */
  public static Map<String, Slo> named() {
    return new TreeMap<>(PRESETS);
  }

  /** This, with the limits that {@code over} sets in the place of its own. */
  public Slo with(Slo over) {
    return new Slo(
        Double.isNaN(over.ttftMs) ? ttftMs : over.ttftMs,
        Double.isNaN(over.tpotMs) ? tpotMs : over.tpotMs,
        Double.isNaN(over.e2eMs) ? e2eMs : over.e2eMs);
  }

  /** Whether it limits anything. */
  public boolean stated() {
    return !(Double.isNaN(ttftMs) && Double.isNaN(tpotMs) && Double.isNaN(e2eMs));
  }

  /**
   * Milliseconds from {@code 1000ms}, {@code 1s} or {@code 500us}. A number without a unit is
   * refused: tools that take one disagree whether it means seconds or milliseconds.
   *
   * @throws IllegalArgumentException if it is not a positive duration with a unit
   */
  public static double milliseconds(String text) {
    String t = text.strip().toLowerCase(java.util.Locale.ROOT);
    double scale = Double.NaN;
    if (t.endsWith("ms")) {
      t = t.substring(0, t.length() - 2);
      scale = 1;
    } else if (t.endsWith("us")) {
      t = t.substring(0, t.length() - 2);
      scale = 1e-3;
    } else if (t.endsWith("s")) {
      t = t.substring(0, t.length() - 1);
      scale = 1e3;
    }
    double value;
    try {
      value = Double.parseDouble(t.strip()) * scale;
    } catch (NumberFormatException e) {
      value = Double.NaN;
    }
    if (t.matches("[0-9.]{1,20}") && Double.isNaN(scale)) {
      throw new IllegalArgumentException(
          "\"" + text + "\" has no unit: write " + t + "ms or " + t + "s");
    }
    if (!(value > 0) || Double.isInfinite(value)) {
      throw new IllegalArgumentException(
          "\"" + text + "\" is not a duration; right forms are 1000ms, 1s, 50ms");
    }
    return value;
  }
}
