package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.report.JsonText;
import io.musabench.results.report.Units;
import io.musabench.results.tpot.Estimate;
import java.util.function.DoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Predicted numbers and their intervals as text, {@code 8.41 ms (8.05 to 8.79)}, and as JSON. */
final class Estimates {
  /** What the intervals cover. */
  static final String COVERED =
      "kernel times only; host gap, scheduler and errors of launch costs not in it";

  /** What the brackets are. */
  static final String BRACKETS = "in brackets: 90 % interval; " + COVERED;

  /** Explains {@link #FIXED}. */
  static final String FIXED_MEANS = "fixed: no error of a kernel time moves it";

  private static final String FIXED = " (fixed)";

  /** Changes of a time below this, in seconds, are not worth their digits. */
  private static final double LEAST = 1e-6;

  private static final Pattern NUMBER = Pattern.compile("([+-]?[\\d.]+)(\\D*)");

  private Estimates() {}

  /** A time in seconds. */
  static String time(Estimate e) {
    return text(e, PredictionReport.time(e.value()), PredictionReport::time);
  }

  /** A change of a time in seconds. */
  static String timeChange(Estimate e) {
    String change = delta(e.value());
    return text(
        e, (change.matches("\\d.*") && e.value() > 0 ? "+" : "") + change, Estimates::delta);
  }

  private static String delta(double seconds) {
    return seconds != 0 && Math.abs(seconds) < LEAST ? "<1 us" : PredictionReport.time(seconds);
  }

  /** A share of a whole. */
  static String share(Estimate e) {
    DoubleFunction<String> form = v -> Units.percent(100 * v);
    return text(e, form.apply(e.value()), form);
  }

  /** A change as a share; one that rounds to nothing has no sign. */
  static String change(Estimate e) {
    boolean none = Math.abs(e.value()) < 5e-4;
    return text(
        e,
        none ? Units.percent(0) : Units.change(100 * e.value()),
        v -> Units.percent(Math.abs(v) < 5e-4 ? 0 : 100 * v));
  }

  /** A ratio. */
  static String ratio(Estimate e) {
    return text(e, Units.number(e.value()) + "x", v -> Units.number(v) + "x");
  }

  /** A count that may be infinite: never reached. */
  static String count(Estimate e) {
    DoubleFunction<String> form = v -> Double.isInfinite(v) ? "never" : Units.number(v);
    return text(e, form.apply(e.value()), form);
  }

  /** A plain number. */
  static String number(Estimate e) {
    return text(e, Units.number(e.value()), Units::number);
  }

  private static String text(Estimate e, String value, DoubleFunction<String> form) {
    if (!e.hasInterval()) {
      return value;
    }
    if (e.low() == e.high()) {
      return value + FIXED;
    }
    String low = form.apply(e.low());
    String high = form.apply(e.high());
    if (value.startsWith("<") && low.equals(value) && high.equals(value)) {
      return value;
    }
    // A unit that all have stands once; nothing needs none.
    if (unit(low).equals(unit(value)) && unit(high).equals(unit(value))
        || value(low).equals("0") && unit(high).equals(unit(value))
        || value(high).equals("0") && unit(low).equals(unit(value))) {
      low = value(low);
      high = value(high);
    } else if (unit(low).equals(unit(high)) || value(low).equals("0")) {
      low = value(low);
    }
    return value + " (" + low + " to " + high + ")";
  }

  private static String unit(String text) {
    Matcher m = NUMBER.matcher(text);
    return m.matches() ? m.group(2) : text;
  }

  private static String value(String text) {
    Matcher m = NUMBER.matcher(text);
    return m.matches() ? m.group(1) : text;
  }

  /**
   * The number as {@code name + unit}, and the ends of its interval with {@code _low} and {@code
   * _high} before the unit.
   *
   * @param factor what makes the number one of that unit
   */
  static void json(ObjectNode node, String name, String unit, double factor, Estimate e) {
    JsonText.number(node, name + unit, factor * e.value());
    JsonText.number(node, name + "_low" + unit, factor * e.low());
    JsonText.number(node, name + "_high" + unit, factor * e.high());
  }
}
