package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** A table of the page. A row may belong to a case, whose command then stands behind it. */
final class Table {
  /** The case of a row that belongs to none. */
  static final int NO_CASE = -1;

  private final ObjectNode node = JsonNodeFactory.instance.objectNode();
  private final ArrayNode columns = node.putArray("columns");
  private final ArrayNode rows = node.putArray("rows");
  private final ArrayNode cases = node.putArray("cases");

  /**
   * Starts a table.
   *
   * @param id unique in the page; also the name of its CSV file
   */
  Table(String id, Message title) {
    node.put("id", id);
    node.set("title", title.json());
  }

  /** Adds a column whose heading is the text {@code column.<name>}. */
  Table column(String name, Type type) {
    return column(name, Message.of("column." + name), type);
  }

  /** Adds a column with a heading of its own. */
  Table column(String name, Message heading, Type type) {
    ObjectNode column = columns.addObject();
    column.put("name", name);
    column.set("heading", heading.json());
    column.put("type", type.name());
    return this;
  }

  /** Adds columns for the ends of the 90 % interval of the column {@code name} before them. */
  Table interval90(String name, Type type) {
    return column(name + "_low_90", Message.of("column.low_90"), type)
        .column(name + "_high_90", Message.of("column.high_90"), type);
  }

  /** Adds a row that belongs to no case. */
  void row(Object... cells) {
    caseRow(NO_CASE, cells);
  }

  /**
   * Adds a row.
   *
   * @param caseIndex of {@link Cases}, or {@link #NO_CASE}
   * @param cells texts, messages and numbers; NaN is an empty cell
   */
  void caseRow(int caseIndex, Object... cells) {
    if (cells.length != columns.size()) {
      throw new IllegalArgumentException(
          "The table has " + columns.size() + " columns, not " + cells.length);
    }
    ArrayNode row = rows.addArray();
    for (Object cell : cells) {
      Values.add(row, cell);
    }
    cases.add(caseIndex);
  }

  boolean isEmpty() {
    return rows.isEmpty();
  }

  ObjectNode json() {
    return node;
  }
}
