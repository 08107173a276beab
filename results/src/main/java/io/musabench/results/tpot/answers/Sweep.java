package io.musabench.results.tpot.answers;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Numbers as a sweep is written: {@code 8}, {@code 1..64} for every number, {@code 8..64+8} in
 * steps of 8, {@code 1..256*2} doubling.
 */
public final class Sweep {
  /** More values than this are a slip. */
  static final int MOST = 100_000;

  private static final Pattern FORM =
      Pattern.compile("(\\d{1,9})(?:\\.\\.(\\d{1,9})(?:([*+])(\\d{1,9}))?)?");

  private Sweep() {}

  /**
   * The numbers of several such texts, in their order.
   *
   * @throws IllegalArgumentException that shows right forms
   */
  public static List<Integer> of(List<String> texts) {
    List<Integer> numbers = new ArrayList<>();
    texts.forEach(text -> add(numbers, text.strip()));
    return numbers;
  }

  private static void add(List<Integer> numbers, String text) {
    Matcher m = FORM.matcher(text);
    if (!m.matches()) {
      throw new IllegalArgumentException(
          "\"" + text + "\" is no number or sweep; right forms are 8, 1..64, 8..64+8, 1..256*2");
    }
    long first = Long.parseLong(m.group(1));
    long last = m.group(2) == null ? first : Long.parseLong(m.group(2));
    boolean grows = "*".equals(m.group(3));
    long by = m.group(4) == null ? 1 : Long.parseLong(m.group(4));
    if (last < first || first < 1 || by < (grows ? 2 : 1)) {
      throw new IllegalArgumentException(
          "The sweep \"" + text + "\" does not go up from 1 or more; a right form is 1..256*2");
    }
    for (long n = first; n <= last; n = grows ? n * by : n + by) {
      if (numbers.size() == MOST) {
        throw new IllegalArgumentException(
            "The sweep \"" + text + "\" has more than " + MOST + " values");
      }
      numbers.add((int) n);
    }
  }
}
