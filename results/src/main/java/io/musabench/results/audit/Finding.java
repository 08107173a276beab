package io.musabench.results.audit;

import java.util.List;
import java.util.Map;

/**
 * What one check says of one row.
 *
 * @param id name of the check, stable
 * @param level how it came out
 * @param basis what the verdict rests on
 * @param what what was compared, with the numbers
 * @param effect what follows; empty if nothing
 * @param numbers the numbers by name, for programs; NaN is unknown
 * @param edits changes of a single number that would satisfy the check, the smallest first
 */
public record Finding(
    String id,
    Level level,
    Basis basis,
    String what,
    String effect,
    Map<String, Double> numbers,
    List<Edit> edits) {
  /** How a check came out. */
  public enum Level {
    /** Tested, and it holds. */
    OK,
    /** Possible, and worth knowing. */
    NOTE,
    /** The numbers cannot all be true. */
    WARN,
    /** Not tested; {@link #what} says why. */
    SKIPPED
  }

  /** What a verdict rests on. */
  public enum Basis {
    /** Arithmetic alone: true of any distribution. */
    ARITHMETIC,
    /** An assumption, which {@link #what} or {@link #effect} names. */
    ASSUMPTION
  }

  /** Copies the collections. */
  public Finding {
    numbers = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(numbers));
    edits = List.copyOf(edits);
  }

  static Finding skipped(String id, String why) {
    return new Finding(id, Level.SKIPPED, Basis.ARITHMETIC, why, "", Map.of(), List.of());
  }

  Finding withEdits(List<Edit> found) {
    return new Finding(id, level, basis, what, effect, numbers, found);
  }
}
