package io.musabench.results.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.Nearest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * A decoder, dense or with a mixture of experts in every layer, as a Hugging Face {@code
 * config.json} describes it.
 *
 * <p>What a file may leave out has the default of its class in transformers: {@code
 * tie_word_embeddings}, {@code rms_norm_eps}, {@code rope_theta}, Llama's {@code
 * num_key_value_heads}, and {@code head_dim}, which is 128 for Qwen3 and else a head's share of the
 * hidden size.
 *
 * <p>Only what decides shapes and cost is kept. Of {@code rope_scaling} that is the longest context
 * that it allows, as vLLM derives it (vllm, {@code _get_and_verify_max_len}).
 *
 * @param name name that reports print
 * @param family architecture
 * @param hiddenSize elements of a token's hidden state
 * @param layers decoder layers
 * @param qHeads query heads, all ranks together
 * @param kvHeads key and value heads, all ranks together
 * @param headDim elements of a head; need not be {@code hiddenSize / qHeads}
 * @param ffnSize inner size of the gated MLP ({@code intermediate_size}), or of one expert's
 * @param vocabSize rows of the embedding
 * @param maxPositions longest context, prompt and answer together
 * @param tiedEmbeddings whether lm_head and embedding are one matrix
 * @param qkvBias whether the qkv projection has a bias
 * @param oBias whether the output projection of attention has a bias
 * @param rmsNormEps epsilon of every RMSNorm
 * @param ropeTheta base of the rotary frequencies
 * @param moe experts that take the place of the MLP; null for a dense model
 * @param quantization how the file's weights are quantised; null if they are not
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
    double ropeTheta,
    Moe moe,
    Quantization quantization) {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Default of transformers' {@code Qwen3Config}; its class for experts has none. */
  private static final int QWEN3_HEAD_DIM = 128;

  /**
   * A mixture of experts.
   *
   * @param experts experts of a layer
   * @param expertsPerToken experts that each token is sent to
   */
  public record Moe(int experts, int expertsPerToken) {
    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException if {@code 1 <= expertsPerToken <= experts} does not hold
     */
    public Moe {
      if (expertsPerToken < 1 || expertsPerToken > experts) {
        throw new IllegalArgumentException(
            "A token goes to at least 1 and at most all of "
                + experts
                + " experts, not to "
                + expertsPerToken);
      }
    }
  }

  /** A dense model whose weights are not quantised. */
  public ModelConfig(
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
    this(
        name,
        family,
        hiddenSize,
        layers,
        qHeads,
        kvHeads,
        headDim,
        ffnSize,
        vocabSize,
        maxPositions,
        tiedEmbeddings,
        qkvBias,
        oBias,
        rmsNormEps,
        ropeTheta,
        null,
        null);
  }

  /** Architectures whose operations are known. */
  public enum Family {
    /** Query and key norm; {@code attention_bias} covers qkv and output. */
    QWEN3("Qwen3ForCausalLM"),
    /** No query and key norm; {@code attention_bias} covers qkv and output. */
    LLAMA("LlamaForCausalLM"),
    /** No query and key norm; qkv always has a bias, the output never. */
    QWEN2("Qwen2ForCausalLM"),
    /** Qwen3 with experts in every layer. */
    QWEN3_MOE("Qwen3MoeForCausalLM"),
    /** Llama with experts in every layer. */
    MIXTRAL("MixtralForCausalLM");

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
    in.requireFullAttention();
    in.requireSilu();
    int hidden = in.positive("hidden_size");
    int heads = in.positive("num_attention_heads");
    // Llama's first files, without grouped heads, do not have the field.
    int kvHeads =
        family == Family.LLAMA && !root.hasNonNull("num_key_value_heads")
            ? heads
            : in.positive("num_key_value_heads");
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
    } else if (family == Family.QWEN3) {
      headDim = QWEN3_HEAD_DIM;
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
    // Mixtral's class has no such field.
    boolean attentionBias =
        family != Family.MIXTRAL && root.path("attention_bias").asBoolean(false);
    return new ModelConfig(
        name,
        family,
        hidden,
        in.positive("num_hidden_layers"),
        heads,
        kvHeads,
        headDim,
        in.positive(family == Family.QWEN3_MOE ? "moe_intermediate_size" : "intermediate_size"),
        in.positive("vocab_size"),
        in.maxPositions(),
        // Files leave it out where it has transformers' default, which is the same for all
        // families.
        root.hasNonNull("tie_word_embeddings") && in.flag("tie_word_embeddings"),
        family == Family.QWEN2 || attentionBias,
        family != Family.QWEN2 && attentionBias,
        in.rmsNormEps(family),
        in.ropeTheta(family),
        in.moe(family),
        in.quantization(family));
  }

  /** Whether queries and keys are normalised head by head. */
  public boolean qkNorm() {
    return family == Family.QWEN3 || family == Family.QWEN3_MOE;
  }

  /** Whether a mixture of experts takes the place of the MLP. */
  public boolean isMoe() {
    return moe != null;
  }

  /**
   * Types that the model runs in if nothing else is asked for: bf16, or fp8 products where its
   * weights are fp8.
   *
   * @throws IllegalArgumentException if its weights are quantised in another way, which is not
   *     predicted here
   */
  public Precision precision() {
    if (quantization == null) {
      return Precision.BF16;
    }
    if (!quantization.fp8()) {
      throw new IllegalArgumentException(
          name
              + ": its weights are quantised ("
              + quantization.method()
              + "), and only fp8 weights with fp8 inputs are predicted; --precision bf16 predicts it"
              + " as if they were bf16");
    }
    return Precision.FP8;
  }

  /**
   * Types of one operation where the model runs in {@code precision}: lm_head and the router of a
   * mixture of experts stay unquantised, as vLLM and the published fp8 checkpoints of Qwen and
   * Llama have it, and so does what the file leaves unquantised in every layer.
   */
  public Precision precision(String role, Precision precision) {
    boolean left =
        role.equals("lm_head")
            || role.equals("router")
            || quantization != null && quantization.left().contains(role);
    return left ? precision.unquantised() : precision;
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
                          + " is not supported"
                          + hint(given)
                          + "; supported are "
                          + String.join(", ", architectures())));
    }

    private static final String ENDING = "ForCausalLM";

    /** Without the ending that all share, which makes any two look alike. */
    private static String hint(String given) {
      List<String> names = architectures().stream().map(a -> a.replace(ENDING, "")).toList();
      return Nearest.match(withoutEnding(given), names)
          .map(name -> " (did you mean " + name + ENDING + "?)")
          .orElse("");
    }

    private static String withoutEnding(String architecture) {
      return architecture.replace(ENDING, "");
    }

    private static List<String> architectures() {
      return Arrays.stream(Family.values()).map(Family::architecture).toList();
    }

    private Moe moe(int experts, int perToken) {
      try {
        return new Moe(experts, perToken);
      } catch (IllegalArgumentException e) {
        throw error(e.getMessage());
      }
    }

    /** Releases of transformers write the number of experts under one name or the other. */
    private int experts(String field, String other) {
      return positive(root.hasNonNull(field) || !root.hasNonNull(other) ? field : other);
    }

    /** Null for a dense family. */
    Moe moe(Family family) {
      return switch (family) {
        case QWEN3, LLAMA, QWEN2 -> null;
        case QWEN3_MOE -> {
          if (root.path("decoder_sparse_step").asInt(1) != 1
              || !root.path("mlp_only_layers").isEmpty()) {
            throw error(
                "layers without experts (decoder_sparse_step, mlp_only_layers) among layers with"
                    + " experts are not supported");
          }
          yield moe(experts("num_experts", "num_local_experts"), positive("num_experts_per_tok"));
        }
        case MIXTRAL -> {
          if (root.hasNonNull("sliding_window")) {
            throw error("sliding-window attention (sliding_window) is not supported");
          }
          yield moe(experts("num_local_experts", "num_experts"), positive("num_experts_per_tok"));
        }
      };
    }

    Quantization quantization(Family family) {
      try {
        return QuantizationReader.read(root, family, positive("num_hidden_layers"));
      } catch (IllegalArgumentException e) {
        throw error(e.getMessage());
      }
    }

    void refuse(String field, String what) {
      JsonNode node = root.path(field);
      if (node.asBoolean(false) || node.isObject()) {
        throw error(what + " (" + field + ") is not supported");
      }
    }

    void requireFullAttention() {
      for (JsonNode type : root.path("layer_types")) {
        if (!type.asText().equals("full_attention")) {
          throw error(type.asText() + " (layer_types) is not supported");
        }
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

    /**
     * Scaling by YaRN starts from the length that the model was trained with ({@code
     * original_max_position_embeddings}), linear and dynamic scaling from {@code
     * max_position_embeddings}, which with llama3 and longrope is the longest already.
     */
    int maxPositions() {
      int positions = positive("max_position_embeddings");
      JsonNode rope =
          root.path("rope_scaling").isObject()
              ? root.path("rope_scaling")
              : root.path("rope_parameters");
      String type = rope.path("rope_type").asText(rope.path("type").asText("default"));
      if (missing(rope.get("factor")) || List.of("su", "longrope", "llama3").contains(type)) {
        return positions;
      }
      JsonNode original = rope.get("original_max_position_embeddings");
      double from =
          type.equals("yarn") && !missing(original)
              ? number("original_max_position_embeddings", original)
              : positions;
      double scaled = from * number("factor", rope.get("factor"));
      if (!(scaled >= 1 && scaled <= Integer.MAX_VALUE)) {
        throw error("the rope scaling makes " + scaled + " positions of " + from);
      }
      return (int) scaled;
    }

    /** Newer files keep it inside {@code rope_parameters}. */
    double ropeTheta(Family family) {
      JsonNode nested = root.path("rope_parameters").get("rope_theta");
      JsonNode node = nested == null ? root.get("rope_theta") : nested;
      return missing(node) ? family == Family.MIXTRAL ? 1e6 : 1e4 : number("rope_theta", node);
    }

    double rmsNormEps(Family family) {
      JsonNode node = root.get("rms_norm_eps");
      return missing(node) ? family == Family.MIXTRAL ? 1e-5 : 1e-6 : number("rms_norm_eps", node);
    }

    private static boolean missing(JsonNode node) {
      return node == null || node.isNull();
    }
  }
}
