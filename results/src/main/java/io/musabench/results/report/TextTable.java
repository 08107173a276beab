package io.musabench.results.report;

import io.musabench.results.Printable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A table of text. Columns are as wide as their content; where the whole would be too wide, the
 * widest left-aligned column is cut, and says so by two dots. Whatever a cell holds, it stays in
 * its line.
 */
public final class TextTable {
  /** Columns of a usual terminal that people widen once. */
  static final int MAX_WIDTH = 120;

  private static final String INDENT = "  ";
  private static final String GAP = "  ";
  private static final String CUT = "..";

  private final List<String> headers;
  private final List<Boolean> left;
  private final List<List<String>> rows = new ArrayList<>();
  private int maxWidth = MAX_WIDTH;

  /**
   * Starts a table.
   *
   * @param headers one a column; a column is aligned to the right if its header starts with {@code
   *     >}, which is not printed
   */
  public TextTable(String... headers) {
    this.left = Arrays.stream(headers).map(h -> !h.startsWith(">")).toList();
    this.headers =
        Arrays.stream(headers)
            .map(h -> h.startsWith(">") ? h.substring(1) : h)
            .map(Printable::line)
            .toList();
  }

  /** Cuts nothing: for tables whose names somebody has to copy. */
  public TextTable uncut() {
    maxWidth = Integer.MAX_VALUE;
    return this;
  }

  /** Adds a row. */
  public void row(String... cells) {
    if (cells.length != headers.size()) {
      throw new IllegalArgumentException(
          "The table has " + headers.size() + " columns, not " + cells.length);
    }
    rows.add(Arrays.stream(cells).map(Printable::line).toList());
  }

  /** Whether it has no row. */
  public boolean isEmpty() {
    return rows.isEmpty();
  }

  @Override
  public String toString() {
    int[] widths = new int[headers.size()];
    for (int i = 0; i < widths.length; i++) {
      widths[i] = headers.get(i).length();
      for (List<String> row : rows) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    fit(widths);
    StringBuilder text = new StringBuilder();
    line(text, headers, widths);
    line(text, Arrays.stream(widths).mapToObj("-"::repeat).toList(), widths);
    rows.forEach(row -> line(text, row, widths));
    return text.toString();
  }

  private void fit(int[] widths) {
    int total = INDENT.length() + Arrays.stream(widths).sum() + GAP.length() * (widths.length - 1);
    while (total > maxWidth) {
      int widest = -1;
      for (int i = 0; i < widths.length; i++) {
        if (left.get(i) && (widest < 0 || widths[i] > widths[widest])) {
          widest = i;
        }
      }
      if (widest < 0 || widths[widest] <= headers.get(widest).length()) {
        return;
      }
      widths[widest]--;
      total--;
    }
  }

  private void line(StringBuilder text, List<String> cells, int[] widths) {
    StringBuilder line = new StringBuilder(INDENT);
    for (int i = 0; i < widths.length; i++) {
      String cell = cells.get(i);
      if (cell.length() > widths[i]) {
        cell = cell.substring(0, Math.max(0, widths[i] - CUT.length())) + CUT;
      }
      String blanks = " ".repeat(widths[i] - cell.length());
      line.append(i == 0 ? "" : GAP).append(left.get(i) ? cell + blanks : blanks + cell);
    }
    text.append(line.toString().stripTrailing()).append('\n');
  }
}
