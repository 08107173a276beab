package io.musabench.results.history;

import io.musabench.results.compare.MeasuredCase;
import io.musabench.results.compare.MeasuredRun;
import io.musabench.results.run.AtomicFile;
import io.musabench.results.run.Environment;
import io.musabench.results.run.EnvironmentKey;
import io.musabench.results.run.KeptRows;
import io.musabench.results.run.RunException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;

/**
 * Times from run to run, in CSV files under a folder: {@code <environment>/<case>.csv}, a row a
 * run, oldest first. A run adds one line to each file, which is what git stores best, and each file
 * is a test that Apache Otava reads as it is; {@code otava.yaml} beside them lists them for it.
 */
public final class History {
  private static final String SCHEMA_VERSION = "1";
  private static final String[] COLUMNS = {
    "schema_version", "time", "commit", "environment", "run", "case", "time_us", "forks"
  };
  private static final String OTAVA = "otava.yaml";
  private static final int MOST_NAME = 100;

  private final Path root;

  /**
   * The history in a folder, which need not exist.
   *
   * @param root for example {@code results/history}
   */
  public History(Path root) {
    this.root = root;
  }

  /**
   * One run of one case.
   *
   * @param time start of the run, ISO 8601 in UTC
   * @param commit git revision, or {@code unknown}
   * @param environment key of the environment
   * @param run name of the run directory
   * @param caseId the case
   * @param timeUs geometric mean of the forks' medians, in microseconds
   * @param forks number of forks
   */
  public record Entry(
      String time,
      String commit,
      String environment,
      String run,
      String caseId,
      double timeUs,
      int forks) {}

  /**
   * All runs of one case in one environment, oldest first; not empty.
   *
   * @param file its file
   * @param entries the runs
   */
  public record Series(Path file, List<Entry> entries) {
    /** Copies the list. */
    public Series {
      entries = List.copyOf(entries);
    }

    /** Where its time changed. */
    public List<ChangePoints.Change> changes() {
      return ChangePoints.of(entries.stream().mapToDouble(Entry::timeUs).toArray());
    }
  }

  /**
   * Adds a row a measured case; a run that is there already is not added again.
   *
   * @return number of rows added
   * @throws RunException if the run is not a run directory, or a file is damaged or cannot be
   *     written
   */
  public int add(MeasuredRun run) {
    if (!run.ownFormat()) {
      throw new RunException(run.name() + " is no run directory: its time is not known");
    }
    if (!Files.isDirectory(root)) {
      try {
        Files.createDirectories(root);
      } catch (IOException e) {
        throw RunException.unwritten("Cannot write " + root, e);
      }
    }
    Environment environment = run.environment();
    String key = EnvironmentKey.of(environment);
    int added = 0;
    for (MeasuredCase c : run.cases().values()) {
      if (!c.failure().isEmpty() || !c.problem().isEmpty()) {
        continue;
      }
      Path file = root.resolve(key).resolve(fileName(c.id()));
      List<Entry> entries = new ArrayList<>(read(file));
      if (entries.stream().anyMatch(e -> e.run().equals(run.name()))) {
        continue;
      }
      String commit = environment.git() == null ? null : environment.git().revision();
      entries.add(
          new Entry(
              environment.createdUtc(),
              commit == null ? "unknown" : commit,
              key,
              run.name(),
              c.id(),
              c.timeUs(),
              c.forks().size()));
      entries.sort(Comparator.comparing(Entry::time));
      write(file, entries);
      added++;
    }
    if (added > 0) {
      writeOtava();
    }
    return added;
  }

  /** Readable start, unique end: a case's name has characters that file names cannot have. */
  private static String fileName(String caseId) {
    String slug = EnvironmentKey.slug(caseId);
    String start = slug.substring(0, Math.min(slug.length(), MOST_NAME));
    return start + "-" + EnvironmentKey.hash(caseId) + ".csv";
  }

  /**
   * Everything, by environment and case.
   *
   * @throws RunException if a file is damaged or of another schema version
   */
  public List<Series> all() {
    List<Series> all = new ArrayList<>();
    for (Path file : files()) {
      List<Entry> entries = read(file);
      if (!entries.isEmpty()) {
        all.add(new Series(file, entries));
      }
    }
    return all;
  }

  /** Whether there is anything at its place. */
  public boolean exists() {
    return !KeptRows.absent(root);
  }

  private List<Path> files() {
    if (!exists()) {
      return List.of();
    }
    // A link to a folder is that folder; a link that leads nowhere is found out when it is read.
    try (Stream<Path> files = Files.walk(root, 2, FileVisitOption.FOLLOW_LINKS)) {
      if (!Files.isDirectory(root)) {
        throw new NotDirectoryException(root.toString());
      }
      return files.filter(f -> f.toString().endsWith(".csv")).sorted().toList();
    } catch (IOException | UncheckedIOException e) {
      throw RunException.because("Cannot read " + root, e);
    }
  }

  private static List<Entry> read(Path file) {
    List<Entry> entries = new ArrayList<>();
    KeptRows.each(
        file,
        "a file of the history",
        format(),
        COLUMNS,
        SCHEMA_VERSION,
        row -> {
          double time = Double.parseDouble(row.get("time_us"));
          if (!(time > 0 && time < Double.POSITIVE_INFINITY)) {
            throw new RunException(file + ": " + time + " is no time");
          }
          entries.add(
              new Entry(
                  row.get("time"),
                  row.get("commit"),
                  row.get("environment"),
                  row.get("run"),
                  row.get("case"),
                  time,
                  Integer.parseInt(row.get("forks"))));
        });
    return entries;
  }

  private static void write(Path file, List<Entry> entries) {
    StringBuilder text = new StringBuilder();
    try (CSVPrinter out = new CSVPrinter(text, format().setHeader(COLUMNS).get())) {
      for (Entry e : entries) {
        out.printRecord(
            SCHEMA_VERSION,
            e.time(),
            e.commit(),
            e.environment(),
            e.run(),
            e.caseId(),
            e.timeUs(),
            e.forks());
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

  /** Otava's list of tests; paths are relative to the folder it is started in, the history's. */
  private void writeOtava() {
    StringBuilder yaml = new StringBuilder("tests:\n");
    for (Path file : files()) {
      Path path = root.relativize(file);
      String name = path.toString().replace(".csv", "").replace('/', '.').replace('\\', '.');
      yaml.append("  ").append(name).append(":\n");
      yaml.append("    type: csv\n");
      yaml.append("    file: ").append(path.toString().replace('\\', '/')).append('\n');
      yaml.append("    time_column: time\n");
      yaml.append("    attributes: [commit, run]\n");
      yaml.append("    metrics:\n");
      yaml.append("      time_us:\n");
      yaml.append("        column: time_us\n");
      yaml.append("        direction: -1\n");
      yaml.append("    csv_options:\n");
      yaml.append("      delimiter: ','\n");
      yaml.append("      quote_char: '\"'\n");
    }
    AtomicFile.write(root.resolve(OTAVA), yaml.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static CSVFormat.Builder format() {
    return CSVFormat.RFC4180.builder().setRecordSeparator("\n");
  }
}
