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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a file looks like, from its beginning: the key paths of its first JSON document ({@code
 * benchmarks.[].metrics}), or the first lines of a text. Formats are recognised by it, never by the
 * file's name.
 */
final class Outline {
  private static final int MAX_TOKENS = 5_000_000;
  private static final int MAX_PATHS = 20_000;
  private static final int MAX_DEPTH = 4;
  private static final long MAX_TEXT = 64L << 20;

  /** {@code benchmarks:} at the margin, {@code - args:} or {@code metrics:} one level below. */
  private static final Pattern SECTION = Pattern.compile("(?:- |  )?([A-Za-z_]{2,40}):(?: .*)?");

  private final Set<String> paths = new HashSet<>();
  private final Set<String> sections = new HashSet<>();
  private String firstLine = "";
  private boolean console;
  private String damage;

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
      if (depth > 0 && budget > 0) {
        damage = "it breaks off in the middle";
      }
    } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
      // Not JSON, cut off or damaged: what was seen is what there is.
      damage = Json.damage(e);
    } catch (java.io.CharConversionException e) {
      damage = "it is not UTF-8";
    } catch (java.io.EOFException | java.util.zip.ZipException e) {
      damage = "its gzip data break off or are damaged";
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
    Matcher section = SECTION.matcher(text);
    if (sections.size() < 1000 && section.matches()) {
      sections.add(section.group(1));
    }
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

  /** A key at the margin or right below a list item of a YAML text. */
  boolean section(String key) {
    return !json() && sections.contains(key);
  }

  /** What is wrong with the JSON of the first document, or null. */
  String damage() {
    return json() ? damage : null;
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
