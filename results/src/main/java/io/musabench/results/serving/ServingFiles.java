package io.musabench.results.serving;

import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Reads result files and directories of result files. */
public final class ServingFiles {
  private static final int MAX_DEPTH = 6;
  private static final int MAX_FILES = 10_000;
  private static final Pattern PLAUSIBLE =
      Pattern.compile(
          ".*\\.(json|jsonl|ndjson|csv|ya?ml|log|txt|out)(\\.gz)?", Pattern.CASE_INSENSITIVE);

  private ServingFiles() {}

  /**
   * The runs in a file.
   *
   * @param format null to recognise it by content
   * @throws ServingFormatException if it is of no known format, or damaged beyond use; the message
   *     begins with the file's name
   * @throws IOException if it cannot be read
   */
  public static List<Run> read(Path file, Format format) throws IOException {
    List<Run> runs = read(new Source(file, file.toString()), format);
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

  private static Format recognise(Source source) throws IOException {
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
    StringBuilder message = new StringBuilder("not a result file of a known tool (it is ");
    message.append(outline.describe());
    message.append(outline.damage() == null ? "" : "; " + outline.damage());
    message.append("). Looked for:");
    for (Format format : Format.values()) {
      message.append("\n  ").append(format.id()).append(": ").append(format.marks());
    }
    throw new ServingFormatException(message.toString());
  }

  /** The runs of a directory and what was left out of it. */
  public record Directory(List<Run> runs, List<String> notes) {}

  /**
   * The runs in a directory, its subdirectories included. Files of no known format are left out; of
   * several files about the same run the one with the requests is read and completed from the
   * others.
   *
   * @throws ServingFormatException if no file in it is a result file
   */
  public static Directory readDirectory(Path directory, Format format) throws IOException {
    List<Path> files;
    try (Stream<Path> walk = Files.walk(directory, MAX_DEPTH, new FileVisitOption[0])) {
      files =
          walk.filter(Files::isRegularFile)
              .filter(f -> PLAUSIBLE.matcher(f.getFileName().toString()).matches())
              .sorted()
              .limit(MAX_FILES)
              .toList();
    }
    List<String> notes = new ArrayList<>();
    List<SameRun.Found> found = new ArrayList<>();
    for (Path file : files) {
      try {
        Source source = new Source(file, file.toString());
        Format f = format == null ? recognise(source) : format;
        found.add(new SameRun.Found(file, f, read(source, f)));
      } catch (ServingFormatException e) {
        String first =
            Optional.ofNullable(e.getMessage()).orElse("").lines().findFirst().orElse("");
        notes.add("left out " + file.getFileName() + ": " + first);
      }
    }
    if (found.isEmpty()) {
      throw new ServingFormatException(
          directory
              + (files.isEmpty()
                  ? ": no JSON, CSV, YAML or log file in it"
                  : ": none of its "
                      + files.size()
                      + " JSON, CSV, YAML and log files is a result file of a known tool"));
    }
    return new Directory(SameRun.merge(found, notes), notes);
  }
}
