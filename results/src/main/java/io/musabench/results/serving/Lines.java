package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.CharConversionException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * Files of one record a line, such as JSON Lines. Each line is read by itself, so that a broken one
 * costs only itself: broken lines are counted on the run, and a last line that was cut off is
 * noted. A line of JSON may hold several records, one after the other or in an array.
 */
final class Lines {
  /** Longer than any record; a longer line is not a file of one record a line. */
  private static final int MAX_LINE = 64 << 20;

  private static final int READ = 1 << 18;

  /** What to do with a line of JSON; the parser is at START_OBJECT. */
  interface Record {
    void read(JsonParser p) throws IOException;
  }

  /** What to do with the bytes of a line that is not JSON; false if it is no record. */
  interface Text {
    boolean read(byte[] bytes, int offset, int length) throws IOException;
  }

  private final Text text;
  private final Record record;
  private byte[] line = new byte[1 << 16];
  private int length;
  private long good;
  private long bad;
  private boolean lastBad;

  private Lines(Text text, Record record) {
    this.text = text;
    this.record = record;
  }

  /**
   * Reads every line of JSON of {@code source}.
   *
   * @throws ServingFormatException if no line is a record
   */
  static void read(Source source, Run run, Record record) throws IOException {
    read(source, run, new Lines(null, record));
  }

  /** The same for lines that are not JSON. */
  static void readText(Source source, Run run, Text text) throws IOException {
    read(source, run, new Lines(text, null));
  }

  private static void read(Source source, Run run, Lines lines) throws IOException {
    lines.all(source);
    boolean cut = lines.lastBad && lines.length > 0;
    if (cut) {
      run.notes.add("the last line is cut off and was left out");
    }
    run.unreadable += lines.bad - (cut ? 1 : 0);
    if (lines.good == 0) {
      throw new ServingFormatException("no line holds a readable record");
    }
  }

  private void all(Source source) throws IOException {
    byte[] chunk = new byte[READ];
    try (InputStream in = source.open()) {
      for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
        int from = 0;
        for (int i = 0; i < n; i++) {
          if (chunk[i] != '\n') {
            continue;
          }
          if (length == 0) {
            one(chunk, from, i - from);
          } else {
            append(chunk, from, i);
            one(line, 0, length);
            length = 0;
          }
          from = i + 1;
        }
        append(chunk, from, n);
      }
    }
    if (length > 0) {
      one(line, 0, length);
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

  private void one(byte[] bytes, int offset, int n) throws IOException {
    boolean blank = true;
    for (int i = offset; i < offset + n && blank; i++) {
      blank = bytes[i] == ' ' || bytes[i] == '\r' || bytes[i] == '\t';
    }
    if (blank) {
      return;
    }
    if (record != null) {
      json(bytes, offset, n);
      return;
    }
    lastBad = !text.read(bytes, offset, n);
    good += lastBad ? 0 : 1;
    bad += lastBad ? 1 : 0;
  }

  private void json(byte[] bytes, int offset, int n) throws IOException {
    long before = good + bad;
    lastBad = false;
    try (JsonParser p = Json.FACTORY.createParser(bytes, offset, n)) {
      for (JsonToken t = p.nextToken(); t != null && !lastBad; t = p.nextToken()) {
        if (t == JsonToken.START_OBJECT) {
          object(p);
        } else if (t != JsonToken.START_ARRAY && t != JsonToken.END_ARRAY) {
          unreadable();
        }
      }
    } catch (JsonProcessingException | CharConversionException e) {
      unreadable();
    }
    if (good + bad == before) {
      unreadable();
    }
  }

  private void object(JsonParser p) throws IOException {
    try {
      record.read(p);
      good++;
    } catch (ServingFormatException e) {
      unreadable();
      // A record that is whole but of another kind hides none of those behind it.
      lastBad = p.currentToken() != JsonToken.END_OBJECT;
    }
  }

  private void unreadable() {
    bad++;
    lastBad = true;
  }
}
