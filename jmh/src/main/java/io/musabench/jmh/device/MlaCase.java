package io.musabench.jmh.device;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.AttentionOptions;
import io.musabench.bindings.mate.Mate;
import io.musabench.bindings.mate.MissingKernelException;
import io.musabench.bindings.mate.MlaKernels;
import io.musabench.bindings.mate.MlaTensors;
import io.musabench.jmh.device.AttentionKernels.Schedule;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;
import io.musabench.results.model.Work;
import java.util.List;
import java.util.Locale;

/** Makes cases of multi-head latent attention by mate's kernels. */
public final class MlaCase {
  private static final int ELEMENT_BYTES = 2;
  private static final int ROW = MlaTensors.LATENT + MlaTensors.ROPE;

  // DeepSeek's scale is that of the heads before their weights are absorbed: 128 and the rotary 64.
  private static final int HEAD_BEFORE_ABSORPTION = 192;

  // mate's own choice: so many heads go to the assembler kernel.
  private static final int HEADS_OF_ASM = 128;

  /** mate's kernels of it, by the names of their exports. */
  public enum Kernel {
    /** As mate chooses: FLASH_MLA_ASM with 128 heads, else MLA_WITH_KVCACHE. */
    AUTO,
    /** Without splits. */
    MLA,
    /** The generated kernel with split sequences. */
    MLA_WITH_KVCACHE,
    /** The assembler kernel with split sequences. */
    FLASH_MLA_ASM;

    /** The kernel of a name in lower case. */
    public static Kernel of(String name) {
      return valueOf(name.toUpperCase(Locale.ROOT));
    }
  }

  private MlaCase() {}

  /** Throws {@link IllegalArgumentException} for heads that are not those of MLA. */
  public static void require(HeadGeometry heads) {
    if (heads.kvHeads() != 1 || heads.qkDim() != ROW || heads.vDim() != MlaTensors.LATENT) {
      throw new IllegalArgumentException(
          "MLA has one kv head of 576 whose first 512 are the value, as in 128:1:576/512");
    }
  }

  /**
   * A case over a cache in random order.
   *
   * @throws UnavailableException if mate is not here or cannot run it
   */
  public static ScheduledCase prepare(
      Inputs inputs, BatchSpec batch, HeadGeometry heads, boolean causal, Kernel kernel) {
    Mate mate = MateAttention.mate(inputs.context());
    try {
      return prepare(mate.mla(), inputs, batch, heads, causal, kernel);
    } catch (MissingKernelException | IllegalArgumentException reason) {
      throw new UnavailableException(reason.getMessage());
    }
  }

  private static ScheduledCase prepare(
      MlaKernels mla,
      Inputs inputs,
      BatchSpec batch,
      HeadGeometry heads,
      boolean causal,
      Kernel kernel) {
    PagedCache cache = PagedCache.createLatent(inputs, batch, heads, MlaTensors.PAGE_SIZE);
    int tokens = batch.totalQ();
    int h = heads.qHeads();
    Tensor nope = inputs.activation(tokens, h, MlaTensors.LATENT);
    Tensor rope = inputs.activation(tokens, h, MlaTensors.ROPE);
    Tensor out = inputs.output(tokens, h, MlaTensors.LATENT);
    boolean dense = batch.requests().stream().allMatch(r -> r.qLen() == batch.maxQ());
    Tensor lse =
        dense
            ? inputs.output(DType.F32, batch.size(), batch.maxQ(), h)
            : inputs.output(DType.F32, h, tokens);
    MlaTensors tensors =
        new MlaTensors(
            dense ? split(nope, batch) : nope,
            dense ? split(rope, batch) : rope,
            cache.values(),
            cache.keys().slice(3, MlaTensors.LATENT, ROW),
            cache.pageTable(),
            cache.lengths(),
            dense ? null : cache.cuSeqlensQ(),
            dense ? null : batch.maxQ(),
            dense ? split(out, batch) : out,
            lse);
    AttentionOptions options =
        new AttentionOptions(1 / Math.sqrt(HEAD_BEFORE_ABSORPTION), causal, -1, -1, 0);
    Kernel chosen =
        kernel != Kernel.AUTO
            ? kernel
            : h == HEADS_OF_ASM ? Kernel.FLASH_MLA_ASM : Kernel.MLA_WITH_KVCACHE;
    MlaKernels.Schedule split = null;
    if (chosen != Kernel.MLA) {
      split = mla.schedule(cache.lengths(), batch.maxQ() * h, h);
      inputs.context().own(split);
    }
    PreparedCall call =
        switch (chosen) {
          case MLA -> mla.mla(tensors, options.softmaxScale(), causal);
          case MLA_WITH_KVCACHE -> mla.withKvCache(tensors, split, options.softmaxScale(), causal);
          default -> mla.asm(tensors, split, options.softmaxScale(), causal);
        };
    call.launch(); // The pool has its blocks before anything is captured or timed.
    KernelCase attention =
        new KernelCase(
            "mla_decode",
            "batch=%s heads=%s %s".formatted(batch, heads, causal ? "causal" : "full"),
            work(batch, heads, options, cache),
            call,
            List.of(out),
            () -> KernelCases.checkLatent(cache, heads, options, nope, rope, out),
            List.of("mate: " + call.name()));
    return new ScheduledCase(
        attention, split == null ? null : new Schedule(split.update(), List.of(split.numSplits())));
  }

  private static Tensor split(Tensor tokens, BatchSpec batch) {
    return tokens.reshape(batch.size(), batch.maxQ(), tokens.shape(1), tokens.shape(2));
  }

  // As for other attention, but keys and values are one row of the cache, read once.
  private static Work work(
      BatchSpec batch, HeadGeometry heads, AttentionOptions options, PagedCache cache) {
    long pairs = 0;
    for (BatchSpec.Request request : batch.requests()) {
      for (int i = 0; i < request.qLen(); i++) {
        pairs += options.endKey(i, request.qLen(), request.kvLen());
      }
    }
    long dims = heads.qkDim() + heads.vDim();
    long elements = (long) batch.totalQ() * heads.qHeads() * dims + batch.totalKv() * ROW;
    return new Work(
        2 * pairs * heads.qHeads() * dims,
        elements * ELEMENT_BYTES + (long) Integer.BYTES * cache.usedPages());
  }
}
