package io.musabench.jmh.device;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

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
