package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * A chart of the page. The page makes its data table and its CSV from the same numbers, so there is
 * no chart without them.
 */
final class Chart {
  /** How a series is drawn. */
  enum Shape {
    /** Marks alone. */
    POINTS,
    /** Marks joined by a line. */
    LINE,
    /** A line without marks: a roof, or a limit. */
    RULE,
    /** Stairs: the share of values up to x. */
    STEPS,
    /** A part of a pile over each category. */
    STACK
  }

  private final ObjectNode node = JsonNodeFactory.instance.objectNode();
  private final ArrayNode series = node.putArray("series");

  /**
   * Starts a chart.
   *
   * @param id unique in the page; also the name of its CSV file
   */
  Chart(String id, Message title) {
    node.put("id", id);
    node.set("title", title.json());
  }

  /** The horizontal axis. */
  Chart x(String label, Type type, boolean logarithmic) {
    axis("x", label, type, logarithmic);
    return this;
  }

  /** A horizontal axis of words; x of a series is then the number of one. */
  Chart categories(String label, List<String> names) {
    ArrayNode array = axis("x", label, Type.TEXT, false).putArray("categories");
    names.forEach(array::add);
    return this;
  }

  /** The vertical axis. */
  Chart y(String label, Type type, boolean logarithmic) {
    axis("y", label, type, logarithmic);
    return this;
  }

  private ObjectNode axis(String which, String label, Type type, boolean logarithmic) {
    ObjectNode axis = node.putObject(which);
    axis.set("label", Message.of("axis." + label).json());
    axis.put("name", label);
    axis.put("type", type.name());
    axis.put("log", logarithmic);
    return axis;
  }

  /** What a reader has to know to read it right. */
  Chart note(Message note) {
    node.withArray("notes").add(note.json());
    return this;
  }

  /** Adds a series without points. */
  Series series(Message name, Kind kind, Shape shape) {
    return new Series(name, kind, shape);
  }

  boolean isEmpty() {
    for (int i = 0; i < series.size(); i++) {
      if (!series.get(i).get("x").isEmpty()) {
        return false;
      }
    }
    return true;
  }

  ObjectNode json() {
    return node;
  }

  /** Points of one name and kind. */
  final class Series {
    private final ObjectNode node = series.addObject();
    private final ArrayNode x = node.putArray("x");
    private final ArrayNode y = node.putArray("y");
    private final ArrayNode low = node.putArray("low");
    private final ArrayNode high = node.putArray("high");
    private final ArrayNode cases = node.putArray("cases");

    private Series(Message name, Kind kind, Shape shape) {
      node.set("name", name.json());
      node.put("kind", kind.name());
      node.put("shape", shape.name());
    }

    /** Adds a point that has no interval and belongs to no case. */
    Series point(double atX, double atY) {
      return point(Table.NO_CASE, atX, atY, Double.NaN, Double.NaN);
    }

    /**
     * Adds a point.
     *
     * @param caseIndex of {@link Cases}, or {@link Table#NO_CASE}
     * @param from lower end of its interval, NaN for none
     * @param to upper end
     */
    Series point(int caseIndex, double atX, double atY, double from, double to) {
      if (Double.isFinite(atX) && Double.isFinite(atY)) {
        Values.add(x, atX);
        Values.add(y, atY);
        Values.add(low, from);
        Values.add(high, to);
        cases.add(caseIndex);
      }
      return this;
    }
  }
}
