package io.musabench.results.model;

import io.musabench.results.model.BatchSpec.Request;
import io.musabench.results.model.KernelCall.AllGather;
import io.musabench.results.model.KernelCall.AllReduce;
import io.musabench.results.model.KernelCall.FmhaPrefill;
import io.musabench.results.model.KernelCall.PagedAttention;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Everything one rank does in one step: the kernels of {@link StepOperations}, with the attention
 * of a mixed batch in two parts, and the communication between the ranks.
 *
 * <p>With more than one rank, as vLLM runs a tensor-parallel decoder: an all-reduce after the
 * embedding (each rank holds a part of the vocabulary), after the output projection of attention
 * and after the MLP of each layer, and a gather of the logits.
 */
public final class ModelOperations {
  private ModelOperations() {}

  /**
   * The operations of a step, each role with each shape once, in the order of first use.
   *
   * @param pageSize tokens of a page of the KV cache
   * @throws IllegalArgumentException if a request is longer than the model's longest context
   */
  public static List<Operation> of(Layout layout, BatchSpec batch, int pageSize) {
    List<Operation> all = new ArrayList<>();
    for (Operation op : StepOperations.of(layout, batch, pageSize).summary()) {
      if (op.role().equals(ATTENTION)) {
        all.addAll(attention(layout, batch, pageSize));
      } else {
        all.add(op);
      }
      communication(op, layout, batch, all);
    }
    return List.copyOf(all);
  }

  private static final String ATTENTION = "attention";

  /**
   * The operation that a role belongs to: the two parts of the attention of a mixed step are
   * attention as that of any other step is.
   */
  public static String operation(String role) {
    return role.startsWith(ATTENTION) ? ATTENTION : role;
  }

  private static final Set<String> ONCE =
      Set.of("embedding", "final_norm", "logits_rows", "lm_head", "sampler", "logits_gather");

  /**
   * Calls of these operations of a step that lie outside its layers; of the all-reduces that is the
   * one after the embedding.
   *
   * @param roles with the number of calls of each
   */
  public static int outsideLayers(Map<String, Integer> roles) {
    int calls = roles.containsKey("all_reduce") ? 1 : 0;
    for (Map.Entry<String, Integer> role : roles.entrySet()) {
      calls += ONCE.contains(role.getKey()) ? role.getValue() : 0;
    }
    return calls;
  }

  /** Operations of a layer of a decode step, all-reduces among them. */
  public static int inLayer(Layout layout) {
    List<Operation> layer = StepOperations.of(layout, BatchSpec.decode(1, 2), 16).layer();
    return layer.size() + (layout.tp() == 1 ? 0 : 2);
  }

  /**
   * The attention of a step, all layers together. The other operations depend on the batch only
   * through its numbers of tokens and requests. Prefills and decodes of a mixed batch are apart
   * ({@code attention_prefill} and {@code attention_decode}), because no table holds them together.
   */
  public static List<Operation> attention(Layout layout, BatchSpec batch, int pageSize) {
    int layers = layout.model().layers();
    if (!batch.isMixed()) {
      return List.of(new Operation(ATTENTION, call(layout, batch, pageSize), layers));
    }
    BatchSpec decodes = batch.only(Request::isDecode);
    BatchSpec others = batch.only(r -> !r.isDecode());
    return List.of(
        new Operation("attention_prefill", call(layout, others, pageSize), layers),
        new Operation("attention_decode", call(layout, decodes, pageSize), layers));
  }

  /** Contiguous keys and values where nothing is cached, else the paged cache. */
  static KernelCall call(Layout layout, BatchSpec batch, int pageSize) {
    return batch.isPrefill()
        ? new FmhaPrefill(batch, layout.heads(), Mask.CAUSAL)
        : new PagedAttention(batch, layout.heads(), Mask.CAUSAL, pageSize);
  }

  private static void communication(
      Operation op, Layout layout, BatchSpec batch, List<Operation> all) {
    if (layout.tp() == 1) {
      return;
    }
    long hidden = (long) batch.totalQ() * layout.model().hiddenSize();
    switch (op.role()) {
      case "embedding", "o", "down", "experts" ->
          all.add(new Operation("all_reduce", new AllReduce(hidden, layout.tp()), op.count()));
      case "lm_head" ->
          all.add(
              new Operation(
                  "logits_gather",
                  new AllGather((long) batch.size() * layout.model().vocabSize(), layout.tp())));
      default -> {}
    }
  }
}
