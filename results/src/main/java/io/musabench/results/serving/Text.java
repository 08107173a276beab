package io.musabench.results.serving;

import java.util.Locale;

/** Numbers as people read them. */
final class Text {
  private Text() {}

  /** With three to six digits; {@code -} for what is missing. */
  static String number(double v) {
    if (Double.isNaN(v)) {
      return "-";
    }
    if (Double.isInfinite(v)) {
      return v > 0 ? "∞" : "-∞";
    }
    if (v == Math.rint(v) && Math.abs(v) < 1e9) {
      return String.format(Locale.ROOT, "%.0f", v);
    }
    double magnitude = Math.abs(v);
    int decimals = magnitude >= 1000 ? 1 : magnitude >= 10 ? 2 : magnitude >= 0.1 ? 3 : 6;
    return String.format(Locale.ROOT, "%." + decimals + "f", v);
  }

  static String count(long n) {
    return n < 0 ? "?" : Long.toString(n);
  }

  static String slo(Slo slo) {
    StringBuilder text = new StringBuilder();
    append(text, "TTFT", slo.ttftMs());
    append(text, "TPOT", slo.tpotMs());
    append(text, "latency", slo.e2eMs());
    return text.isEmpty() ? "none" : text.toString();
  }

  private static void append(StringBuilder text, String name, double ms) {
    if (!Double.isNaN(ms)) {
      text.append(text.isEmpty() ? "" : ", ").append(name).append(" < ").append(number(ms));
      text.append(" ms");
    }
  }
}
