package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashSet;
import java.util.Set;

/**
 * A part of the page with a heading: notes, then charts and tables in the order they were added.
 */
final class Section {
  private final ObjectNode node = JsonNodeFactory.instance.objectNode();
  private final Set<Message> notes = new HashSet<>();
  private String command;

  /** Starts the section whose heading is the text {@code section.<id>}. */
  Section(String id) {
    node.put("id", id);
    node.set("title", Message.of("section." + id).json());
    node.putArray("notes");
    node.putArray("parts");
  }

  /** The command that makes what is added from now on, where it belongs to no case. */
  Section command(String text) {
    command = text;
    return this;
  }

  /** Adds a note, unless it is there already. */
  Section note(Message note) {
    if (notes.add(note)) {
      node.withArray("notes").add(note.json());
    }
    return this;
  }

  /** Adds a chart, unless it has no point. */
  Section add(Chart chart) {
    if (!chart.isEmpty()) {
      part("chart", chart.json());
    }
    return this;
  }

  /** Adds a table, unless it has no row. */
  Section add(Table table) {
    if (!table.isEmpty()) {
      part("table", table.json());
    }
    return this;
  }

  private void part(String kind, ObjectNode content) {
    if (command != null) {
      content.put("command", command);
    }
    node.withArray("parts").addObject().set(kind, content);
  }

  boolean isEmpty() {
    return node.get("parts").isEmpty() && node.get("notes").isEmpty();
  }

  ObjectNode json() {
    return node;
  }
}
