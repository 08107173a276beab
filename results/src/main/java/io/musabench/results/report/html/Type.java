package io.musabench.results.report.html;

/** What a column or an axis holds, and so how it is printed and what a CSV calls its unit. */
enum Type {
  /** Text from the data, or a {@link Message}. */
  TEXT,
  /** A text that identifies something, in a fixed-width font. */
  CODE,
  /** How a number was got: {@link Kind}. */
  KIND,
  /** Outcome of a case or a check: its colour goes with its word. */
  STATE,
  /** A whole number. */
  COUNT,
  /** A number of three significant digits. */
  NUMBER,
  /** A time in microseconds. */
  TIME_US,
  /** Per cent. */
  PERCENT,
  /** Per cent with its sign. */
  CHANGE,
  /** One quantity over another of the same unit. */
  RATIO
}
