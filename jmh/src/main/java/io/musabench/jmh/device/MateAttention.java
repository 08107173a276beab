package io.musabench.jmh.device;

import io.musabench.bindings.Target;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.AttentionOptions;
import io.musabench.bindings.mate.Backend;
import io.musabench.bindings.mate.FmhaAttention;
import io.musabench.bindings.mate.FmhaConfig;
import io.musabench.bindings.mate.FmhaConfig.Keys;
import io.musabench.bindings.mate.FmhaConfig.Queries;
import io.musabench.bindings.mate.FmhaTensors;
import io.musabench.bindings.mate.Mate;
import io.musabench.bindings.mate.MissingKernelException;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;

/**
 * mate's attention kernels.
 *
 * <p>Queries are ragged even where each request has one: that is how vLLM calls mate, and what most
 * of its kernels are compiled ahead of time for.
 */
final class MateAttention implements AttentionKernels {
  private final Inputs inputs;
  private final MateOptions options;
  private final Mate mate;
  private Tensor lse; // shared by calls that run one after the other
  private FmhaAttention first; // whose schedule further layers read
  private FmhaConfig firstConfig;
  private Tensor firstLengths;

  /**
   * @param inputs makes the logarithms that mate writes beside the output
   * @throws UnavailableException if the target has no device that mate's kernels run on
   */
  MateAttention(Inputs inputs, MateOptions options) {
    this.inputs = inputs;
    this.options = options;
    this.mate = mate(inputs.context());
  }

  /** mate on this target. */
  static Mate mate(DeviceContext context) {
    Target target = context.target();
    if (target.kind() != Target.Kind.MUSA) {
      throw new UnavailableException(
          "mate's kernels run on MUSA devices, and the target is "
              + target
              + "; library=portable runs here");
    }
    String reason = Mate.reasonAgainst(target.runtime().currentDevice());
    if (!reason.isEmpty()) {
      throw new UnavailableException(reason + "; library=portable runs here");
    }
    return target.mate();
  }

  @Override
  public Attention prefill(
      BatchSpec batch, HeadGeometry heads, AttentionOptions attention, Contiguous o) {
    return attempt(
        () -> {
          FmhaConfig.Builder config = config(batch, heads, attention);
          config.keys(Keys.RAGGED, batch.maxKv());
          FmhaTensors tensors =
              FmhaTensors.ragged(o.q(), o.k(), o.v(), o.out(), lse(o.q()), o.cuQ(), o.cuK());
          return prepare(config.build(), tensors, attention, o.cuK());
        });
  }

  @Override
  public Attention paged(
      PagedCache cache, HeadGeometry heads, AttentionOptions attention, Tensor q, Tensor out) {
    return attempt(
        () -> {
          FmhaConfig.Builder config = config(cache.batch(), heads, attention);
          config.pagedKeys((int) cache.pageTable().shape(1), cache.pageSize());
          FmhaTensors tensors =
              FmhaTensors.paged(
                  q,
                  cache.keys(),
                  cache.values(),
                  out,
                  lse(q),
                  cache.cuSeqlensQ(),
                  cache.lengths(),
                  cache.pageTable());
          return prepare(config.build(), tensors, attention, cache.lengths());
        });
  }

  private interface Preparation {
    Attention run();
  }

  // What mate has no kernel for is a case that cannot be measured, not an error.
  private static Attention attempt(Preparation preparation) {
    try {
      return preparation.run();
    } catch (MissingKernelException | IllegalArgumentException reason) {
      throw new UnavailableException(reason.getMessage());
    }
  }

  private FmhaConfig.Builder config(
      BatchSpec batch, HeadGeometry heads, AttentionOptions attention) {
    return FmhaConfig.builder()
        .dtype(inputs.dtype())
        .batch(batch.size())
        .heads(heads.qHeads(), heads.kvHeads())
        .headDims(heads.qkDim(), heads.vDim())
        .queries(Queries.RAGGED, batch.maxQ())
        .causal(attention.causal())
        .window(attention.windowLeft(), attention.windowRight())
        .softcap(attention.softcap())
        .packGqa(options.packGqa())
        .metadata(options.metadata())
        .numSplits(options.splits())
        .mpMargin(options.mpMargin());
  }

  private Tensor lse(Tensor q) {
    if (lse == null || lse.shape(0) != q.shape(1) || lse.shape(1) != q.shape(0)) {
      lse = inputs.output(DType.F32, q.shape(1), q.shape(0));
    }
    return lse;
  }

  private Attention prepare(
      FmhaConfig config, FmhaTensors tensors, AttentionOptions attention, Tensor lengths) {
    FmhaAttention prepared;
    if (first != null && config.equals(firstConfig) && lengths == firstLengths) {
      prepared = mate.furtherLayer(config, first, tensors, attention.softmaxScale());
    } else {
      prepared = mate.attention(config, options.backend(), tensors, attention.softmaxScale());
      first = prepared;
      firstConfig = config;
      firstLengths = lengths;
    }
    inputs.context().own(prepared);
    Schedule schedule =
        prepared.metadata().map(call -> new Schedule(call, prepared.schedule())).orElse(null);
    return new Attention(prepared.attention(), schedule, note(prepared));
  }

  private static String note(FmhaAttention prepared) {
    String kernels = prepared.attention().name();
    if (prepared.metadata().isPresent()) {
      kernels += ", scheduled by " + prepared.metadata().get().name();
    }
    return prepared.backend() == Backend.MUBIN || prepared.metadata().isEmpty()
        ? "mate: " + kernels
        : "mate: %s; splits %d".formatted(kernels, prepared.splits());
  }
}
