package io.musabench.results.audit;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVRecord;

/**
 * A table of what services were measured to do, one configuration a row.
 *
 * @param name file it was read from
 * @param rows at least one
 * @param ignored headers of columns that mean nothing here
 * @param statesLoad whether a column tells the model, its ranks or the lengths
 */
public record EndToEndTable(
    String name, List<EndToEndRow> rows, List<String> ignored, boolean statesLoad) {
  /** Larger files are no tables of configurations. */
  private static final long MAX_BYTES = 64L << 20;

  /** Far beyond any time in ms, rate or count, and small enough to multiply a few of them. */
  private static final double MOST = 1e30;

  private static final Set<String> NOTHING = Set.of("", "-", "n/a", "na", "null", "none");

  /** Copies the lists. */
  public EndToEndTable {
    rows = List.copyOf(rows);
    ignored = List.copyOf(ignored);
  }

  /**
   * Reads a result file of a serving benchmark, or a folder of them, if it is one; else a CSV file
   * as {@link #read} does.
   *
   * @throws IllegalArgumentException if it is neither
   */
  public static EndToEndTable open(Path path) {
    return Files.exists(path) && ServingRows.recognises(path) ? ServingRows.read(path) : read(path);
  }

  /**
   * Reads a CSV file; commas, semicolons or tabs part its cells.
   *
   * @throws IllegalArgumentException if it cannot be read or is no such table; the message names
   *     the file, and the row and column where there is one
   */
  public static EndToEndTable read(Path file) {
    String text;
    try {
      if (Files.isDirectory(file)) {
        throw new IllegalArgumentException(file + " is a folder, not a CSV file");
      }
      if (Files.size(file) > MAX_BYTES) {
        throw new IllegalArgumentException(file + " is too large for a table of configurations");
      }
      text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "Cannot read " + file + ": " + (Files.exists(file) ? e : "it does not exist"), e);
    }
    return parse(file.toString(), text);
  }

  /**
   * Reads the text of a CSV file.
   *
   * @throws IllegalArgumentException as {@link #read}
   */
  public static EndToEndTable parse(String name, String text) {
    // Spreadsheets put a byte order mark before the first header.
    String clean = text.startsWith("\uFEFF") ? text.substring(1) : text;
    if (clean.isBlank()) {
      throw new IllegalArgumentException(name + " is empty");
    }
    CSVFormat format =
        CSVFormat.RFC4180
            .builder()
            .setDelimiter(delimiter(clean))
            .setIgnoreSurroundingSpaces(true)
            .get();
    List<CSVRecord> lines;
    try (var parser = format.parse(new StringReader(clean))) {
      lines = parser.getRecords();
    } catch (IOException | UncheckedIOException | IllegalStateException e) {
      throw new IllegalArgumentException(name + " is not CSV: " + firstLine(e), e);
    }
    Header header = new Header(name, lines.get(0));
    List<EndToEndRow> rows = new ArrayList<>();
    for (CSVRecord line : lines.subList(1, lines.size())) {
      boolean blank = line.stream().allMatch(String::isBlank);
      if (!blank) {
        rows.add(header.row(rows.size() + 1, line));
      }
    }
    if (rows.isEmpty()) {
      throw new IllegalArgumentException(name + " has a header but no rows");
    }
    return new EndToEndTable(name, rows, header.ignored, header.statesLoad());
  }

  private static String firstLine(Exception e) {
    Throwable said = e.getCause() == null ? e : e.getCause();
    return String.valueOf(said.getMessage()).lines().findFirst().orElse("");
  }

  private static char delimiter(String text) {
    String header = text.lines().findFirst().orElse("");
    if (header.indexOf(',') >= 0) {
      return ',';
    }
    return header.indexOf(';') >= 0 ? ';' : header.indexOf('\t') >= 0 ? '\t' : ',';
  }

  /** The columns of one file. */
  private static final class Header {
    private final String name;
    private final Map<Integer, Column> columns = new LinkedHashMap<>();
    private final List<String> headers = new ArrayList<>();
    private final List<String> ignored = new ArrayList<>();

    Header(String name, CSVRecord line) {
      this.name = name;
      Set<String> seen = new HashSet<>();
      for (String title : line) {
        int index = headers.size();
        headers.add(title);
        Column column = Column.of(title).orElse(null);
        if (column == null) {
          ignored.add(title);
        } else if (seen.add(column.key())) {
          columns.put(index, column);
        } else {
          throw new IllegalArgumentException(
              name + ": two columns hold " + column.key() + ", the second is \"" + title + "\"");
        }
      }
      boolean latency =
          seen.stream()
              .anyMatch(key -> Column.OF_SERVICES.stream().anyMatch(m -> key.startsWith(m + "_")));
      if (!latency && !seen.contains(Column.THROUGHPUT)) {
        throw new IllegalArgumentException(
            name
                + " is no end-to-end table: it has no column of TTFT, TPOT, ITL or"
                + " throughput, such as ttft_p50_ms, tpot_ms, throughput_req_s; it has "
                + abbreviated(headers));
      }
    }

    private static String abbreviated(List<String> headers) {
      String all = String.join(", ", headers);
      return all.length() <= 80 ? all : all.substring(0, 80) + "…";
    }

    boolean statesLoad() {
      return columns.values().stream().anyMatch(c -> Column.LOAD.contains(c.key()));
    }

    EndToEndRow row(int number, CSVRecord line) {
      if (line.size() != headers.size()) {
        throw new IllegalArgumentException(
            "%s, row %d: %d cells under %d headers"
                .formatted(name, number, line.size(), headers.size()));
      }
      Map<String, String> texts = new TreeMap<>();
      Map<String, Cell> cells = new TreeMap<>();
      columns.forEach(
          (index, column) -> {
            String text = line.get(index).strip();
            if (Column.TEXTS.contains(column.key())) {
              texts.put(column.key(), text);
            } else if (!NOTHING.contains(text.toLowerCase(Locale.ROOT))) {
              cells.put(column.key(), cell(number, headers.get(index), text, column));
            }
          });
      return new EndToEndRow(number, texts, cells);
    }

    private Cell cell(int number, String title, String text, Column column) {
      String where = "%s, row %d, column %s: ".formatted(name, number, title);
      Cell cell;
      try {
        cell = Cell.parse(title, text, column.scale());
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(where + "\"" + text + "\" is not a number", e);
      }
      boolean zeroAllowed =
          column.key().startsWith("goodput")
              || column.key().endsWith("_min")
              || column.key().endsWith("_std");
      if (cell.value() < 0 || cell.value() == 0 && !zeroAllowed) {
        throw new IllegalArgumentException(where + text + " is not above 0");
      }
      if (!(cell.value() <= MOST)) {
        throw new IllegalArgumentException(where + text + " is too large to be true");
      }
      // A concurrency may be a mean over a run, and then a fraction.
      boolean concurrency = column.key().equals(Column.CONCURRENCY);
      boolean whole = Column.LOAD.contains(column.key()) && !concurrency;
      if (concurrency && cell.value() > 1e9) {
        throw new IllegalArgumentException(where + text + " is above 1e9");
      }
      if (whole && (cell.value() != Math.rint(cell.value()) || cell.value() > 1e9)) {
        throw new IllegalArgumentException(where + text + " is not a whole number of at least 1");
      }
      return cell;
    }
  }
}
