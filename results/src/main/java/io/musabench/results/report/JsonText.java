package io.musabench.results.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collection;
import java.util.Map;

/** JSON as the commands print it: indented, what is not known is null, never NaN. */
public final class JsonText {
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private JsonText() {}

  /** An empty object with the version of its schema. */
  public static ObjectNode root(int schemaVersion) {
    ObjectNode root = JSON.createObjectNode();
    root.put("schema_version", schemaVersion);
    return root;
  }

  /** Sets a number; null if it is NaN, a text if it is infinite, which JSON cannot hold. */
  public static void number(ObjectNode node, String name, double value) {
    if (Double.isNaN(value)) {
      node.putNull(name);
    } else if (Double.isInfinite(value)) {
      node.put(name, value > 0 ? "inf" : "-inf");
    } else if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      node.put(name, (long) value);
    } else {
      node.put(name, value);
    }
  }

  /** Sets an object of numbers. */
  public static void numbers(ObjectNode node, String name, Map<String, Double> values) {
    ObjectNode object = node.putObject(name);
    values.forEach((key, value) -> number(object, key, value));
  }

  /** Sets an array of texts. */
  public static void texts(ObjectNode node, String name, Collection<String> values) {
    ArrayNode array = node.putArray(name);
    values.forEach(array::add);
  }

  /** The whole document, with a line end. */
  public static String print(ObjectNode root) {
    try {
      return JSON.writeValueAsString(root) + System.lineSeparator();
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("A tree of plain values can always be written", e);
    }
  }
}
