package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.musabench.results.serving.Formula;
import io.musabench.results.tpot.Bound;
import io.musabench.results.tpot.Provenance;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * A text of the page: either one that exists in every language, known by its key, or one that comes
 * from the data and is shown as it is.
 *
 * @param key its key in {@code texts.json} or among the {@link Sentences}; null for a text from the
 *     data
 * @param text the text from the data; null if there is a key
 * @param arguments what replaces {@code {name}} in it
 */
record Message(String key, String text, Map<String, Message> arguments) {
  /**
   * A text that is translated.
   *
   * @param nameValue names and values of its arguments by turns; a value is a message or a text
   *     from the data
   */
  static Message of(String key, Object... nameValue) {
    Map<String, Message> arguments = new LinkedHashMap<>();
    for (int i = 0; i < nameValue.length; i += 2) {
      Object value = nameValue[i + 1];
      arguments.put(
          (String) nameValue[i], value instanceof Message m ? m : literal((String) value));
    }
    return new Message(key, null, arguments);
  }

  /** What binds, in words. */
  static Message of(Bound bound) {
    return of("bound." + word(bound));
  }

  /** How a time was got, in words. */
  static Message of(Provenance provenance) {
    return of("provenance." + word(provenance));
  }

  /** What binds, as an answer of {@code tpot} has it. */
  static Message bound(JsonNode text) {
    return Arrays.stream(Bound.values())
        .filter(b -> b.text().equals(text.asText()))
        .findFirst()
        .map(Message::of)
        .orElseGet(() -> literal(text.asText("")));
  }

  /** How a time was got, as an answer of {@code tpot} has it. */
  static Message provenance(JsonNode text) {
    return Arrays.stream(Provenance.values())
        .filter(p -> p.text().equals(text.asText()))
        .findFirst()
        .map(Message::of)
        .orElseGet(() -> literal(text.asText("")));
  }

  /** What a formula computes. */
  static Message of(Formula formula) {
    return of("formula." + word(formula));
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** A text from the data: a name, or what others wrote. */
  static Message literal(String text) {
    return new Message(null, text == null ? "" : text, Map.of());
  }

  /**
   * A text from the data that this suite may have written: translated as far as it did. Null for
   * null.
   */
  static Message said(String text) {
    return text == null ? null : Sentences.of(text);
  }

  /** A string for a text from the data, else an object of the key and its arguments. */
  JsonNode json() {
    if (key == null) {
      return TextNode.valueOf(text);
    }
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    node.put("key", key);
    if (!arguments.isEmpty()) {
      ObjectNode values = node.putObject("args");
      arguments.forEach((name, value) -> values.set(name, value.json()));
    }
    return node;
  }
}
