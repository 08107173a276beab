package io.musabench.results.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** Numbers as people read them: three significant digits and a unit that fits. */
public final class Units {
  /** Stands for a number that does not exist. */
  public static final String NOTHING = "-";

  private static final MathContext THREE = new MathContext(3, RoundingMode.HALF_UP);

  private Units() {}

  /** A time in ns, us, ms or s; {@code -} if it is not a number. */
  public static String time(double microseconds) {
    if (!Double.isFinite(microseconds)) {
      return NOTHING;
    }
    // Rounded before the unit is chosen, so that 999.7 us becomes 1.00 ms.
    double size = Math.abs(BigDecimal.valueOf(microseconds).round(THREE).doubleValue());
    if (size == 0) {
      return "0 us";
    }
    if (size < 1) {
      return number(microseconds * 1e3) + " ns";
    }
    if (size < 1e3) {
      return number(microseconds) + " us";
    }
    return size < 1e6 ? number(microseconds / 1e3) + " ms" : number(microseconds / 1e6) + " s";
  }

  /** Three significant digits, more before the point if there are more; never an exponent. */
  public static String number(double value) {
    if (!Double.isFinite(value)) {
      return NOTHING;
    }
    if (value == 0) {
      return "0";
    }
    BigDecimal exact = BigDecimal.valueOf(value);
    BigDecimal rounded = exact.round(THREE);
    // A number that needs fewer digits gets its zeros back: 50 is printed as 50.0.
    int scale = rounded.scale() + THREE.getPrecision() - rounded.precision();
    return exact.setScale(Math.max(0, scale), RoundingMode.HALF_UP).toPlainString();
  }

  /** Per cent with one digit behind the point. */
  public static String percent(double percent) {
    return Double.isFinite(percent) ? oneDigit(percent) + " %" : NOTHING;
  }

  /** Per cent with its sign. */
  public static String change(double percent) {
    return (percent >= 0 ? "+" : "") + percent(percent);
  }

  private static String oneDigit(double value) {
    return BigDecimal.valueOf(value).setScale(1, RoundingMode.HALF_UP).toPlainString();
  }

  /** Bytes in GiB with one digit. */
  public static String gib(long bytes) {
    return oneDigit(bytes / (double) (1L << 30)) + " GiB";
  }
}
