package io.musabench.jmh.cli;

import io.musabench.results.Nearest;
import java.util.Collection;

/** The wording for a name that does not exist. */
final class Suggestions {
  private Suggestions() {}

  /**
   * {@code unknown <kind> "word"} with the nearest name, or with all of them when none is near.
   *
   * @param known the names there are
   */
  static String unknown(String kind, String word, Collection<String> known) {
    return "unknown " + kind + " \"" + word + "\"" + hint(word, known);
  }

  /** {@code " (did you mean X?)"} or {@code "; there are A, B"}; empty when there is nothing. */
  static String hint(String word, Collection<String> known) {
    if (known.isEmpty()) {
      return "";
    }
    return Nearest.match(word, known)
        .map(best -> " (did you mean " + best + "?)")
        .orElse("; there are " + String.join(", ", known));
  }
}
