package io.musabench.jmh.cli;

/** A share on the command line: {@code 3%}, or {@code 0.03}. */
final class Percent {
  private Percent() {}

  /**
   * The share as a fraction, above 0 and below 1.
   *
   * @param option name of the option, for the message
   */
  static double parse(String option, String text) {
    try {
      double value =
          text.endsWith("%")
              ? Double.parseDouble(text.substring(0, text.length() - 1)) / 100
              : Double.parseDouble(text);
      if (value > 0 && value < 1) {
        return value;
      }
    } catch (NumberFormatException e) {
      // The message below says what is wanted.
    }
    throw new UsageException(option + " takes a share such as 3% or 0.03, not \"" + text + "\"");
  }
}
