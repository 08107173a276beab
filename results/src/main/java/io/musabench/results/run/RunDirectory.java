package io.musabench.results.run;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * The folder {@code <UTC time>-<target>} of one run. Each {@code save} replaces its file whole, so
 * that a run may be saved after every case and is valid whenever it ends.
 */
public final class RunDirectory {
  /** Name of the link to the newest run, beside the run directories. */
  public static final String LATEST = "latest";

  private static final String ENVIRONMENT = "environment.json";
  private static final String CASES = "cases.csv";
  private static final String PARTS = "parts.csv";
  private static final String GRAPHS = "graphs.csv";
  private static final String SAMPLES = "samples.csv";
  private static final String JMH = "jmh.json";

  private static final DateTimeFormatter NAME =
      DateTimeFormatter.ofPattern("uuuuMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

  /** Runs started in one second; more is a loop gone wrong. */
  private static final int MOST_COLLISIONS = 1000;

  private final Path path;

  private RunDirectory(Path path) {
    this.path = path;
  }

  /**
   * Makes a new folder; a second run in the same second gets {@code -2} behind its name.
   *
   * @param runs folder of all runs, made if missing
   * @param target {@code musa}, {@code cuda} or {@code host}
   * @param start start of the run
   * @throws RunException if it cannot be made
   */
  public static RunDirectory create(Path runs, String target, Instant start) {
    String name = NAME.format(start) + "-" + target;
    try {
      Files.createDirectories(runs);
    } catch (IOException e) {
      throw RunException.unwritten("Cannot make " + runs, e);
    }
    try {
      for (int i = 1; i <= MOST_COLLISIONS; i++) {
        try {
          return new RunDirectory(
              Files.createDirectory(runs.resolve(i == 1 ? name : name + "-" + i)));
        } catch (FileAlreadyExistsException e) {
          continue;
        }
      }
      throw new RunException("Cannot make " + runs.resolve(name) + ": too many of that name");
    } catch (IOException e) {
      throw RunException.unwritten("Cannot make " + runs.resolve(name), e);
    }
  }

  /**
   * A run directory of a given name, made if missing: a copy that is to be kept.
   *
   * @throws RunException if it cannot be made
   */
  public static RunDirectory at(Path path) {
    try {
      return new RunDirectory(Files.createDirectories(path));
    } catch (IOException e) {
      throw RunException.unwritten("Cannot make " + path, e);
    }
  }

  /**
   * Opens a run, or the one that {@code latest} points to.
   *
   * @throws RunException if there is no such folder
   */
  public static RunDirectory open(Path path) {
    try {
      // The real name, so that reports do not say "latest".
      Path real = path.toRealPath();
      if (Files.isDirectory(real)) {
        return new RunDirectory(real);
      }
    } catch (IOException e) {
      throw new RunException("There is no run directory " + path, e);
    }
    throw new RunException(path + " is not a run directory");
  }

  /** The folder. */
  public Path path() {
    return path;
  }

  /** Writes {@code environment.json}. */
  public void saveEnvironment(Environment environment) {
    AtomicFile.write(path.resolve(ENVIRONMENT), RunFiles.environment(environment));
  }

  /**
   * Writes {@code cases.csv}, {@code parts.csv} and {@code graphs.csv}. Shares of the roofs are
   * computed from the roof cases among {@code cases}.
   */
  public void saveCases(List<CaseResult> cases) {
    AtomicFile.write(path.resolve(PARTS), RunFiles.parts(cases));
    AtomicFile.write(path.resolve(GRAPHS), RunFiles.graphs(cases));
    AtomicFile.write(path.resolve(CASES), RunFiles.cases(cases));
  }

  /** Writes {@code samples.csv}. */
  public void saveSamples(List<Sample> samples) {
    AtomicFile.write(path.resolve(SAMPLES), RunFiles.samples(samples));
  }

  /** Writes {@code jmh.json}, the bytes as they are. */
  public void saveJmhJson(byte[] json) {
    AtomicFile.write(path.resolve(JMH), json);
  }

  /** Makes {@code latest} point here. */
  public void markLatest() {
    AtomicFile.link(path.resolveSibling(LATEST), path.getFileName());
  }

  /**
   * Reads environment and cases back. A run that was stopped is read as far as it came, see {@link
   * RunData#partial}.
   *
   * @throws RunException if a file is missing, damaged, has lost rows or is of another schema
   *     version
   */
  public RunData read() {
    return new RunData(
        String.valueOf(path.getFileName()), // The root has none.
        RunFiles.environment(name(ENVIRONMENT), bytes(ENVIRONMENT)),
        RunFiles.cases(content(CASES), content(PARTS), laterContent(GRAPHS)));
  }

  /**
   * Reads the samples back.
   *
   * @throws RunException if the file is missing, damaged or of another schema version
   */
  public List<Sample> readSamples() {
    List<Sample> samples = new ArrayList<>();
    eachSample(samples::add);
    return samples;
  }

  /**
   * Reads the samples one by one, in the order of the file.
   *
   * @throws RunException if the file is missing, damaged or of another schema version
   */
  public void eachSample(Consumer<Sample> consumer) {
    try (Reader text = Files.newBufferedReader(path.resolve(SAMPLES))) {
      RunFiles.samples(name(SAMPLES), text, consumer);
    } catch (IOException e) {
      throw RunException.because("Cannot read " + name(SAMPLES), e);
    }
  }

  private RunFiles.Content content(String file) {
    return new RunFiles.Content(name(file), bytes(file));
  }

  private RunFiles.Content laterContent(String file) {
    boolean absent = KeptRows.absent(path.resolve(file));
    return new RunFiles.Content(name(file), absent ? null : bytes(file));
  }

  private String name(String file) {
    return path.resolve(file).toString();
  }

  private byte[] bytes(String file) {
    try {
      return Files.readAllBytes(path.resolve(file));
    } catch (IOException e) {
      throw RunException.because("Cannot read " + name(file), e);
    }
  }
}
