package io.musabench.results.compare;

import io.musabench.results.run.AtomicFile;
import io.musabench.results.run.KeptRows;
import io.musabench.results.run.RunException;
import io.musabench.results.stats.Interval;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;

/**
 * What each case shows when it is compared with itself: a CSV file, a row a case, that {@code
 * musabench qualify} writes and the tolerance of a comparison uses.
 */
public final class NoiseFloors {
  private static final String SCHEMA_VERSION = "1";
  private static final String[] COLUMNS = {
    "schema_version", "environment", "case", "noise_percent", "pairs"
  };

  private final Path file;

  /** The floors in a file, which need not exist. */
  public NoiseFloors(Path file) {
    this.file = file;
  }

  /**
   * Noise floor of a case.
   *
   * @param fraction the largest change that the case could not rule out against itself
   * @param pairs pairs of forks it was found from
   */
  public record Floor(double fraction, int pairs) {
    /** The farther end of the 95 % interval around no change. */
    public static Floor of(LogRatio againstItself) {
      Interval ratio = againstItself.ratio(Judge.LEVEL);
      return new Floor(Math.max(ratio.high(), 1 / ratio.low()) - 1, againstItself.forks());
    }
  }

  private record Key(String environment, String caseId) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      int first = environment.compareTo(other.environment);
      return first != 0 ? first : caseId.compareTo(other.caseId);
    }
  }

  /** The file. */
  public Path file() {
    return file;
  }

  /**
   * Floors of one environment, as fractions by case.
   *
   * @param environment its {@link io.musabench.results.run.EnvironmentKey}
   * @throws RunException if the file is damaged or of another schema version
   */
  public Map<String, Double> read(String environment) {
    Map<String, Double> floors = new HashMap<>();
    read()
        .forEach(
            (key, floor) -> {
              if (key.environment.equals(environment)) {
                floors.put(key.caseId, floor.fraction());
              }
            });
    return floors;
  }

  /** Throws what {@link #read(String)} would throw. */
  void check() {
    read();
  }

  /**
   * Adds floors, or replaces those of the same cases.
   *
   * @throws RunException if the file cannot be read or written
   */
  public void add(String environment, Map<String, Floor> floors) {
    Map<Key, Floor> all = read();
    floors.forEach((caseId, floor) -> all.put(new Key(environment, caseId), floor));
    StringBuilder text = new StringBuilder();
    try (CSVPrinter out = new CSVPrinter(text, format().setHeader(COLUMNS).get())) {
      for (Map.Entry<Key, Floor> entry : all.entrySet()) {
        out.printRecord(
            SCHEMA_VERSION,
            entry.getKey().environment,
            entry.getKey().caseId,
            100 * entry.getValue().fraction(),
            entry.getValue().pairs());
      }
    } catch (IOException e) {
      throw new UncheckedIOException("A StringBuilder does not fail", e);
    }
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
    } catch (IOException e) {
      throw RunException.unwritten("Cannot write " + file, e);
    }
    AtomicFile.write(file, text.toString().getBytes(StandardCharsets.UTF_8));
  }

  private Map<Key, Floor> read() {
    Map<Key, Floor> floors = new TreeMap<>();
    KeptRows.each(
        file,
        "a file of noise floors",
        format(),
        COLUMNS,
        SCHEMA_VERSION,
        row -> {
          double percent = Double.parseDouble(row.get("noise_percent"));
          if (!(percent >= 0 && percent < Double.POSITIVE_INFINITY)) {
            throw new RunException(file + ": " + percent + " is no noise floor");
          }
          floors.put(
              new Key(row.get("environment"), row.get("case")),
              new Floor(percent / 100, Integer.parseInt(row.get("pairs"))));
        });
    return floors;
  }

  private static CSVFormat.Builder format() {
    return CSVFormat.RFC4180.builder().setRecordSeparator("\n");
  }
}
