package io.musabench.jmh.device;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How a session's samples came about.
 *
 * @param unmet which condition for stopping the time ceiling left unmet; empty if none
 * @param throttled samples that were dropped because the device's clock was throttled
 * @param throttleReasons why the device slowed down, in the management library's words
 * @param otherProcesses other processes on the device, as {@code pid name}
 * @param notes lines the reader must know
 */
public record SessionFacts(
    String unmet,
    int throttled,
    ArrayList<String> throttleReasons,
    ArrayList<String> otherProcesses,
    ArrayList<String> notes)
    implements Serializable {
  /** The same, an unmet condition with a word about what was sampled. */
  SessionFacts of(String what) {
    String condition = unmet.isEmpty() ? "" : unmet + " (" + what + ")";
    return new SessionFacts(condition, throttled, throttleReasons, otherProcesses, notes);
  }

  /** The facts of two sessions as those of one. */
  public SessionFacts and(SessionFacts other) {
    return new SessionFacts(
        Stream.of(unmet, other.unmet).filter(u -> !u.isEmpty()).collect(Collectors.joining("; ")),
        throttled + other.throttled,
        together(throttleReasons, other.throttleReasons),
        together(otherProcesses, other.otherProcesses),
        together(notes, other.notes));
  }

  private static List<String> together(List<String> some, List<String> others) {
    return Stream.of(some, others).flatMap(List::stream).distinct().toList();
  }

  /** Copies the lists. */
  public SessionFacts(
      String unmet,
      int throttled,
      List<String> throttleReasons,
      List<String> otherProcesses,
      List<String> notes) {
    this(
        unmet,
        throttled,
        new ArrayList<>(throttleReasons),
        new ArrayList<>(otherProcesses),
        new ArrayList<>(notes));
  }
}
