package io.musabench.results.run;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVRecord;

/** Reads CSV files that are kept beside runs and grow with them: read whole, written anew. */
public final class KeptRows {
  private KeptRows() {}

  /**
   * Whether there is nothing of that name. A link that leads nowhere, or a folder that may not be
   * looked into, is something that cannot be read: taken for nothing it would change what is
   * judged.
   */
  public static boolean absent(Path file) {
    return Files.notExists(file, LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * Gives every row of a file to {@code each}, which may refuse one with an {@link
   * IllegalArgumentException}.
   *
   * @param file none is a file without rows
   * @param what for messages: {@code FILE is not WHAT}
   * @param format without a header
   * @param version of the file's {@code schema_version}
   * @throws RunException if it cannot be read, lacks a column, is of another version or is refused
   */
  public static void each(
      Path file,
      String what,
      CSVFormat.Builder format,
      String[] columns,
      String version,
      Consumer<CSVRecord> each) {
    if (absent(file)) {
      return;
    }
    try (Reader text = Files.newBufferedReader(file);
        var rows = format.setHeader().setSkipHeaderRecord(true).get().parse(text)) {
      if (!rows.getHeaderNames().containsAll(List.of(columns))) {
        // Without this, a first row without header is lost with the next write.
        throw new RunException(
            file + " is not " + what + ": its first line is not " + String.join(",", columns));
      }
      for (CSVRecord row : rows) {
        if (!row.get("schema_version").equals(version)) {
          throw new RunException(file + " has schema version " + row.get("schema_version"));
        }
        each.accept(row);
      }
    } catch (FileSystemException e) {
      throw RunException.because("Cannot read " + file, e);
    } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
      throw RunException.because(file + " is not " + what, e);
    }
  }
}
