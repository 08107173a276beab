package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.zip.ZipException;

/**
 * JSON Lines, one object a line. Each line is parsed by itself, so that a broken one costs only
 * itself: broken lines are counted on the run, and a last line that was cut off is noted.
 */
final class Lines {
  /** Longer than any record; a longer line is not a JSON Lines file. */
  private static final int MAX_LINE = 64 << 20;

  private static final int READ = 1 << 18;

  private byte[] line = new byte[1 << 16];
  private int length;

  /** What to do with a line; the parser is at START_OBJECT. */
  interface Record {
    void read(JsonParser p) throws IOException;
  }

  /** Reads every line of {@code source}; returns how many were read whole. */
  static long read(Source source, Run run, Record record) throws IOException {
    return new Lines().all(source, run, record);
  }

  private long all(Source source, Run run, Record record) throws IOException {
    long good = 0;
    boolean lastBroken = false;
    byte[] chunk = new byte[READ];
    try (InputStream in = source.open()) {
      boolean more = true;
      while (more) {
        int n = readSome(in, chunk, run);
        more = n >= 0;
        int from = 0;
        for (int i = 0; i < n; i++) {
          if (chunk[i] == '\n') {
            if (length == 0) {
              int outcome = parse(chunk, from, i - from, record);
              good += outcome == 1 ? 1 : 0;
              run.unreadable += outcome == -1 ? 1 : 0;
            } else {
              append(chunk, from, i);
              int outcome = parse(line, 0, length, record);
              good += outcome == 1 ? 1 : 0;
              run.unreadable += outcome == -1 ? 1 : 0;
              length = 0;
            }
            from = i + 1;
          }
        }
        if (n > from) {
          append(chunk, from, n);
        }
      }
      if (length > 0) {
        int outcome = parse(line, 0, length, record);
        good += outcome == 1 ? 1 : 0;
        lastBroken = outcome == -1;
      }
    }
    if (lastBroken) {
      run.notes.add("the last line is cut off and was left out");
    }
    if (good == 0) {
      throw new ServingFormatException("no line holds a readable record");
    }
    return good;
  }

  /** Like {@code read}, but a gzip stream that breaks off is the end of the file, with a note. */
  private static int readSome(InputStream in, byte[] chunk, Run run) throws IOException {
    try {
      return in.read(chunk);
    } catch (EOFException | ZipException e) {
      run.notes.add("the compressed file is cut off or damaged; what came before was read");
      return -1;
    }
  }

  private void append(byte[] chunk, int from, int to) throws IOException {
    int needed = length + to - from;
    if (needed > MAX_LINE) {
      throw new ServingFormatException("a line is longer than " + (MAX_LINE >> 20) + " MiB");
    }
    if (needed > line.length) {
      line = Arrays.copyOf(line, Math.max(needed, Math.min(MAX_LINE, 2 * line.length)));
    }
    System.arraycopy(chunk, from, line, length, to - from);
    length = needed;
  }

  /** 1 for a record, 0 for an empty line, -1 for a line that is not one JSON object. */
  private static int parse(byte[] bytes, int offset, int n, Record record) throws IOException {
    boolean blank = true;
    for (int i = offset; i < offset + n && blank; i++) {
      blank = bytes[i] == ' ' || bytes[i] == '\r' || bytes[i] == '\t';
    }
    if (blank) {
      return 0;
    }
    try (JsonParser p = Json.FACTORY.createParser(bytes, offset, n)) {
      if (p.nextToken() != JsonToken.START_OBJECT) {
        return -1;
      }
      record.read(p);
      return 1;
    } catch (JsonProcessingException | ServingFormatException e) {
      return -1;
    }
  }
}
