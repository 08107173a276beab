package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.musabench.results.Nearest;
import io.musabench.results.report.JsonText;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/** The JSON Schema of what the answers, and the audit, print as JSON. */
public final class AnswerSchema {
  /** Names of the answers; {@code predict} is that of {@code tpot} and {@code tpot step}. */
  public static final List<String> NAMES =
      List.of(
          "predict",
          "validate",
          "check",
          "sensitivity",
          "attribute",
          "graph-gain",
          "what-if",
          "identify",
          "audit");

  private static final JsonNode SCHEMA = read();

  /** Versions of the schema that this class knows. */
  static final Set<String> VERSIONS =
      NAMES.stream()
          .map(name -> SCHEMA.at("/$defs/" + name + "/properties/schema_version/const").asText())
          .collect(Collectors.toCollection(TreeSet::new));

  private AnswerSchema() {}

  /**
   * The schema of one answer, complete in itself.
   *
   * @throws IllegalArgumentException if there is no such answer
   */
  public static String of(String name) {
    if (!NAMES.contains(name)) {
      throw new IllegalArgumentException(
          "There is no answer \""
              + name
              + "\""
              + Nearest.hint(name, NAMES)
              + "; there are "
              + String.join(", ", NAMES));
    }
    ObjectNode schema = SCHEMA.deepCopy();
    schema.put("$ref", "#/$defs/" + name);
    return JsonText.print(schema);
  }

  private static JsonNode read() {
    try (InputStream in = AnswerSchema.class.getResourceAsStream("answers.schema.json")) {
      return new ObjectMapper().readTree(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The answer whose fields a document has, all of them; empty if there is none. */
  static Optional<String> recognise(JsonNode document) {
    return NAMES.stream()
        .filter(
            name -> {
              JsonNode required = SCHEMA.at("/$defs/" + name + "/required");
              return StreamSupport.stream(required.spliterator(), false)
                  .allMatch(field -> document.has(field.asText()));
            })
        .findFirst();
  }

  /**
   * What keeps a document from being an answer: the first field that is missing or not of its type.
   * Fields that the schema does not know are fine: later versions add some.
   *
   * @return empty if nothing does
   */
  static Optional<String> problem(String name, JsonNode document) {
    return problem(SCHEMA.at("/$defs/" + name), document, "");
  }

  private static Optional<String> problem(JsonNode schema, JsonNode value, String where) {
    if (schema.has("$ref")) {
      return problem(SCHEMA.at(schema.path("$ref").asText().substring(1)), value, where);
    }
    String name = where.isEmpty() ? "the document" : where;
    if (schema.has("const") && !value.equals(schema.path("const"))) {
      return Optional.of(name + " is " + value + ", not " + schema.path("const"));
    }
    if (schema.has("enum") && !contains(schema.path("enum"), value)) {
      return Optional.of(name + " is " + value + ", not one of " + schema.path("enum"));
    }
    if (schema.has("type") && !fits(schema.path("type"), value)) {
      String shown = value.isContainerNode() ? type(value) : value.toString();
      return Optional.of(name + " is " + shown + ", not of type " + schema.path("type"));
    }
    for (JsonNode field : schema.path("required")) {
      if (value.isObject() && !value.has(field.asText())) {
        return Optional.of(inside(where, field.asText()) + " is missing");
      }
    }
    if (value.isArray() && schema.has("items")) {
      for (int i = 0; i < value.size(); i++) {
        Optional<String> found = problem(schema.path("items"), value.get(i), where + "[" + i + "]");
        if (found.isPresent()) {
          return found;
        }
      }
    }
    for (Map.Entry<String, JsonNode> field : value.properties()) {
      JsonNode known = schema.path("properties").path(field.getKey());
      Optional<String> found =
          known.isObject()
              ? problem(known, field.getValue(), inside(where, field.getKey()))
              : Optional.empty();
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  private static String inside(String where, String field) {
    return where.isEmpty() ? field : where + "." + field;
  }

  private static boolean contains(JsonNode array, JsonNode value) {
    return StreamSupport.stream(array.spliterator(), false).anyMatch(value::equals);
  }

  /** Of one type or a list of them; an infinite number is a text, as {@link JsonText} writes it. */
  private static boolean fits(JsonNode wanted, JsonNode value) {
    JsonNode types = wanted.isArray() ? wanted : JsonNodeFactory.instance.arrayNode().add(wanted);
    return contains(types, TextNode.valueOf(type(value)))
        || contains(types, TextNode.valueOf("number"))
            && (value.isIntegralNumber() || value.asText().matches("-?inf"));
  }

  private static String type(JsonNode value) {
    return switch (value.getNodeType()) {
      case NUMBER -> value.isIntegralNumber() ? "integer" : "number";
      default -> value.getNodeType().name().toLowerCase(Locale.ROOT);
    };
  }
}
