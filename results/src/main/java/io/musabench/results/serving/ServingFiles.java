package io.musabench.results.serving;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Reads result files and directories of result files. */
public final class ServingFiles {
  private static final int MAX_DEPTH = 6;
  private static final int MAX_FILES = 10_000;

  /** So many files of other kinds are named. */
  private static final int MAX_NAMED = 12;

  /** Names of which it is said one by one why the file is none; others are counted. */
  private static final Pattern PLAUSIBLE =
      Pattern.compile(
          ".*\\.(json|jsonl|ndjson|csv|ya?ml|log|txt|out)(\\.gz)?", Pattern.CASE_INSENSITIVE);

  private ServingFiles() {}

  /**
   * The runs in a file. What can be read only once, such as a pipe, is copied to a temporary file
   * first; {@code -} is standard input.
   *
   * @param format null to recognise it by content
   * @throws ServingFormatException if it is of no known format, or damaged beyond use; the message
   *     begins with the file's name
   * @throws IOException if it cannot be read
   */
  public static List<Run> read(Path file, Format format) throws IOException {
    if (isStandardInput(file) || Files.exists(file) && !Files.isRegularFile(file)) {
      return readOnce(file, format);
    }
    return results(file.toString(), read(new Source(file, file.toString()), format));
  }

  private static boolean isStandardInput(Path file) {
    return file.toString().equals("-");
  }

  private static List<Run> readOnce(Path file, Format format) throws IOException {
    if (Files.isDirectory(file)) {
      throw new ServingFormatException(file + ": a directory");
    }
    String name = isStandardInput(file) ? "standard input" : file.toString();
    Path copy = Files.createTempFile("musabench-serving", null);
    try {
      try (InputStream in = isStandardInput(file) ? System.in : Files.newInputStream(file)) {
        Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
      }
      return results(name, read(new Source(copy, name), format));
    } finally {
      Files.deleteIfExists(copy);
    }
  }

  private static List<Run> results(String file, List<Run> runs) throws ServingFormatException {
    if (runs.stream().allMatch(r -> r.argumentsOnly)) {
      throw new ServingFormatException(
          file + ": no results in it: it completes others; read the directory that it lies in");
    }
    return runs;
  }

  /**
   * Whether a file is of a known format, by its content.
   *
   * @throws IOException if it cannot be read
   */
  public static boolean recognises(Path file) throws IOException {
    try {
      recognise(new Source(file, file.toString()));
      return true;
    } catch (ServingFormatException e) {
      return false;
    }
  }

  private static List<Run> read(Source source, Format given) throws IOException {
    try {
      Format format = given == null ? recognise(source) : given;
      List<Run> runs = format.reader().read(source);
      if (source.cutOff()) {
        String note = "the compressed file is cut off or damaged; what came before was read";
        runs.get(runs.size() - 1).notes.add(note);
      }
      return runs;
    } catch (ServingFormatException e) {
      throw new ServingFormatException(source.name() + ": " + e.getMessage(), e);
    } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
      throw new ServingFormatException(source.name() + ": " + Json.damage(e), e);
    } catch (java.io.CharConversionException e) {
      throw new ServingFormatException(source.name() + ": not UTF-8: " + e.getMessage(), e);
    } catch (java.io.EOFException | java.util.zip.ZipException e) {
      throw new ServingFormatException(source.name() + ": the gzip data are damaged", e);
    }
  }

  /** The first format whose marks a file's beginning carries. */
  static Format recognise(Source source) throws IOException {
    Outline outline = Outline.of(source);
    for (Format format : Format.values()) {
      if (format.matches(outline)) {
        return format;
      }
    }
    Optional<Companion> companion = Companion.of(outline);
    if (companion.isPresent()) {
      throw new ServingFormatException("no results in it: " + companion.get().what());
    }
    String damage = outline.damage() == null ? "" : "; " + outline.damage();
    throw new ServingFormatException(
        "not a result file of a known tool (it is " + outline.describe() + damage + ")", true);
  }

  /** The runs of a directory and what was left out of it. */
  public record Directory(List<Run> runs, List<String> notes) {}

  /**
   * The runs in a directory, its subdirectories included, hidden files excluded. Files are known by
   * their content, whatever their name; those of no known format are left out and named; of several
   * files about the same run the one with the requests is read and completed from the others.
   *
   * @throws ServingFormatException if no file in it is a result file
   */
  public static Directory readDirectory(Path directory, Format format) throws IOException {
    List<Path> files;
    try (Stream<Path> walk = Files.walk(directory, MAX_DEPTH, new FileVisitOption[0])) {
      files =
          walk.filter(Files::isRegularFile)
              .filter(f -> !hidden(directory, f))
              .sorted()
              .limit(MAX_FILES + 1L)
              .toList();
    }
    List<String> notes = new ArrayList<>();
    List<String> others = new ArrayList<>();
    if (files.size() > MAX_FILES) {
      notes.add("more than " + MAX_FILES + " files: the rest is left out");
      files = files.subList(0, MAX_FILES);
    }
    List<SameRun.Found> found = new ArrayList<>();
    for (Path file : files) {
      boolean plausible = PLAUSIBLE.matcher(file.getFileName().toString()).matches();
      try {
        if (!plausible && !text(file)) {
          others.add(file.getFileName().toString());
          continue;
        }
        Source source = new Source(file, file.toString());
        Format f = format == null ? recognise(source) : format;
        found.add(new SameRun.Found(file, f, read(source, f)));
      } catch (ServingFormatException e) {
        if (!plausible) {
          others.add(file.getFileName().toString());
          continue;
        }
        notes.add("left out " + file.getFileName() + ": " + e.getMessage());
      }
    }
    if (found.isEmpty()) {
      int size = files.size();
      throw new ServingFormatException(
          directory
              + (size == 0
                  ? ": no file in it"
                  : ": none of its " + size + " files is a result file of a known tool"));
    }
    if (!others.isEmpty()) {
      String some = String.join(", ", others.subList(0, Math.min(MAX_NAMED, others.size())));
      String more = others.size() > MAX_NAMED ? ", …" : "";
      notes.add("left out " + others.size() + " files of other kinds: " + some + more);
    }
    return new Directory(SameRun.merge(found, notes), notes);
  }

  private static boolean hidden(Path directory, Path file) {
    for (Path part : directory.relativize(file)) {
      if (part.toString().startsWith(".")) {
        return true;
      }
    }
    return false;
  }

  /** Whether a file may be a text: a database or a program is not searched for results. */
  private static boolean text(Path file) throws IOException {
    try (InputStream in = new Source(file, file.toString()).open()) {
      for (byte b : in.readNBytes(4096)) {
        if (b == 0) {
          return false;
        }
      }
      return true;
    } catch (java.io.EOFException
        | java.util.zip.ZipException
        | java.nio.file.AccessDeniedException e) {
      return false;
    }
  }
}
