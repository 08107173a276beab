package io.musabench.results;

import java.io.FilterWriter;
import java.io.IOException;
import java.io.Writer;

/**
 * Text that comes from files of others, made safe for a terminal: an escape sequence in the name of
 * a case could otherwise colour, move or delete what stands there. What would act is shown as JSON
 * would write it, {@code \u001b} for the escape character; so a JSON document that is printed this
 * way still means the same.
 */
public final class Printable {
  private Printable() {}

  /** As a part of one line: line breaks and tabs are shown too. */
  public static String line(String text) {
    if (text.chars().noneMatch(Printable::acts)) {
      return text;
    }
    StringBuilder shown = new StringBuilder();
    text.chars().forEach(c -> show((char) c, acts(c), shown));
    return shown.toString();
  }

  /**
   * A writer for whole documents, in which line breaks and tabs are their own.
   *
   * @param out where it goes; closed with the writer
   */
  public static Writer writer(Writer out) {
    return new FilterWriter(out) {
      @Override
      public void write(int c) throws IOException {
        write(new char[] {(char) c}, 0, 1);
      }

      @Override
      public void write(String text, int from, int length) throws IOException {
        write(text.toCharArray(), from, length);
      }

      @Override
      public void write(char[] text, int from, int length) throws IOException {
        StringBuilder shown = new StringBuilder(length);
        for (int i = from; i < from + length; i++) {
          char c = text[i];
          show(c, c != '\n' && c != '\t' && acts(c), shown);
        }
        out.append(shown);
      }
    };
  }

  private static void show(char c, boolean acts, StringBuilder shown) {
    if (!acts) {
      shown.append(c);
      return;
    }
    switch (c) {
      case '\n' -> shown.append("\\n");
      case '\r' -> shown.append("\\r");
      case '\t' -> shown.append("\\t");
      default -> shown.append("\\u%04x".formatted((int) c));
    }
  }

  /**
   * Control characters, the separators of lines and paragraphs, and those that turn the direction
   * of what follows (Unicode Standard Annex 9, section 2).
   */
  private static boolean acts(int c) {
    return Character.isISOControl(c)
        || c == 0x2028
        || c == 0x2029
        || c == 0x061c
        || c == 0x200e
        || c == 0x200f
        || c >= 0x202a && c <= 0x202e
        || c >= 0x2066 && c <= 0x2069;
  }
}
