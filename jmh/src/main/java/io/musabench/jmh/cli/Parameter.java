package io.musabench.jmh.cli;

import java.util.List;
import java.util.function.Function;

/**
 * A benchmark parameter as the command line knows it.
 *
 * @param name name after {@code -p}
 * @param description one line for {@code musabench list}
 * @param choices the only values allowed; empty when {@code parser} decides
 * @param parser throws {@link IllegalArgumentException} with a message when a value is malformed
 */
record Parameter(
    String name, String description, List<String> choices, Function<String, ?> parser) {

  static Parameter choice(String name, String description, List<String> choices) {
    return new Parameter(name, description, choices, value -> value);
  }

  static Parameter parsed(String name, String description, Function<String, ?> parser) {
    return new Parameter(name, description, List.of(), parser);
  }

  static Parameter integer(String name, String description, long least) {
    return parsed(
        name,
        description,
        value -> {
          long number = Long.parseLong(value);
          if (number < least) {
            throw new IllegalArgumentException("must be at least " + least);
          }
          return number;
        });
  }

  /**
   * @throws UsageException when the value is not allowed; the message names the nearest choice
   */
  void check(String value) {
    if (!choices.isEmpty()) {
      if (!choices.contains(value)) {
        throw new UsageException(
            Suggestions.unknown("value of " + name, value, choices)
                + "; it takes "
                + String.join(", ", choices));
      }
      return;
    }
    try {
      parser.apply(value);
    } catch (NumberFormatException e) {
      throw new UsageException("%s=\"%s\" is not a number".formatted(name, value));
    } catch (IllegalArgumentException e) {
      throw new UsageException("%s=\"%s\": %s".formatted(name, value, e.getMessage()));
    }
  }
}
