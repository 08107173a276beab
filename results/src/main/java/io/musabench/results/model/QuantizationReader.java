package io.musabench.results.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Stream;

/**
 * Reads {@code quantization_config}. What its fields mean:
 *
 * <ul>
 *   <li>{@code quant_method} names the method. {@code fp8} and {@code fbgemm_fp8} are weights and
 *       inputs in fp8, scaled by tensor, block ({@code weight_block_size}) or row (transformers
 *       documentation, "Fine-grained FP8" and "FBGEMM FP8"); {@code fmt} is e4m3 where absent.
 *   <li>{@code compressed-tensors}: every member of {@code config_groups} gives {@code num_bits}
 *       and {@code type} of {@code weights} and {@code input_activations} for the modules in its
 *       {@code targets} (vllm, {@code compressed_tensors.py}). Older files call the whole {@code
 *       compression_config}.
 *   <li>{@code modelopt} with {@code quant_algo} FP8.
 *   <li>Modules that stay as they are: {@code modules_to_not_convert} (transformers), {@code
 *       ignored_layers} (vllm, {@code fp8.py}), {@code ignore} (compressed-tensors, modelopt),
 *       {@code exclude_modules} (modelopt).
 *   <li>{@code kv_cache_scheme} (compressed-tensors) or {@code kv_cache_quant_algo} (modelopt):
 *       scales for the KV cache, which servers use if told so.
 * </ul>
 */
final class QuantizationReader {
  private static final List<String> LEFT =
      List.of("modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules");

  private final JsonNode config;
  private final int layers;

  /** Modules of each role in a layer, as the classes of transformers name them. */
  private final Map<String, List<String>> modules = new LinkedHashMap<>();

  private QuantizationReader(JsonNode config, ModelConfig.Family family, int layers) {
    this.config = config;
    this.layers = layers;
    modules.put("qkv", List.of("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"));
    modules.put("o", List.of("self_attn.o_proj"));
    // All experts of a layer run in one kernel, so the first speaks for them.
    switch (family) {
      case MIXTRAL ->
          modules.put(
              "experts",
              Stream.of("w1", "w2", "w3").map(w -> "block_sparse_moe.experts.0." + w).toList());
      case QWEN3_MOE ->
          modules.put(
              "experts",
              Stream.of("gate_proj", "up_proj", "down_proj")
                  .map(p -> "mlp.experts.0." + p)
                  .toList());
      default -> {
        modules.put("gate_up", List.of("mlp.gate_proj", "mlp.up_proj"));
        modules.put("down", List.of("mlp.down_proj"));
      }
    }
  }

  /**
   * Reads it.
   *
   * @return null if the weights are not quantised
   * @throws IllegalArgumentException if an entry of a list of modules cannot be read
   */
  static Quantization read(JsonNode root, ModelConfig.Family family, int layers) {
    JsonNode config = root.path("quantization_config");
    config = config.isObject() ? config : root.path("compression_config");
    return config.isObject() ? new QuantizationReader(config, family, layers).read() : null;
  }

  private Quantization read() {
    String method = config.path("quant_method").asText("");
    return switch (method) {
      case "fp8" -> {
        String format = config.path("fmt").asText("e4m3");
        yield format.equals("e4m3") ? fp8(method, m -> true) : other(method + " (" + format + ")");
      }
      case "fbgemm_fp8" -> fp8(method, m -> true);
      case "modelopt" -> {
        String algorithm = config.path("quant_algo").asText("");
        yield algorithm.equals("FP8") ? fp8("modelopt, FP8", m -> true) : other(method);
      }
      case "compressed-tensors" -> compressedTensors();
      default -> other(method.isEmpty() ? "an unnamed method" : method);
    };
  }

