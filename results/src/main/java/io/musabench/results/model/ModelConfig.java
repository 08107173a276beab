package io.musabench.results.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * A dense decoder, as a Hugging Face {@code config.json} describes it.
 *
 * <p>Only what decides shapes and cost is kept. {@code rope_scaling} changes the angles of the
 * rotary embedding but no shape, and is not read.
 *
 * @param name name that reports print
 * @param family architecture
 * @param hiddenSize elements of a token's hidden state
 * @param layers decoder layers
 * @param qHeads query heads, all ranks together
 * @param kvHeads key and value heads, all ranks together
 * @param headDim elements of a head; need not be {@code hiddenSize / qHeads}
 * @param ffnSize inner size of the gated MLP ({@code intermediate_size})
 * @param vocabSize rows of the embedding
 * @param maxPositions longest context
 * @param tiedEmbeddings whether lm_head and embedding are one matrix
 * @param qkvBias whether the qkv projection has a bias
 * @param oBias whether the output projection of attention has a bias
 * @param rmsNormEps epsilon of every RMSNorm
 * @param ropeTheta base of the rotary frequencies
 */
public record ModelConfig(
    String name,
    Family family,
    int hiddenSize,
    int layers,
    int qHeads,
    int kvHeads,
    int headDim,
    int ffnSize,
    int vocabSize,
    int maxPositions,
    boolean tiedEmbeddings,
    boolean qkvBias,
    boolean oBias,
    double rmsNormEps,
    double ropeTheta) {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Architectures whose operations are known. */
  public enum Family {
    /** Query and key norm; {@code attention_bias} covers qkv and output. */
    QWEN3("Qwen3ForCausalLM"),
    /** No query and key norm; {@code attention_bias} covers qkv and output. */
    LLAMA("LlamaForCausalLM"),
    /** No query and key norm; qkv always has a bias, the output never. */
    QWEN2("Qwen2ForCausalLM");

    private final String architecture;

    Family(String architecture) {
      this.architecture = architecture;
    }

    /** Name in {@code architectures}. */
    public String architecture() {
      return architecture;
    }
  }

  /**
   * Reads a {@code config.json}, or the one in a folder. The model takes the name of the folder the
   * file lies in, or of the file if that is not called {@code config.json}.
   *
   * @throws IllegalArgumentException if the file cannot be read or its content is refused; the
   *     message names the file and the field
   */
  public static ModelConfig read(Path path) {
    Path file = Files.isDirectory(path) ? path.resolve("config.json") : path;
    String text;
    try {
      text = Files.readString(file);
    } catch (IOException e) {
      throw new IllegalArgumentException("Cannot read the model file " + file + ": " + e, e);
    }
    String name = file.getFileName().toString();
    Path folder = file.toAbsolutePath().normalize().getParent();
    if (name.equals("config.json") && folder != null && folder.getFileName() != null) {
      name = folder.getFileName().toString();
    }
    try {
      return parse(name.replaceFirst("\\.json$", ""), text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
    }
  }

  /**
   * Reads the text of a {@code config.json}.
   *
   * @param name name of the model in reports and errors
   * @throws IllegalArgumentException naming the field that is missing, wrong or not supported
   */
  public static ModelConfig parse(String name, String json) {
    JsonNode root;
    try {
      root = JSON.readTree(json);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          name + ": the model's config is not JSON: " + e.getOriginalMessage(), e);
    }
    if (root == null || !root.isObject()) {
      throw new IllegalArgumentException(name + ": the model's config is not a JSON object");
    }
    Fields in = new Fields(name, root);
    Family family = in.family();
    in.refuse("mlp_bias", "a bias in the MLP");
    in.refuse("use_sliding_window", "sliding-window attention");
    in.refuse("quantization_config", "quantised weights");
    in.requireSilu();
    int hidden = in.positive("hidden_size");
    int heads = in.positive("num_attention_heads");
    int kvHeads = in.positive("num_key_value_heads");
    if (heads % kvHeads != 0) {
      throw in.error(
          "num_attention_heads ("
              + heads
              + ") is not a multiple of num_key_value_heads ("
              + kvHeads
              + ")");
    }
    int headDim;
    if (root.hasNonNull("head_dim")) {
      headDim = in.positive("head_dim");
    } else if (hidden % heads == 0) {
      headDim = hidden / heads;
    } else {
      throw in.error(
          "head_dim is missing and hidden_size ("
              + hidden
              + ") is not a multiple of num_attention_heads ("
              + heads
              + ")");
    }
    boolean attentionBias = root.path("attention_bias").asBoolean(false);
    return new ModelConfig(
        name,
        family,
        hidden,
        in.positive("num_hidden_layers"),
        heads,
        kvHeads,
        headDim,
        in.positive("intermediate_size"),
        in.positive("vocab_size"),
        in.positive("max_position_embeddings"),
        in.flag("tie_word_embeddings"),
        family == Family.QWEN2 || attentionBias,
        family != Family.QWEN2 && attentionBias,
        in.number("rms_norm_eps", root.get("rms_norm_eps")),
        in.ropeTheta());
  }

  /** Whether queries and keys are normalised head by head. */
  public boolean qkNorm() {
    return family == Family.QWEN3;
  }

  /** Parameters of the whole model; a tied matrix counts once. */
  public long parameters() {
    return new Layout(this, 1).parameters();
  }

  /**
   * The share of one of {@code tp} ranks.
   *
   * @throws IllegalArgumentException if the model cannot be split so
   */
  public Layout layout(int tp) {
    return new Layout(this, tp);
  }

  /** Reads fields and words the errors; every message starts with the model's name. */
  private record Fields(String name, JsonNode root) {
    IllegalArgumentException error(String text) {
      return new IllegalArgumentException(name + ": " + text);
    }

    Family family() {
      JsonNode list = root.path("architectures");
      if (!list.isArray() || list.isEmpty()) {
        throw error("the field architectures is missing");
      }
      String given = list.get(0).asText();
      return Arrays.stream(Family.values())
          .filter(f -> f.architecture().equals(given))
          .findFirst()
          .orElseThrow(
              () ->
                  error(
                      "the architecture "
                          + given
                          + " is not supported; supported are "
                          + Arrays.stream(Family.values())
                              .map(Family::architecture)
                              .collect(Collectors.joining(", "))));
    }

    void refuse(String field, String what) {
      JsonNode node = root.path(field);
      if (node.asBoolean(false) || node.isObject()) {
        throw error(what + " (" + field + ") is not supported");
      }
    }

    void requireSilu() {
      String act = root.path("hidden_act").asText("silu");
      if (!act.equals("silu")) {
        throw error("hidden_act " + act + " is not supported; supported is silu");
      }
    }

    int positive(String field) {
      double value = number(field, root.get(field));
      if (value != Math.rint(value) || value > Integer.MAX_VALUE) {
        throw error(field + " must be a whole number, not " + root.get(field));
      }
      return (int) value;
    }

    double number(String field, JsonNode node) {
      if (node == null || node.isNull()) {
        throw error("the field " + field + " is missing");
      }
      if (!node.isNumber() || !(node.asDouble() > 0)) {
        throw error(field + " must be a number above 0, not " + node);
      }
      return node.asDouble();
    }

    boolean flag(String field) {
      JsonNode node = root.get(field);
      if (node == null || node.isNull()) {
        throw error("the field " + field + " is missing");
      }
      if (!node.isBoolean()) {
        throw error(field + " must be true or false, not " + node);
      }
      return node.asBoolean();
    }

    /** Newer files keep it inside {@code rope_parameters}. */
    double ropeTheta() {
      JsonNode nested = root.path("rope_parameters").get("rope_theta");
      return number("rope_theta", nested == null ? root.get("rope_theta") : nested);
    }
  }
}
