package io.musabench.results.audit;

import java.math.BigDecimal;

/**
 * A number of a table.
 *
 * @param column header of its column, as it stands in the file
 * @param value in milliseconds, requests a second, tokens or a share
 * @param rounding half a unit of the last printed digit, in the same unit: how far off the value
 *     can be for having been rounded
 * @param scale factor from the column's unit to that of the value
 */
record Cell(String column, double value, double rounding, double scale) {
  /** A number in the unit of its column. */
  Cell(String column, double value, double rounding) {
    this(column, value, rounding, 1);
  }

  /**
   * Reads a number as it was printed.
   *
   * @throws NumberFormatException if it is none
   */
  static Cell parse(String column, String text, double scale) {
    BigDecimal exact = new BigDecimal(text.replace(",", ""));
    double rounding = Math.scalb(Math.pow(10, -exact.scale()), -1);
    return new Cell(column, exact.doubleValue() * scale, rounding * scale, scale);
  }

  Cell with(double changed) {
    return new Cell(column, changed, 0, scale);
  }
}
