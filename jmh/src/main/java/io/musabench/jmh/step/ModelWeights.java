package io.musabench.jmh.step;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.reference.LayerReference;
import io.musabench.jmh.device.Inputs;
import io.musabench.results.model.Layout;
import io.musabench.results.model.ModelConfig;
import java.util.ArrayList;
import java.util.List;

/**
 * Weights of one rank of a model, in random values.
 *
 * @param embedding X [vocabulary, hidden]
 * @param layers one a layer; all the same object where layers share weights
 * @param finalNorm X [hidden]
 * @param head X [vocabulary, hidden]; the embedding where the model ties them
 * @param cosSin F32 [positions, head size], the table of the rotary embedding
 */
record ModelWeights(
    Tensor embedding, List<Layer> layers, Tensor finalNorm, Tensor head, Tensor cosSin) {

  /** Weights of one layer. Biases and norms of queries and keys are null where there are none. */
  record Layer(
      Tensor inputNorm,
      Tensor qkv,
      Tensor qkvBias,
      Tensor qNorm,
      Tensor kNorm,
      Tensor o,
      Tensor oBias,
      Tensor postNorm,
      Tensor gateUp,
      Tensor down) {
    private static Layer create(Inputs in, Layout layout) {
      ModelConfig model = layout.model();
      int hidden = model.hiddenSize();
      boolean norm = model.qkNorm();
      return new Layer(
          in.random(1, hidden),
          in.projection(layout.qkvWidth(), hidden),
          model.qkvBias() ? in.random(1, layout.qkvWidth()) : null,
          norm ? in.random(1, model.headDim()) : null,
          norm ? in.random(1, model.headDim()) : null,
          in.projection(hidden, layout.qWidth()),
          model.oBias() ? in.random(1, hidden) : null,
          in.random(1, hidden),
          in.projection(2L * layout.ffnSize(), hidden),
          in.projection(hidden, layout.ffnSize()));
    }
  }

  /**
   * Makes them.
   *
   * @param positions greatest number of tokens of a request
   * @param shared whether all layers use the weights of one
   */
  static ModelWeights create(Inputs in, Layout layout, int positions, boolean shared) {
    ModelConfig model = layout.model();
    int hidden = model.hiddenSize();
    int dim = layout.heads().qkDim();
    Tensor embedding = in.projection(layout.vocabSize(), hidden);
    List<Layer> layers = new ArrayList<>();
    for (int layer = 0; layer < model.layers(); layer++) {
      layers.add(layer > 0 && shared ? layers.get(0) : Layer.create(in, layout));
    }
    float[] table = LayerReference.cosSinTable(positions, dim, model.ropeTheta());
    return new ModelWeights(
        embedding,
        List.copyOf(layers),
        in.random(1, hidden),
        model.tiedEmbeddings() ? embedding : in.projection(layout.vocabSize(), hidden),
        in.output(DType.F32, positions, dim).copyFrom(table));
  }
}
