package io.musabench.results.compare;

import io.musabench.results.Nearest;
import io.musabench.results.run.EnvironmentKey;
import io.musabench.results.run.KeptRows;
import io.musabench.results.run.RunData;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.RunException;
import io.musabench.results.run.Sample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Runs that are kept to be compared with, in {@code <root>/<device>/<name>}. A baseline is a run
 * directory without what no comparison reads, so that it is small enough for git.
 */
public final class Baselines {
  private static final String NAME = "[A-Za-z0-9][A-Za-z0-9._-]*";
  private static final String NOISE = "noise.csv";
  private static final Set<String> METRICS =
      Set.of(Sample.DEVICE_TIME, Sample.HOST_TIME, Sample.DEVICE_CLOCK, Sample.TURN);

  private final Path root;

  /**
   * The baselines in a folder, which need not exist.
   *
   * @param root for example {@code results/baselines}
   */
  public Baselines(Path root) {
    this.root = root;
  }

  /**
   * A kept run.
   *
   * @param device folder of its device
   * @param name its name
   * @param path its run directory
   */
  public record Baseline(String device, String name, Path path) {}

  /**
   * Keeps a run.
   *
   * @param name letters, digits, dots, hyphens and underscores
   * @param replace whether one of that name may be replaced
   * @throws RunException if the name is taken or wrong, the run cannot be read, has too few forks
   *     to judge anything by, or cannot be written
   */
  public Baseline save(Path run, String name, boolean replace) {
    if (!name.matches(NAME)) {
      throw new RunException(
          "A baseline's name has letters, digits, dots, hyphens and underscores, not \""
              + name
              + "\"");
    }
    if (name.equalsIgnoreCase(NOISE)) { // Some file systems take them for the same.
      throw new RunException(NOISE + " is the name of the noise floors, take another");
    }
    RunDirectory source = RunDirectory.open(run);
    RunData data = source.read();
    if (data.cases().stream().noneMatch(c -> c.forks() >= Judge.LEAST_FORKS)) {
      throw new RunException(
          "%s has fewer than %d forks a case: nothing can be judged by it"
              .formatted(source.path(), Judge.LEAST_FORKS));
    }
    String device = EnvironmentKey.device(data.environment());
    Path path = root.resolve(device).resolve(name);
    if (Files.exists(path) && !replace) {
      throw new RunException("There is a baseline " + name + " of " + device + " already");
    }
    List<Sample> samples = new ArrayList<>();
    source.eachSample(
        sample -> {
          if (METRICS.contains(sample.metric())) {
            samples.add(sample);
          }
        });
    // Names begin with a letter or a digit, so this is nobody's baseline until it is whole.
    Path fresh = path.resolveSibling("." + name + ".new");
    try {
      try {
        delete(fresh);
        RunDirectory kept = RunDirectory.at(fresh);
        kept.saveEnvironment(data.environment());
        kept.saveSamples(samples);
        kept.saveCases(data.cases());
        replace(path, fresh);
      } finally {
        delete(fresh);
      }
    } catch (IOException e) {
      throw RunException.unwritten("Cannot write " + path, e);
    }
    return new Baseline(device, name, path);
  }

  /** Puts a folder in the place of another, which need not exist and is deleted last. */
  private static void replace(Path path, Path fresh) throws IOException {
    Path old = path.resolveSibling("." + path.getFileName() + ".old");
    delete(old);
    if (Files.exists(path)) {
      Files.move(path, old);
    }
    Files.move(fresh, path);
    delete(old);
  }

  /** Deletes a run directory, which has no folders in it; one that is not there is gone already. */
  private static void delete(Path run) throws IOException {
    if (Files.exists(run)) {
      for (Path file : children(run)) {
        Files.delete(file);
      }
      Files.delete(run);
    }
  }

  /** Whether there is anything at the place of the baselines. */
  public boolean exist() {
    return !KeptRows.absent(root);
  }

  /**
   * All of them, by device and name.
   *
   * @throws RunException if the folder cannot be read
   */
  public List<Baseline> list() {
    List<Baseline> all = new ArrayList<>();
    for (Path device : folders(root)) {
      for (Path run : folders(device)) {
        all.add(new Baseline(name(device), name(run), run));
      }
    }
    return all;
  }

  /**
   * Finds one by its name.
   *
   * @param device folder of the device, or null for the only device that has one of that name
   * @throws RunException if there is none, or there are several
   */
  public Baseline find(String device, String name) {
    List<Baseline> ofDevice =
        list().stream().filter(b -> device == null || b.device().equals(device)).toList();
    List<Baseline> found = ofDevice.stream().filter(b -> b.name().equals(name)).toList();
    if (found.size() == 1) {
      return found.get(0);
    }
    if (found.size() > 1) {
      throw new RunException(
          "Several devices have a baseline %s: %s"
              .formatted(name, String.join(", ", found.stream().map(Baseline::device).toList())));
    }
    List<String> names = ofDevice.stream().map(Baseline::name).toList();
    throw new RunException(
        "There is no baseline "
            + name
            + (device == null ? "" : " of " + device)
            + Nearest.hint(name, names));
  }

  /** The noise floors of a device. */
  public NoiseFloors noise(String device) {
    return new NoiseFloors(root.resolve(device).resolve(NOISE));
  }

  /**
   * Reads the noise floors of all devices, to find out before a measurement whether they can be.
   *
   * @throws RunException if a file is damaged or of another schema version
   */
  public void checkNoise() {
    folders(root).forEach(device -> noise(name(device)).check());
  }

  private static String name(Path path) {
    return path.getFileName().toString();
  }

  private static List<Path> folders(Path parent) {
    if (KeptRows.absent(parent)) {
      return List.of();
    }
    try {
      return children(parent).stream()
          .filter(child -> Files.isDirectory(child) && name(child).matches(NAME))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw RunException.because("Cannot read " + parent, e);
    }
  }

  private static List<Path> children(Path folder) throws IOException {
    try (Stream<Path> children = Files.list(folder)) {
      return children.toList();
    }
  }
}
