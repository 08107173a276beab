package io.musabench.results.devices;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.Nearest;
import io.musabench.results.devices.Figure.Confidence;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * What is published about a device.
 *
 * @param name name that reports print
 * @param aliases other names under which {@link #find} knows it
 * @param figures by the names of the constants here; a figure that nobody published is not in it
 */
public record DataSheet(String name, List<String> aliases, Map<String, Figure> figures) {
  /** Memory in bytes. */
  public static final String MEMORY_BYTES = "memory_bytes";

  /** Memory bandwidth in 10<sup>9</sup> bytes a second. */
  public static final String MEMORY_GB_PER_S = "memory_gb_per_s";

  /** Arithmetic rate in bf16, dense, in 10<sup>12</sup> FLOPs a second. */
  public static final String BF16_TFLOPS = "bf16_tflops";

  /** Arithmetic rate in fp16, dense, in 10<sup>12</sup> FLOPs a second. */
  public static final String FP16_TFLOPS = "fp16_tflops";

  /** Arithmetic rate in fp8, dense, in 10<sup>12</sup> FLOPs a second. */
  public static final String FP8_TFLOPS = "fp8_tflops";

  /** Arithmetic rate in fp32, in 10<sup>12</sup> FLOPs a second. */
  public static final String FP32_TFLOPS = "fp32_tflops";

  /** Bandwidth between two devices in one direction, in 10<sup>9</sup> bytes a second. */
  public static final String LINK_GB_PER_S = "link_gb_per_s";

  /** Last-level cache in bytes. */
  public static final String L2_BYTES = "l2_bytes";

  private static final int SCHEMA_VERSION = 1;
  private static final List<String> SHIPPED = List.of("MTT-S5000", "MTT-S4000", "H100-SXM");
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Copies the collections. */
  public DataSheet {
    aliases = List.copyOf(aliases);
    figures = Collections.unmodifiableMap(new LinkedHashMap<>(figures));
  }

  /** The data sheets that come with the suite. */
  public static List<DataSheet> shipped() {
    return SHIPPED.stream().map(file -> parse(file, resource(file))).toList();
  }

  /**
   * Finds a device by its name or one of its aliases, whatever their case, or reads the file at a
   * path.
   *
   * @throws IllegalArgumentException if there is none; the message names those there are
   */
  public static DataSheet find(String nameOrPath) {
    Optional<DataSheet> known = named(nameOrPath);
    if (known.isPresent()) {
      return known.get();
    }
    if (nameOrPath.endsWith(".json") && Files.isRegularFile(Path.of(nameOrPath))) {
      try {
        return parse(nameOrPath, Files.readString(Path.of(nameOrPath)));
      } catch (IOException e) {
        throw new IllegalArgumentException("Cannot read the data sheet " + nameOrPath, e);
      }
    }
    List<String> names = shipped().stream().map(DataSheet::name).toList();
    throw new IllegalArgumentException(
        "Unknown device \""
            + nameOrPath
            + "\""
            + Nearest.hint(nameOrPath, names)
            + "; there are data sheets of "
            + String.join(", ", names)
            + ", or give the path of one");
  }

  /** The shipped data sheet of that name or alias, whatever its case. */
  public static Optional<DataSheet> named(String name) {
    return shipped().stream().filter(sheet -> sheet.isOf(name)).findFirst();
  }

  /** Whether a device of this name or alias, whatever its case, is the one. */
  public boolean isOf(String device) {
    String plain = plain(device);
    return plain(name).equals(plain)
        || aliases.stream().anyMatch(alias -> plain(alias).equals(plain));
  }

  private static String plain(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
  }

  /** A figure's value, NaN if it is not published. */
  public double value(String figure) {
    Figure found = figures.get(figure);
    return found == null ? Double.NaN : found.value();
  }

  /**
   * Reads the text of a data sheet.
   *
   * @param file name in error messages
   * @throws IllegalArgumentException that says what is wrong with it
   */
  public static DataSheet parse(String file, String text) {
    JsonNode root;
    try {
      root = JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(file + " is not JSON: " + e.getOriginalMessage(), e);
    }
    if (root == null || root.path("schema_version").asInt() != SCHEMA_VERSION) {
      throw new IllegalArgumentException(
          file + " is not a data sheet of schema_version " + SCHEMA_VERSION);
    }
    if (root.path("name").asText("").isEmpty() || !root.path("figures").isObject()) {
      throw new IllegalArgumentException(file + ": a data sheet needs name and figures");
    }
    List<String> aliases = new ArrayList<>();
    root.path("aliases").forEach(alias -> aliases.add(alias.asText()));
    Map<String, Figure> figures = new LinkedHashMap<>();
    root.path("figures")
        .properties()
        .forEach(e -> figures.put(e.getKey(), figure(file, e.getKey(), e.getValue())));
    return new DataSheet(root.path("name").asText(), aliases, figures);
  }

  private static Figure figure(String file, String name, JsonNode node) {
    String word = node.path("confidence").asText();
    Confidence confidence =
        Arrays.stream(Confidence.values())
            .filter(c -> c.name().equalsIgnoreCase(word))
            .findFirst()
            .orElse(null);
    double value = node.path("value").asDouble(Double.NaN);
    String source = node.path("source").asText("");
    if (confidence == null || source.isEmpty() || !(value > 0)) {
      throw new IllegalArgumentException(
          file
              + ": "
              + name
              + " needs a value above 0, a source and a confidence (vendor, press or assumed)");
    }
    return new Figure(value, source, confidence);
  }

  private static String resource(String file) {
    try (InputStream in = DataSheet.class.getResourceAsStream(file + ".json")) {
      if (in == null) {
        throw new IllegalStateException("The data sheet " + file + " is missing from this build");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot read the data sheet " + file, e);
    }
  }
}