  private Quantization compressedTensors() {
    JsonNode groups = config.path("config_groups");
    List<Predicate<String>> targets = new ArrayList<>();
    Set<String> kinds = new TreeSet<>();
    for (JsonNode group : groups) {
      JsonNode weights = group.path("weights");
      JsonNode inputs = group.path("input_activations");
      kinds.add(
          kind(weights) + " weights, " + (inputs.isObject() ? kind(inputs) : "16-bit") + " inputs");
      texts(group.path("targets"))
          .forEach(t -> targets.add(t.equals("Linear") ? m -> true : matcher(t)));
    }
    String method = "compressed-tensors, " + String.join("; ", kinds);
    return kinds.equals(Set.of("8-bit float weights, 8-bit float inputs"))
        ? fp8(method, module -> targets.stream().anyMatch(t -> t.test(module)))
        : other(kinds.isEmpty() ? "compressed-tensors" : method);
  }

  private static String kind(JsonNode arguments) {
    return arguments.path("num_bits").asText("?") + "-bit " + arguments.path("type").asText("int");
  }

  /** A method that is not predicted here, with the figures that most files have. */
  private Quantization other(String method) {
    String algorithm = config.path("quant_algo").asText("");
    int bits =
        Stream.of("bits", "w_bit", "weight_bits")
            .mapToInt(f -> config.path(f).asInt(0))
            .filter(b -> b > 0)
            .findFirst()
            .orElse(config.path("load_in_4bit").asBoolean() ? 4 : 0);
    String text =
        method
            + (algorithm.isEmpty() ? "" : ", " + algorithm)
            + (bits == 0 ? "" : ", " + bits + " bits");
    return new Quantization(text, false, false, Set.of(), List.of());
  }

  private Quantization fp8(String method, Predicate<String> converted) {
    List<Predicate<String>> ignored =
        LEFT.stream().flatMap(f -> texts(config.path(f))).map(this::matcher).toList();
    Predicate<String> left =
        module -> !converted.test(module) || ignored.stream().anyMatch(i -> i.test(module));
    Set<String> everywhere = new TreeSet<>();
    List<String> mixed = new ArrayList<>();
    modules.forEach(
        (role, names) -> {
          int whole = 0;
          int partly = 0;
          for (int layer = 0; layer < layers; layer++) {
            String prefix = "model.layers." + layer + ".";
            long n = names.stream().filter(name -> left.test(prefix + name)).count();
            whole += n == names.size() ? 1 : 0;
            partly += n > 0 && n < names.size() ? 1 : 0;
          }
          if (whole == layers) {
            everywhere.add(role);
          } else if (whole + partly > 0) {
            mixed.add(role + " of " + (whole + partly) + " of " + layers + " layers");
          }
        });
    JsonNode scheme = config.path("kv_cache_scheme");
    boolean cache =
        scheme.path("num_bits").asInt() == 8 && scheme.path("type").asText().equals("float")
            || config.path("kv_cache_quant_algo").asText().equals("FP8");
    return new Quantization(method, true, cache, everywhere, mixed);
  }

  private static Stream<String> texts(JsonNode list) {
    List<String> all = new ArrayList<>();
    list.forEach(n -> all.add(n.asText()));
    return all.stream();
  }

  /**
   * Whether an entry means a module: {@code re:} and a regular expression from its beginning, a
   * pattern with asterisks, or its name, a part of it such as {@code o_proj}, or what holds it.
   */
  private Predicate<String> matcher(String entry) {
    try {
      if (entry.startsWith("re:")) {
        Pattern pattern = Pattern.compile(entry.substring(3));
        return module -> pattern.matcher(module).lookingAt();
      }
      if (entry.contains("*")) {
        String quoted = Pattern.quote(entry).replace("*", "\\E.*\\Q");
        return Pattern.compile(quoted).asMatchPredicate();
      }
    } catch (PatternSyntaxException e) {
      throw new IllegalArgumentException(
          "quantization_config: \"" + entry + "\" is not a regular expression", e);
    }
    String whole = "." + entry + ".";
    return module -> ("." + module + ".").contains(whole);
  }
}
