package io.musabench.results.compare;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One side of a comparison.
 *
 * @param name name for the reader
 * @param device the device; empty if the file does not say
 * @param ownFormat whether it is a run directory of musabench, which names cases its own way
 * @param cases by id, in the order in which they were run
 */
public record MeasuredRun(
    String name, String device, boolean ownFormat, Map<String, MeasuredCase> cases) {
  /** Copies the map, in order. */
  public MeasuredRun {
    cases = Collections.unmodifiableMap(new LinkedHashMap<>(cases));
  }

  /** A case that appears twice is kept once, as one that cannot be compared. */
  static MeasuredRun of(
      String name, String device, boolean ownFormat, Collection<MeasuredCase> cases) {
    Map<String, MeasuredCase> byId = new LinkedHashMap<>();
    for (MeasuredCase c : cases) {
      byId.merge(c.id(), c, (first, second) -> first.withProblem("it appears twice in " + name));
    }
    return new MeasuredRun(name, device, ownFormat, byId);
  }

  /**
   * Reads a run directory of musabench, or JMH's JSON of any project.
   *
   * @throws io.musabench.results.run.RunException if it is neither, damaged, or of another schema
   *     version; the message is one line
   */
  public static MeasuredRun read(Path path) {
    return Files.isDirectory(path) ? RunDirectories.read(path) : JmhJson.read(path);
  }
}
