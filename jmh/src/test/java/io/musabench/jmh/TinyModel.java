package io.musabench.jmh;

/** A model that a test can compute in milliseconds. */
public final class TinyModel {
  private TinyModel() {}

  /** Its config.json. */
  public static String config(int headDim) {
    return """
        {"architectures": ["Qwen3ForCausalLM"], "hidden_size": 128, "num_hidden_layers": 3,
         "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": %d,
         "intermediate_size": 256, "vocab_size": 512, "max_position_embeddings": 4096,
         "tie_word_embeddings": true, "attention_bias": false, "rms_norm_eps": 1e-6,
         "rope_theta": 1000000, "hidden_act": "silu"}
        """
        .formatted(headDim);
  }
}
