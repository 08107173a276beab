package io.musabench.jmh.device;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.AttentionOptions;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;

/** This project's attention kernels. */
final class PortableAttention implements AttentionKernels {
  private final Inputs inputs;
  private final int splits;
  private Tensor workspace; // shared by calls that run one after the other

  /**
   * @param inputs makes the workspace
   * @param splits parts of the KV length; 0: heuristic
   */
  PortableAttention(Inputs inputs, int splits) {
    this.inputs = inputs;
    this.splits = splits;
  }

  @Override
  public Attention prefill(
      BatchSpec batch, HeadGeometry heads, AttentionOptions options, Contiguous operands) {
    PreparedCall call =
        inputs
            .kernels()
            .fmhaPrefillVarlen(
                operands.q(),
                operands.k(),
                operands.v(),
                operands.out(),
                null,
                options,
                operands.cuQ(),
                operands.cuK(),
                batch.maxQ(),
                batch.maxKv());
    return new Attention(call, null, "");
  }

  @Override
  public Attention paged(
      PagedCache cache, HeadGeometry heads, AttentionOptions options, Tensor q, Tensor out) {
    BatchSpec batch = cache.batch();
    PreparedCall call =
        inputs
            .kernels()
            .pagedAttention(
                q,
                cache.keys(),
                cache.values(),
                cache.pageTable(),
                cache.lengths(),
                batch.maxQ() == 1 ? null : cache.cuSeqlensQ(),
                batch.maxQ(),
                out,
                null,
                options,
                splits,
                workspace(cache, heads));
    return new Attention(call, null, "");
  }

  private Tensor workspace(PagedCache cache, HeadGeometry heads) {
    BatchSpec batch = cache.batch();
    long bytes =
        inputs
            .kernels()
            .pagedAttentionWorkspace(
                batch.size(),
                batch.maxQ(),
                batch.totalQ(),
                heads.qHeads(),
                heads.kvHeads(),
                heads.qkDim(),
                cache.capacity(),
                splits);
    if (workspace == null || workspace.bytes() < bytes) {
      workspace = inputs.output(DType.U8, bytes);
    }
    return workspace;
  }
}
