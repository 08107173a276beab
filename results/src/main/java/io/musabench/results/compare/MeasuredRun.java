package io.musabench.results.compare;

import io.musabench.results.run.Environment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * One side of a comparison.
 *
 * @param name name for the reader
 * @param environment where it was measured; null for JMH's JSON, which does not say
 * @param cases by id, in the order in which they were run
 */
public record MeasuredRun(String name, Environment environment, Map<String, MeasuredCase> cases) {
  /** Copies the map, in order. */
  public MeasuredRun {
    cases = Collections.unmodifiableMap(new LinkedHashMap<>(cases));
  }

  /** A case that appears twice is kept once, as one that cannot be compared. */
  static MeasuredRun of(String name, Environment environment, Collection<MeasuredCase> cases) {
    Map<String, MeasuredCase> byId = new LinkedHashMap<>();
    for (MeasuredCase c : cases) {
      byId.merge(c.id(), c, (first, second) -> first.withProblem("it appears twice in " + name));
    }
    return new MeasuredRun(name, environment, byId);
  }

  /** Whether it is a run directory of musabench, which names cases its own way. */
  public boolean ownFormat() {
    return environment != null;
  }

  /** Names of the conditions that its cases were measured under. */
  public Set<String> conditions() {
    return cases.values().stream()
        .flatMap(c -> c.conditions().keySet().stream())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** What a run has to say that was stopped, or still goes on; empty if it is whole. */
  public String partial() {
    return environment == null ? "" : environment.partial(cases.size());
  }

  /**
   * Whether {@code musabench ab} or {@code qualify} measured both in one session, so that fork i of
   * one was measured next to fork i of the other.
   */
  public boolean pairedWith(MeasuredRun other) {
    String session = session();
    return session != null && session.equals(other.session());
  }

  private String session() {
    return environment == null ? null : environment.versions().get(Environment.PAIRED_IN);
  }

  /** Name of the device; empty if it is not known. */
  public String device() {
    String device = environment == null ? null : environment.device().name();
    return device == null ? "" : device;
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
