package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

/**
 * What a file looks like, from its beginning: the key paths of its first JSON document ({@code
 * benchmarks.[].metrics}), or the first lines of a text. Formats are recognised by it, never by the
 * file's name.
 */
final class Outline {
  private static final int MAX_TOKENS = 200_000;
  private static final int MAX_PATHS = 20_000;
  private static final int MAX_DEPTH = 4;
  private static final long MAX_TEXT = 64L << 20;

  private final Set<String> paths = new HashSet<>();
  private String firstLine = "";
  private boolean console;

  static Outline of(Source source) throws IOException {
    Outline outline = new Outline();
    try (InputStream in = source.open()) {
      outline.readJson(in);
    }
    if (outline.paths.isEmpty()) {
      try (InputStream in = source.open()) {
        outline.readText(in);
      }
    }
    return outline;
  }

  private void readJson(InputStream in) throws IOException {
    int budget = MAX_TOKENS;
    StringBuilder path = new StringBuilder();
    int[] cut = new int[256];
    int depth = 0;
    try (JsonParser p = Json.parser(in)) {
      for (JsonToken t = p.nextToken(); t != null && budget-- > 0; t = p.nextToken()) {
        if (t.isStructStart()) {
          cut[depth++] = path.length();
          if (t == JsonToken.START_ARRAY) {
            path.append(path.isEmpty() ? "[]" : ".[]");
          }
          continue;
        }
        if (t.isStructEnd()) {
          path.setLength(cut[--depth]);
          if (depth == 0) {
            return;
          }
        } else if (t == JsonToken.FIELD_NAME) {
          path.setLength(cut[depth - 1]);
          String name = p.currentName();
          if (name.length() < 200) {
            path.append(path.isEmpty() ? "" : ".").append(name);
          }
          if (depth <= MAX_DEPTH && paths.size() < MAX_PATHS) {
            paths.add(path.toString());
          }
          continue;
        } else if (depth == 0) {
          return;
        }
      }
    } catch (com.fasterxml.jackson.core.JsonProcessingException
        | java.io.CharConversionException e) {
      // Not JSON, or cut off: what was seen is what there is.
    } catch (java.io.EOFException | java.util.zip.ZipException e) {
      // A gzip file that breaks off.
    }
  }

  private void readText(InputStream in) throws IOException {
    BufferedReader reader =
        new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8), 1 << 16);
    StringBuilder line = new StringBuilder();
    long seen = 0;
    boolean first = true;
    try {
      for (int c = reader.read(); c >= 0 && seen < MAX_TEXT; c = reader.read(), seen++) {
        if (c != '\n' && c != '\r') {
          if (line.length() < 4096) {
            line.append((char) c);
          }
          continue;
        }
        first = endLine(line, first);
        if (console) {
          return;
        }
      }
      endLine(line, first);
    } catch (java.io.EOFException | java.util.zip.ZipException e) {
      endLine(line, first);
    }
  }

  private boolean endLine(StringBuilder line, boolean first) {
    String text = line.toString();
    line.setLength(0);
    console |= text.contains(Console.HEADER);
    if (first && !text.isBlank()) {
      firstLine = text;
      return false;
    }
    return first;
  }

  boolean has(String path) {
    return paths.contains(path);
  }

  boolean hasAny(String... candidates) {
    for (String c : candidates) {
      if (paths.contains(c)) {
        return true;
      }
    }
    return false;
  }

  /** A key of the first document's root, or of the elements if the root is an array. */
  boolean hasRoot(String... keys) {
    for (String key : keys) {
      if (paths.contains(key) || paths.contains("[]." + key)) {
        return true;
      }
    }
    return false;
  }

  boolean json() {
    return !paths.isEmpty();
  }

  /** The first line with something in it, if the file is a text. */
  String firstLine() {
    return firstLine;
  }

  boolean console() {
    return console;
  }

  /** For messages: the first keys, or the first line. */
  String describe() {
    if (json()) {
      String keys = String.join(", ", paths.stream().sorted().limit(12).toList());
      return "JSON with keys " + keys + (paths.size() > 12 ? ", …" : "");
    }
    if (firstLine.isEmpty()) {
      return "an empty file or no text";
    }
    return "a text that begins \"" + printable(firstLine) + "\"";
  }

  private static String printable(String text) {
    String t = text.replaceAll("[^\\x20-\\x7e]", "?");
    return t.length() > 80 ? t.substring(0, 80) + "…" : t;
  }
}
