package io.musabench.results.report;

import io.musabench.results.Printable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Tables in Markdown. */
public final class Markdown {
  private final List<String> heads = new ArrayList<>();
  private final List<Boolean> right = new ArrayList<>();
  private final StringBuilder rows = new StringBuilder();

  /**
   * Starts a table.
   *
   * @param headers one a column; aligned to the right if it starts with {@code >}
   */
  public Markdown(String... headers) {
    for (String h : headers) {
      right.add(h.startsWith(">"));
      heads.add(h.startsWith(">") ? h.substring(1) : h);
    }
  }

  /** Adds a row; its cells are texts, not markup. */
  public void row(String... cells) {
    markup(Arrays.stream(cells).map(Markdown::escape).toArray(String[]::new));
  }

  /** Adds a row of markup, of which texts from elsewhere are {@link #escape}d already. */
  public void markup(String... cells) {
    if (cells.length != heads.size()) {
      throw new IllegalArgumentException(
          "The table has " + heads.size() + " columns, not " + cells.length);
    }
    rows.append('|');
    for (String cell : cells) {
      rows.append(' ').append(cell).append(" |");
    }
    rows.append('\n');
  }

  /** Whether it has no row. */
  public boolean isEmpty() {
    return rows.length() == 0;
  }

  @Override
  public String toString() {
    StringBuilder line = new StringBuilder("|");
    for (boolean r : right) {
      line.append(r ? " ---: |" : " --- |");
    }
    return "| " + String.join(" | ", heads) + " |\n" + line + "\n" + rows;
  }

  /** Names come from files of others; none may end a cell or become markup. */
  public static String escape(String text) {
    return Printable.line(text.replaceAll("\\R", " "))
        .replaceAll("([\\\\`*_{}\\[\\]<>|#])", "\\\\$1");
  }

  /** As code in a line; it can hold anything but a backtick, which becomes an apostrophe. */
  public static String code(String text) {
    return "`" + Printable.line(text).replace('`', '\'') + "`";
  }
}
