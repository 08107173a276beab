package io.musabench.results.tpot.kernels;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.musabench.results.model.ElementType;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.kernels.TableSource.MemoryRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;

/**
 * aiconfigurator's file about one system ({@code h100_sxm.yaml}): figures of the maker's data
 * sheet, and corrections that its authors call unofficial.
 *
 * @param file the file
 * @param roofs the data-sheet figures
 * @param memoryRule bandwidth and constant for kernels that only move rows; null where the file has
 *     none
 */
record SystemFile(Path file, DeviceRoofs roofs, MemoryRule memoryRule) {
  private static final String GPU = "gpu";
  private static final String NODE = "node";

  /** Whether a YAML file is one of these. */
  static boolean is(Path file) {
    return load(file).path(GPU).has("mem_bw");
  }

  /**
   * Reads it.
   *
   * @throws KernelSourceException if it is not YAML or a figure is missing or wrong
   */
  static SystemFile read(Path file) {
    JsonNode root = load(file);
    double bandwidth = figure(file, root, GPU, "mem_bw", true);
    Map<ElementType, Double> flops = new EnumMap<>(ElementType.class);
    put(flops, ElementType.BF16, figure(file, root, GPU, "bfloat16_tc_flops", false));
    // Older files know one rate for both 16-bit types, under this name.
    double half = figure(file, root, GPU, "float16_tc_flops", false);
    put(
        flops,
        ElementType.FP16,
        Double.isNaN(half) ? flops.getOrDefault(ElementType.BF16, half) * 1e12 : half);
    if (!flops.containsKey(ElementType.BF16)) {
      put(flops, ElementType.BF16, half);
    }
    put(flops, ElementType.FP8, figure(file, root, GPU, "fp8_tc_flops", false));
    DeviceRoofs roofs =
        new DeviceRoofs(
            bandwidth / 1e9,
            flops,
            figure(file, root, NODE, "intra_node_bw", false) / 1e9,
            figure(file, root, GPU, "mem_capacity", false),
            Provenance.DATA_SHEET);
    double factor = figure(file, root, GPU, "mem_bw_empirical_scaling_factor", false);
    double constant = figure(file, root, GPU, "mem_empirical_constant_latency", false);
    MemoryRule rule =
        Double.isNaN(factor) || Double.isNaN(constant)
            ? null
            : new MemoryRule(
                factor * bandwidth,
                constant,
                "%s: bytes / (%s of the bandwidth) + %s us"
                    .formatted(file.getFileName(), trim(factor), trim(constant * 1e6)));
    return new SystemFile(file, roofs, rule);
  }

  private static String trim(double value) {
    // The figures have few digits, their products in binary do not.
    return Float.toString((float) value).replaceFirst("\\.0$", "");
  }

  private static void put(Map<ElementType, Double> flops, ElementType type, double perSecond) {
    if (!Double.isNaN(perSecond)) {
      flops.put(type, perSecond / 1e12);
    }
  }

  private static double figure(
      Path file, JsonNode root, String section, String name, boolean required) {
    JsonNode value = root.path(section).path(name);
    if (value.isMissingNode() || value.isNull()) {
      if (required) {
        throw new KernelSourceException(
            file + ": the figure " + section + "." + name + " is missing");
      }
      return Double.NaN;
    }
    // To YAML, 3.35e12 without a sign in its exponent is a text.
    double number = value.asDouble(Double.NaN);
    if (number > 0 && !Double.isInfinite(number)) {
      return number;
    }
    throw new KernelSourceException(
        file + ": " + section + "." + name + " is a number above 0, not " + value.asText());
  }

  private static JsonNode load(Path file) {
    try {
      return new YAMLMapper().readTree(Files.readString(file));
    } catch (JsonProcessingException e) {
      String text = String.valueOf(e.getOriginalMessage()).lines().findFirst().orElse("");
      throw new KernelSourceException(file + " is not YAML: " + text, e);
    } catch (IOException e) {
      throw CsvFile.cannotRead(file, e);
    }
  }
}
