package io.musabench.results.serving;

/**
 * One item of the course's checklist.
 *
 * @param id short name
 * @param verdict what it came to
 * @param reason why
 */
public record Check(String id, Verdict verdict, String reason) {
  /** How an item came out. */
  public enum Verdict {
    PASS,
    FAIL,
    /** The file does not tell. */
    UNKNOWN
  }
}
