package io.musabench.results.serving;

/**
 * One line of the audit.
 *
 * @param id short name, stable
 * @param level how bad it is
 * @param what what was seen, with how much
 * @param effect what it does to the numbers
 */
public record Finding(String id, Level level, String what, String effect) {
  /** How bad it is. */
  public enum Level {
    /** A consistency that was tested and holds. */
    OK,
    /** Worth knowing, and legal. */
    NOTE,
    /** A number is wrong or means something else than it says. */
    WARN
  }
}
