package io.musabench.results.stopping;

import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/**
 * A criterion by its name and argument, as {@code --stop} takes it: {@code stdrel:0.5%}.
 *
 * @param text as it was written
 */
public record Stopping(String text) {
  /**
   * @throws IllegalArgumentException if there is no such criterion or its argument is wrong; the
   *     message names those there are
   */
  public Stopping {
    create(text);
  }

  /** A criterion for one session. */
  public StoppingCriterion create() {
    return create(text);
  }

  private static StoppingCriterion create(String text) {
    int colon = text.indexOf(':');
    String name = colon < 0 ? text : text.substring(0, colon);
    String argument = colon < 0 ? "" : text.substring(colon + 1);
    for (StoppingCriterionProvider provider : providers()) {
      if (provider.name().equals(name)) {
        try {
          return provider.create(argument);
        } catch (IllegalArgumentException e) {
          throw new IllegalArgumentException(text + ": " + e.getMessage(), e);
        }
      }
    }
    throw new IllegalArgumentException(
        "there is no stopping criterion \"%s\"; there are %s".formatted(name, names()));
  }

  /** The criteria that are there, with those from further jars, by name. */
  public static List<StoppingCriterionProvider> providers() {
    return ServiceLoader.load(StoppingCriterionProvider.class).stream()
        .map(ServiceLoader.Provider::get)
        .sorted(Comparator.comparing(StoppingCriterionProvider::name))
        .toList();
  }

  private static String names() {
    return providers().stream()
        .map(StoppingCriterionProvider::name)
        .collect(Collectors.joining(", "));
  }

  @Override
  public String toString() {
    return text;
  }
}
