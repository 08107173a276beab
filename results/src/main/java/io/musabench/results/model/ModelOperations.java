package io.musabench.results.model;

import io.musabench.results.model.BatchSpec.Request;
import io.musabench.results.model.KernelCall.AllGather;
import io.musabench.results.model.KernelCall.AllReduce;
import io.musabench.results.model.KernelCall.FmhaPrefill;
import io.musabench.results.model.KernelCall.PagedAttention;
import java.util.ArrayList;
import java.util.List;

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
      if (op.role().equals("attention")) {
        all.addAll(attention(op, layout, batch, pageSize));
      } else {
        all.add(op);
      }
      communication(op, layout, batch, all);
    }
    return List.copyOf(all);
  }

  /** Prefills and decodes of a mixed batch apart: no table holds them together. */
  private static List<Operation> attention(
      Operation op, Layout layout, BatchSpec batch, int pageSize) {
    List<Request> decodes = batch.requests().stream().filter(Request::isDecode).toList();
    if (decodes.isEmpty() || decodes.size() == batch.size()) {
      return List.of(op);
    }
    BatchSpec prefills =
        new BatchSpec(batch.requests().stream().filter(r -> !r.isDecode()).toList());
    KernelCall prefill =
        prefills.isPrefill()
            ? new FmhaPrefill(prefills, layout.heads(), Mask.CAUSAL)
            : new PagedAttention(prefills, layout.heads(), Mask.CAUSAL, pageSize);
    KernelCall decode =
        new PagedAttention(new BatchSpec(decodes), layout.heads(), Mask.CAUSAL, pageSize);
    return List.of(
        new Operation("attention_prefill", prefill, op.count()),
        new Operation("attention_decode", decode, op.count()));
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
