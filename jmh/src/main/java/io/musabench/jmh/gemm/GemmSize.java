package io.musabench.jmh.gemm;

import io.musabench.results.model.Layout;

/**
 * Size of a projection.
 *
 * @param m rows of activations
 * @param n output features
 * @param k input features
 */
record GemmSize(int m, int n, int k) {
  /** One of a model's projections on one rank. */
  static GemmSize of(Layout layout, String projection, int tokens) {
    int hidden = layout.model().hiddenSize();
    return switch (projection) {
      case "qkv" -> new GemmSize(tokens, layout.qkvWidth(), hidden);
      case "o" -> new GemmSize(tokens, hidden, layout.qWidth());
      case "gate_up" -> new GemmSize(tokens, 2 * layout.ffnSize(), hidden);
      case "down" -> new GemmSize(tokens, hidden, layout.ffnSize());
      case "lm_head" -> new GemmSize(tokens, layout.vocabSize(), hidden);
      default -> throw new IllegalArgumentException("no projection is called " + projection);
    };
  }

  /** {@code <m>x<n>x<k>}. */
  static GemmSize parse(String text) {
    String[] parts = text.split("x");
    if (parts.length != 3) {
      throw new IllegalArgumentException("\"" + text + "\" is not of the form 8x4096x1024");
    }
    return new GemmSize(
        Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), Integer.parseInt(parts[2]));
  }
}
