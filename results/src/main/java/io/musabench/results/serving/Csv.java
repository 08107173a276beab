package io.musabench.results.serving;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.commons.csv.CSVException;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/** The rows of a CSV file of statistics. */
final class Csv {
  /** Far above any such file; an open quote does not swallow more. */
  private static final int MAX_BYTES = 64 << 20;

  private static final int MAX_ROWS = 1_000_000;

  private Csv() {}

  /** What to do with a row; empty lines do not come. */
  interface Row {
    void row(CSVRecord row) throws IOException;
  }

  static void read(Source source, Row handler) throws IOException {
    CSVFormat format = CSVFormat.DEFAULT.builder().setIgnoreEmptyLines(true).setTrim(true).get();
    try (InputStream in = new Limited(source.open());
        CSVParser parser =
            CSVParser.parse(new InputStreamReader(in, StandardCharsets.UTF_8), format)) {
      for (CSVRecord row : parser) {
        if (row.getRecordNumber() > MAX_ROWS) {
          break;
        }
        handler.row(row);
      }
    } catch (CSVException | java.io.UncheckedIOException e) {
      throw new ServingFormatException("damaged CSV: " + e.getMessage(), e);
    }
  }

  private static final class Limited extends java.io.FilterInputStream {
    private long left = MAX_BYTES;

    Limited(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      return left-- > 0 ? super.read() : -1;
    }

    @Override
    public int read(byte[] b, int off, int len) throws IOException {
      int n = left <= 0 ? -1 : super.read(b, off, (int) Math.min(len, left));
      left -= Math.max(0, n);
      return n;
    }
  }
}
