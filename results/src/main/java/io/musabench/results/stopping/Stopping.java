package io.musabench.results.stopping;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
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
    List<String> broken = new ArrayList<>();
    String names =
        load(broken).stream()
            .map(StoppingCriterionProvider::name)
            .collect(Collectors.joining(", "));
    throw new IllegalArgumentException(
        "there is no stopping criterion \"%s\"; there are %s".formatted(name, names)
            + broken.stream()
                .map(reason -> "; not loaded: " + reason)
                .collect(Collectors.joining()));
  }

  /** The criteria that are there, with those from further jars, by name. */
  public static List<StoppingCriterionProvider> providers() {
    return load(new ArrayList<>());
  }

  // A jar that cannot be loaded must not take the criteria of others away.
  private static List<StoppingCriterionProvider> load(List<String> broken) {
    List<StoppingCriterionProvider> providers = new ArrayList<>();
    Iterator<StoppingCriterionProvider> found =
        ServiceLoader.load(StoppingCriterionProvider.class).iterator();
    boolean more = true;
    while (more) {
      try {
        more = found.hasNext();
        if (more) {
          providers.add(found.next());
        }
      } catch (ServiceConfigurationError | LinkageError e) {
        String text = e.getMessage().replace(StoppingCriterionProvider.class.getName() + ": ", "");
        if (broken.contains(text)) {
          break; // It does not get past it.
        }
        broken.add(text);
      }
    }
    providers.sort(Comparator.comparing(StoppingCriterionProvider::name));
    return providers;
  }

  @Override
  public String toString() {
    return text;
  }
}
