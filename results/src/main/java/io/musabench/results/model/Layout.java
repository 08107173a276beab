package io.musabench.results.model;

import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * One rank's share of a model under tensor parallelism, split as vLLM does: heads, MLP and
 * vocabulary over the ranks, hidden states, norms and routers whole on each. With more ranks than
 * kv heads each kv head lies on several ranks.
 *
 * @param model the whole model
 * @param tp number of ranks
 */
public record Layout(ModelConfig model, int tp) {
  /** Largest number of ranks that an error message proposes. */
  private static final int LARGEST_PROPOSED = 64;

  /**
   * Checks that the model can be split.
   *
   * @throws IllegalArgumentException that says what does not divide and which numbers of ranks do
   */
  public Layout {
    String obstacle = obstacle(model, tp);
    if (obstacle != null) {
      String fitting =
          IntStream.rangeClosed(1, LARGEST_PROPOSED)
              .filter(n -> obstacle(model, n) == null)
              .mapToObj(Integer::toString)
              .collect(Collectors.joining(", "));
      throw new IllegalArgumentException(
          model.name()
              + " cannot be split over "
              + tp
              + " ranks: "
              + obstacle
              + "; tp can be "
              + fitting);
    }
  }

  private static String obstacle(ModelConfig m, int tp) {
    if (tp < 1) {
      return "there must be at least one";
    }
    if (m.qHeads() % tp != 0) {
      return m.qHeads() + " query heads do not divide";
    }
    if (m.kvHeads() % tp != 0 && tp % m.kvHeads() != 0) {
      return m.kvHeads() + " kv heads neither divide nor replicate evenly";
    }
    if (m.ffnSize() % tp != 0) {
      return "the MLP size " + m.ffnSize() + " does not divide";
    }
    if (m.vocabSize() % tp != 0) {
      return "the vocabulary of " + m.vocabSize() + " does not divide";
    }
    return null;
  }

  /** Query heads on this rank. */
  public int qHeads() {
    return model.qHeads() / tp;
  }

  /** Key and value heads on this rank, copies included; at least 1. */
  public int kvHeads() {
    return Math.max(1, model.kvHeads() / tp);
  }

  /** Heads on this rank. */
  public HeadGeometry heads() {
    return new HeadGeometry(qHeads(), kvHeads(), model.headDim());
  }

  /** Elements of all query heads of a token: input size of the output projection. */
  public int qWidth() {
    return qHeads() * model.headDim();
  }

  /** Elements of queries, keys and values of a token: output size of the qkv projection. */
  public int qkvWidth() {
    return (qHeads() + 2 * kvHeads()) * model.headDim();
  }

  /** Inner size of the MLP, or of each expert, on this rank. */
  public int ffnSize() {
    return model.ffnSize() / tp;
  }

  /** Rows of the vocabulary on this rank. */
  public int vocabSize() {
    return model.vocabSize() / tp;
  }

  /** Parameters of one layer on this rank. */
  public long layerParameters() {
    long hidden = model.hiddenSize();
    long attention = hidden * qkvWidth() + qWidth() * hidden;
    long bias = (model.qkvBias() ? qkvWidth() : 0) + (model.oBias() ? hidden : 0);
    long norms = 2 * hidden + (model.qkNorm() ? 2L * model.headDim() : 0);
    return attention + bias + mlp() + norms;
  }

  /** Each rank holds a part of every expert, and the whole router. */
  private long mlp() {
    long one = 3L * model.hiddenSize() * ffnSize();
    return model.isMoe() ? model.moe().experts() * (one + model.hiddenSize()) : one;
  }

  /** Parameters that lie on this rank; a tied matrix counts once. */
  public long parameters() {
    return streamedParameters() + (model.tiedEmbeddings() ? 0 : vocabularyMatrix());
  }

  /**
   * Parameters that every step reads: all layers, the last norm and lm_head. The embedding is not
   * among them, because a step reads only the rows of its tokens. Of a mixture of experts this is
   * the most that a step can read; small batches touch fewer experts.
   */
  public long streamedParameters() {
    return model.layers() * layerParameters() + model.hiddenSize() + vocabularyMatrix();
  }

  /**
   * Bytes of the parameters that lie on this rank. Embedding and lm_head stay unquantised, and what
   * {@link ModelConfig#precision(String, Precision)} says.
   */
  public long weightBytes(Precision precision) {
    long unquantised =
        model.layers() * unquantisedOfLayer(precision)
            + (model.tiedEmbeddings() ? 1 : 2) * vocabularyMatrix();
    return (parameters() - unquantised) * precision.weights().bytes()
        + unquantised * precision.unquantised().weights().bytes();
  }

  /** Elements of the matrices of a layer that stay in the activations' type. */
  private long unquantisedOfLayer(Precision precision) {
    long hidden = model.hiddenSize();
    long attention =
        unquantised("qkv", hidden * qkvWidth(), precision)
            + unquantised("o", hidden * qWidth(), precision);
    return model.isMoe()
        ? attention
            + unquantised("router", hidden * model.moe().experts(), precision)
            + unquantised("experts", 3 * hidden * ffnSize() * model.moe().experts(), precision)
        : attention
            + unquantised("gate_up", 2 * hidden * ffnSize(), precision)
            + unquantised("down", hidden * ffnSize(), precision);
  }

  private long unquantised(String role, long elements, Precision precision) {
    return model.precision(role, precision).equals(precision) ? 0 : elements;
  }

  private long vocabularyMatrix() {
    return (long) vocabSize() * model.hiddenSize();
  }

  /** Bytes that one token occupies in this rank's KV cache, all layers together. */
  public long kvBytesPerToken(int elementBytes) {
    return 2L * model.layers() * kvHeads() * model.headDim() * elementBytes;
  }

  @Override
  public String toString() {
    return model.name() + " TP" + tp;
  }
}
