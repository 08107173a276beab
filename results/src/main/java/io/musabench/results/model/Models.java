package io.musabench.results.model;

import io.musabench.results.Nearest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;

/** The models that come with the suite, and the way to any other. */
public final class Models {
  private static final List<String> NAMES =
      List.of("Qwen3-0.6B", "Qwen3-8B", "Qwen3-32B", "Llama-3.1-8B", "Llama-3.1-70B");

  private Models() {}

  /** Names of the models that come with the suite. */
  public static List<String> names() {
    return NAMES;
  }

  /**
   * Finds a model by its name ({@code Qwen3-32B}, upper or lower case, with or without an owner as
   * in {@code Qwen/Qwen3-32B}; Llama's also as {@code Meta-Llama-3.1-8B-Instruct}), or reads the
   * {@code config.json} at a path (the file or its folder).
   *
   * @throws IllegalArgumentException if there is none; the message lists the names and proposes the
   *     nearest
   */
  public static ModelConfig find(String nameOrPath) {
    Path path = Path.of(nameOrPath);
    if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) { // A link that leads nowhere is no name.
      return ModelConfig.read(path);
    }
    String given = nameOrPath.substring(nameOrPath.lastIndexOf('/') + 1);
    // The same shapes under the other names that Hugging Face has for them.
    String name = given.replaceFirst("(?i)^(?:Meta-)?(Llama-.*?)(?:-Instruct)?$", "$1");
    for (String known : NAMES) {
      if (known.equalsIgnoreCase(name)) {
        return ModelConfig.parse(known, resource(known));
      }
    }
    throw new IllegalArgumentException(
        "Unknown model \""
            + nameOrPath
            + "\""
            + Nearest.hint(name, NAMES)
            + "; known are "
            + String.join(", ", NAMES)
            + ", or give the path of a Hugging Face config.json");
  }

  private static String resource(String name) {
    String path = "/io/musabench/results/models/" + name + ".json";
    try (InputStream in = Models.class.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException("The resource " + path + " is missing from this build");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot read the resource " + path, e);
    }
  }
}
