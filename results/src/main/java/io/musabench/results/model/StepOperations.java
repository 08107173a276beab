package io.musabench.results.model;

import io.musabench.results.model.KernelCall.Argmax;
import io.musabench.results.model.KernelCall.Embedding;
import io.musabench.results.model.KernelCall.FusedAddRmsNorm;
import io.musabench.results.model.KernelCall.FusedExperts;
import io.musabench.results.model.KernelCall.Gemm;
import io.musabench.results.model.KernelCall.KvCacheWrite;
import io.musabench.results.model.KernelCall.QkNormRope;
import io.musabench.results.model.KernelCall.RmsNorm;
import io.musabench.results.model.KernelCall.SiluAndMul;
import io.musabench.results.model.KernelCall.TopK;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The kernels of one forward pass on one rank, in the order in which they run: {@code before} once,
 * then {@code firstLayer}, then {@code layer} for every further one, then {@code after} once.
 *
 * <p>The first layer differs in one kernel: there is no residual to add yet. A step whose requests
 * are all prefills with nothing cached runs attention on contiguous keys and values; any other runs
 * it on the paged cache. Each request needs one row of logits; where that is fewer than the tokens
 * of the step, those rows are gathered first. Kernels only: the all-reduces between the ranks are
 * communication and not listed.
 *
 * @param layout model and rank
 * @param batch requests of the step
 * @param pageSize tokens of a page of the KV cache
 * @param before operations before the layers
 * @param firstLayer operations of layer 0
 * @param layer operations of each further layer
 * @param after operations after the layers
 */
public record StepOperations(
    Layout layout,
    BatchSpec batch,
    int pageSize,
    List<Operation> before,
    List<Operation> firstLayer,
    List<Operation> layer,
    List<Operation> after) {

  /** Copies the lists. */
  public StepOperations {
    before = List.copyOf(before);
    firstLayer = List.copyOf(firstLayer);
    layer = List.copyOf(layer);
    after = List.copyOf(after);
  }

  /**
   * Derives the operations of a step.
   *
   * @throws IllegalArgumentException if a request is longer than the model's longest context
   */
  public static StepOperations of(Layout layout, BatchSpec batch, int pageSize) {
    ModelConfig model = layout.model();
    if (batch.maxKv() > model.maxPositions()) {
      throw new IllegalArgumentException(
          "Batch "
              + batch
              + ": "
              + batch.maxKv()
              + " tokens are more than "
              + model.name()
              + " can hold ("
              + model.maxPositions()
              + ")");
    }
    int tokens = batch.totalQ();
    int hidden = model.hiddenSize();
    int rows = batch.size();

    List<Operation> after = new ArrayList<>();
    after.add(new Operation("final_norm", new FusedAddRmsNorm(tokens, hidden)));
    if (rows < tokens) {
      after.add(new Operation("logits_rows", new Embedding(rows, hidden)));
    }
    after.add(new Operation("lm_head", new Gemm(rows, layout.vocabSize(), hidden)));
    after.add(new Operation("sampler", new Argmax(rows, layout.vocabSize())));

    return new StepOperations(
        layout,
        batch,
        pageSize,
        List.of(new Operation("embedding", new Embedding(tokens, hidden))),
        layer(layout, batch, pageSize, new RmsNorm(tokens, hidden)),
        layer(layout, batch, pageSize, new FusedAddRmsNorm(tokens, hidden)),
        after);
  }

  private static List<Operation> layer(
      Layout layout, BatchSpec batch, int pageSize, KernelCall inputNorm) {
    ModelConfig model = layout.model();
    HeadGeometry heads = layout.heads();
    int t = batch.totalQ();
    int hidden = model.hiddenSize();
    int ffn = layout.ffnSize();
    KernelCall attention = ModelOperations.call(layout, batch, pageSize);
    List<Operation> all = new ArrayList<>();
    all.addAll(
        List.of(
            new Operation("input_norm", inputNorm),
            new Operation("qkv", new Gemm(t, layout.qkvWidth(), hidden, model.qkvBias())),
            new Operation("qk_norm_rope", new QkNormRope(t, heads, model.qkNorm())),
            new Operation("kv_cache_write", new KvCacheWrite(t, heads)),
            new Operation("attention", attention),
            new Operation("o", new Gemm(t, hidden, layout.qWidth(), model.oBias())),
            new Operation("post_attention_norm", new FusedAddRmsNorm(t, hidden))));
    if (model.isMoe()) {
      int experts = model.moe().experts();
      int k = model.moe().expertsPerToken();
      all.add(new Operation("router", new Gemm(t, experts, hidden)));
      all.add(new Operation("topk", new TopK(t, experts, k)));
      all.add(new Operation("experts", new FusedExperts(t, hidden, ffn, experts, k)));
    } else {
      all.add(new Operation("gate_up", new Gemm(t, 2 * ffn, hidden)));
      all.add(new Operation("silu_and_mul", new SiluAndMul(t, ffn)));
      all.add(new Operation("down", new Gemm(t, hidden, ffn)));
    }
    return all;
  }

  /** Every call of the step, in order; each operation has the count 1. */
  public List<Operation> inOrder() {
    List<Operation> all = new ArrayList<>(before);
    all.addAll(firstLayer);
    for (int i = 1; i < layout.model().layers(); i++) {
      all.addAll(layer);
    }
    all.addAll(after);
    return all;
  }

  /** Each role with each of its shapes once, with its count, in the order of first use. */
  public List<Operation> summary() {
    Map<Kind, Integer> counts = new LinkedHashMap<>();
    count(before, 1, counts);
    count(firstLayer, 1, counts);
    count(layer, layout.model().layers() - 1, counts);
    count(after, 1, counts);
    List<Operation> found = new ArrayList<>(counts.size());
    counts.forEach((kind, count) -> found.add(new Operation(kind.role(), kind.call(), count)));
    return List.copyOf(found);
  }

  private record Kind(String role, KernelCall call) {}

  private static void count(List<Operation> operations, int times, Map<Kind, Integer> counts) {
    if (times > 0) {
      for (Operation op : operations) {
        counts.merge(new Kind(op.role(), op.call()), times * op.count(), Integer::sum);
      }
    }
  }

  /** Calls of one step. */
  public int kernels() {
    return before.size()
        + firstLayer.size()
        + (layout.model().layers() - 1) * layer.size()
        + after.size();
  }

  /** Work of the whole step on this rank. */
  public Work work(int elementBytes) {
    Work sum = Work.NONE;
    for (Operation op : summary()) {
      sum = sum.plus(op.work(elementBytes));
    }
    return sum;
  }
}
