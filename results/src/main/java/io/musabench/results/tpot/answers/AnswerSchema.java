package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.Nearest;
import io.musabench.results.report.JsonText;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;

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
    ObjectNode schema = (ObjectNode) read();
    schema.put("$ref", "#/$defs/" + name);
    return JsonText.print(schema);
  }

  static JsonNode read() {
    try (InputStream in = AnswerSchema.class.getResourceAsStream("answers.schema.json")) {
      return new ObjectMapper().readTree(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
