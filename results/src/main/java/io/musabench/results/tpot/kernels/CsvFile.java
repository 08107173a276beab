package io.musabench.results.tpot.kernels;

import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/** A CSV file with a header line; whatever is wrong with it is said with file, line and column. */
final class CsvFile {
  private static final CSVFormat FORMAT =
      CSVFormat.RFC4180
          .builder()
          .setHeader()
          .setSkipHeaderRecord(true)
          .setTrim(true)
          .setIgnoreEmptyLines(true)
          .get();

  /** Long enough for the header of any table and the first line of a pointer file. */
  private static final int START = 4096;

  private CsvFile() {}

  /**
   * Names of the columns of a file that may be something else.
   *
   * @throws KernelSourceException if it is a parquet file or a Git LFS pointer, which stand where a
   *     table is expected, or cannot be read
   */
  static Set<String> columns(Path file) {
    byte[] start = start(file);
    String text = new String(start, StandardCharsets.UTF_8);
    if (text.startsWith("PAR1")) {
      throw new KernelSourceException(
          file
              + " is a parquet file, which this program does not read; convert it: python3 -c"
              + " \"import sys, pandas; pandas.read_parquet(sys.argv[1]).to_csv(sys.argv[2],"
              + " index=False)\" "
              + file.getFileName()
              + " "
              + file.getFileName().toString().replaceFirst("\\.parquet$", "")
              + ".csv");
    }
    if (text.startsWith("version https://git-lfs")) {
      throw new KernelSourceException(
          file + " is a Git LFS pointer and not the table itself; run git lfs pull");
    }
    String first = text.lines().findFirst().orElse("");
    Set<String> names = new LinkedHashSet<>();
    for (String name : first.split(",", -1)) {
      names.add(name.strip().replaceFirst("^\uFEFF", "").replaceFirst("^\"(.*)\"$", "$1"));
    }
    return names;
  }

  private static byte[] start(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      return in.readNBytes(START);
    } catch (IOException e) {
      throw cannotRead(file, e);
    }
  }

  /**
   * Hands over the rows.
   *
   * @param required columns that must be there
   * @throws KernelSourceException if the file is not CSV or lacks a column
   */
  static void rows(Path file, List<String> required, Consumer<Row> each) {
    try (Reader in = Files.newBufferedReader(file);
        CSVParser parser = FORMAT.parse(withoutMark(in))) {
      for (String column : required) {
        if (!parser.getHeaderMap().containsKey(column)) {
          throw new KernelSourceException(
              file
                  + ", line 1: there is no column "
                  + column
                  + "; expected are "
                  + String.join(",", required));
        }
      }
      int columns = parser.getHeaderNames().size();
      for (CSVRecord line : parser) {
        if (line.size() != columns) {
          throw new KernelSourceException(
              file
                  + ", line "
                  + parser.getCurrentLineNumber()
                  + ": "
                  + line.size()
                  + " cells where the header has "
                  + columns);
        }
        each.accept(new Row(file, parser.getCurrentLineNumber(), line));
      }
    } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
      throw cannotRead(file, e);
    }
  }

  /** Spreadsheets put a byte order mark before the first header. */
  private static Reader withoutMark(Reader in) throws IOException {
    in.mark(1);
    if (in.read() != '\uFEFF') {
      in.reset();
    }
    return in;
  }

  static KernelSourceException cannotRead(Path file, Exception e) {
    String reason = e instanceof NoSuchFileException ? "it does not exist" : e.getMessage();
    return new KernelSourceException("Cannot read " + file + ": " + reason, e);
  }

  /**
   * A line of the file.
   *
   * @param number number of the line on which it ends, from 1
   */
  record Row(Path file, long number, CSVRecord line) {
    boolean has(String column) {
      return line.isMapped(column);
    }

    String text(String column) {
      return line.get(column);
    }

    /** A whole number from 1 on. */
    int count(String column) {
      double value = number(column);
      if (value != Math.rint(value) || value < 1 || value > Integer.MAX_VALUE) {
        throw bad(column, "a whole number from 1 on");
      }
      return (int) value;
    }

    /** A number above 0. */
    double positive(String column) {
      double value = number(column);
      if (!(value > 0) || Double.isInfinite(value)) {
        throw bad(column, "a number above 0");
      }
      return value;
    }

    /** A number, NaN included. */
    double number(String column) {
      try {
        return Double.parseDouble(text(column));
      } catch (NumberFormatException e) {
        throw bad(column, "a number");
      }
    }

    KernelSourceException bad(String column, String expected) {
      return new KernelSourceException(
          file
              + ", line "
              + number
              + ", column "
              + column
              + ": \""
              + text(column)
              + "\" is not "
              + expected);
    }
  }
}
