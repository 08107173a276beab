package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.math.BigDecimal;
import java.math.MathContext;

/** Values as the page's JSON holds them. */
final class Values {
  /** Of a derived number more digits than these are noise, and they would double the file. */
  private static final MathContext DIGITS = new MathContext(6);

  private Values() {}

  /** Adds a text, message or number; null if there is none. */
  static void add(ArrayNode array, Object value) {
    if (value instanceof Message message) {
      array.add(message.json());
    } else if (value instanceof Integer || value instanceof Long) {
      array.add(((Number) value).longValue());
    } else if (value instanceof Double number) {
      add(array, number.doubleValue());
    } else if (value instanceof Enum<?> word) {
      array.add(word.name());
    } else if (value == null) {
      array.addNull();
    } else {
      array.add(value.toString());
    }
  }

  /** Adds a number; null if it is none. */
  static void add(ArrayNode array, double value) {
    if (Double.isFinite(value)) {
      BigDecimal rounded = BigDecimal.valueOf(value).round(DIGITS).stripTrailingZeros();
      array.add(rounded.scale() < 0 ? rounded.setScale(0) : rounded);
    } else {
      array.addNull();
    }
  }
}
