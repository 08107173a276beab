package io.musabench.results.tpot;

import io.musabench.results.model.Precision;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/**
 * One measured point of a service in a closed loop.
 *
 * @param line line of the file
 * @param model name of the model
 * @param tp ranks
 * @param workload requests in flight, tokens in and out
 * @param ttftSeconds mean time to the first token; NaN if not given
 * @param tpotSeconds mean time an output token after the first
 * @param precision types that it was served in; null if not given
 */
public record ServingRow(
    long line,
    String model,
    int tp,
    Workload workload,
    double ttftSeconds,
    double tpotSeconds,
    Precision precision) {
  private static final List<String> NEEDED = List.of("tp", "isl", "osl", "concurrency", "tpot_ms");

  /**
   * Reads a CSV file with the columns {@code tp, isl, osl, concurrency, tpot_ms} and, if there,
   * {@code model}, {@code ttft_ms} and {@code precision} (as {@link Precision#ofServer} reads it);
   * others are ignored. Commas, semicolons or tabs part its cells; headers may be in upper case.
   *
   * @param model name where the file has none; null if it must have one
   * @throws IllegalArgumentException in one line: file, line and column, and what is expected
   * @throws IOException if it cannot be read
   */
  public static List<ServingRow> read(Path file, String model) throws IOException {
    String text = Files.readString(file);
    // Spreadsheets put a byte order mark before the first header.
    text = text.startsWith("\uFEFF") ? text.substring(1) : text;
    CSVFormat format =
        CSVFormat.DEFAULT
            .builder()
            .setDelimiter(delimiter(text))
            .setHeader()
            .setIgnoreHeaderCase(true)
            .setSkipHeaderRecord(true)
            .setTrim(true)
            .setIgnoreEmptyLines(true)
            .get();
    try (CSVParser csv = CSVParser.parse(new StringReader(text), format)) {
      for (String column : NEEDED) {
        if (!csv.getHeaderMap().containsKey(column)) {
          throw new IllegalArgumentException(
              file
                  + ": there is no column "
                  + column
                  + "; needed are "
                  + String.join(", ", NEEDED)
                  + found(csv.getHeaderNames()));
        }
      }
      List<ServingRow> rows = new ArrayList<>();
      for (CSVRecord r : csv) {
        rows.add(new Line(file, csv.getCurrentLineNumber(), r).row(model));
      }
      if (rows.isEmpty()) {
        throw new IllegalArgumentException(file + ": there are no rows");
      }
      return rows;
    } catch (IllegalStateException | java.io.UncheckedIOException e) {
      throw new IllegalArgumentException(file + ": not a CSV file: " + e.getMessage(), e);
    }
  }

  private static final int SHOWN = 120;

  private static String found(List<String> headers) {
    String all = String.join(", ", headers);
    return all.isEmpty()
        ? ""
        : "; it has " + (all.length() <= SHOWN ? all : all.substring(0, SHOWN) + "…");
  }

  private static char delimiter(String text) {
    String header = text.lines().findFirst().orElse("");
    return header.indexOf(',') >= 0
        ? ','
        : header.indexOf(';') >= 0 ? ';' : header.indexOf('\t') >= 0 ? '\t' : ',';
  }

  private record Line(Path file, long number, CSVRecord fields) {
    ServingRow row(String model) {
      String name = fields.isSet("model") ? fields.get("model") : "";
      if (name.isEmpty() && model == null) {
        throw new IllegalArgumentException(
            fields.isMapped("model")
                ? "%s, line %d: the row names no model; give --model".formatted(file, number)
                : file + ": there is no column model; give --model");
      }
      return new ServingRow(
          number,
          name.isEmpty() ? model : name,
          whole("tp", 1),
          new Workload(whole("concurrency", 1), whole("isl", 1), whole("osl", 2)),
          fields.isSet("ttft_ms") && !fields.get("ttft_ms").isEmpty()
              ? positive("ttft_ms") / 1e3
              : Double.NaN,
          positive("tpot_ms") / 1e3,
          precision());
    }

    private Precision precision() {
      String text = fields.isSet("precision") ? fields.get("precision") : "";
      try {
        return text.isEmpty() ? null : Precision.ofServer(text);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "%s, line %d, column precision: %s".formatted(file, number, e.getMessage()), e);
      }
    }

    private int whole(String column, int least) {
      double value = number(column);
      if (value != Math.rint(value) || value < least || value > Integer.MAX_VALUE) {
        throw wrong(column, fields.get(column), "a whole number from " + least + " on");
      }
      return (int) value;
    }

    private double positive(String column) {
      double value = number(column);
      if (!(value > 0) || Double.isInfinite(value)) {
        throw wrong(column, fields.get(column), "a number above 0");
      }
      return value;
    }

    private double number(String column) {
      if (!fields.isSet(column)) {
        throw wrong(column, "", "a number");
      }
      try {
        return Double.parseDouble(fields.get(column));
      } catch (NumberFormatException e) {
        throw wrong(column, fields.get(column), "a number");
      }
    }

    private IllegalArgumentException wrong(String column, String given, String expected) {
      return new IllegalArgumentException(
          "%s, line %d, column %s: \"%s\" is not %s"
              .formatted(file, number, column, given, expected));
    }
  }
}
