package io.musabench.results.model;

import io.musabench.results.model.ModelConfig.Family;

/** Small models for tests. */
final class ModelConfigs {
  private ModelConfigs() {}

  static ModelConfig small(Family family, boolean attentionBias) {
    return new ModelConfig(
        "Small",
        family,
        256,
        3,
        4,
        2,
        128,
        512,
        1000,
        4096,
        true,
        family == Family.QWEN2 || attentionBias,
        family != Family.QWEN2 && attentionBias,
        1e-6,
        1e4);
  }

  static ModelConfig of(int qHeads, int kvHeads, int ffn, int vocab) {
    return new ModelConfig(
        "Odd",
        Family.LLAMA,
        256,
        3,
        qHeads,
        kvHeads,
        64,
        ffn,
        vocab,
        4096,
        false,
        false,
        false,
        1e-6,
        1e4);
  }
}
