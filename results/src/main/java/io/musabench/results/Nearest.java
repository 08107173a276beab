package io.musabench.results;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;
import org.apache.commons.text.similarity.LevenshteinDistance;

/** The name that somebody who mistyped probably meant. */
public final class Nearest {
  private Nearest() {}

  /**
   * The known name with the fewest typing mistakes, case ignored.
   *
   * @return empty if even that one shares less than half its letters with what was typed
   */
  public static Optional<String> match(String typed, Collection<String> known) {
    LevenshteinDistance distance = LevenshteinDistance.getDefaultInstance();
    String best = null;
    int fewest = Integer.MAX_VALUE;
    for (String name : known) {
      int mistakes = distance.apply(lower(typed), lower(name));
      if (mistakes < fewest) {
        best = name;
        fewest = mistakes;
      }
    }
    boolean near = best != null && 2 * fewest <= Math.max(typed.length(), best.length());
    return near ? Optional.of(best) : Optional.empty();
  }

  /** {@code " (did you mean X?)"} ready to stand in a message, or nothing. */
  public static String hint(String typed, Collection<String> known) {
    return match(typed, known).map(name -> " (did you mean " + name + "?)").orElse("");
  }

  private static String lower(String s) {
    return s.toLowerCase(Locale.ROOT);
  }
}
