package io.musabench.bindings.mate;

import io.musabench.bindings.ffi.ArgumentPacker;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.KernelFunction;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.ReturnedValue;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.mate.FmhaConfig.Keys;
import io.musabench.bindings.mate.FmhaConfig.Queries;
import java.util.List;
import java.util.Optional;

/**
 * The prepared calls of one attention; see {@link Mate#attention}. A decoder runs {@link #metadata}
 * once a step, when the lengths have changed, and {@link #attention} once a layer.
 */
public final class FmhaAttention implements AutoCloseable {
  // Arguments of fmha_fwd_combine_* that come from what fmha_fwd_* returns, [[out, lse], splits].
  private static final int[] COMBINED = {5, 6, 9};
  private static final int PARTS_OF_METADATA = 4;

  private final Backend backend;
  private final int batch;
  private final Tensor schedule; // null without metadata
  private final PreparedCall metadata; // null without metadata
  private final boolean owner; // of the schedule
  private PreparedCall attention;
  private int splits = 1;

  private FmhaAttention(
      Backend backend, int batch, Tensor schedule, PreparedCall metadata, boolean owner) {
    this.backend = backend;
    this.batch = batch;
    this.schedule = schedule;
    this.metadata = metadata;
    this.owner = owner;
  }

  private static FmhaAttention withoutMetadata(Backend backend, FmhaConfig config) {
    return new FmhaAttention(backend, config.batch(), null, null, false);
  }

  static FmhaAttention prepare(
      Mate mate,
      FmhaConfig config,
      Backend backend,
      FmhaTensors t,
      double softmaxScale,
      FmhaAttention shared) {
    if (backend == Backend.MUBIN) {
      FmhaAttention one = withoutMetadata(backend, config);
      boolean ragged = config.queries() == Queries.RAGGED;
      one.attention =
          mate.flashAttenVarlenAsm(
              t.q(),
              t.k(),
              t.v(),
              softmaxScale,
              t.out(),
              t.lse(),
              config.causal(),
              t.cuSeqlensQ(),
              t.cuSeqlensK(),
              ragged ? config.maxSeqlenQ() : null,
              ragged ? config.maxSeqlenK() : null);
      one.attention.launch();
      return one;
    }
    KernelFunction forward =
        mate.kernel(
            config.names().forward(), config.names().forward(), BuildCommands.forward(config));
    if (!config.metadata()) {
      FmhaAttention one = withoutMetadata(backend, config);
      one.attention = forward(forward, config, t, softmaxScale, null);
      one.attention.launch();
      return one;
    }
    FmhaAttention two = shared == null ? scheduled(mate, config, backend, t) : sharing(shared);
    try {
      two.metadata.launch();
      two.combineAfter(mate, config, t, forward(forward, config, t, softmaxScale, two.schedule));
      return two;
    } catch (RuntimeException | Error failure) {
      two.close();
      throw failure;
    }
  }

  private static FmhaAttention scheduled(
      Mate mate, FmhaConfig config, Backend backend, FmhaTensors t) {
    String name = config.names().metadata();
    KernelFunction scheduler = mate.kernel(name, name, BuildCommands.metadata(config));
    Tensor schedule = mate.ffi().allocate(DType.I32, (long) PARTS_OF_METADATA * config.batch());
    return new FmhaAttention(
        backend, config.batch(), schedule, metadata(scheduler, config, t, schedule), true);
  }

  private static FmhaAttention sharing(FmhaAttention first) {
    return new FmhaAttention(first.backend, first.batch, first.schedule, first.metadata, false);
  }

  // How many splits there are, and so which combine kernel, is the forward kernel's own decision.
  private void combineAfter(Mate mate, FmhaConfig config, FmhaTensors t, PreparedCall forward) {
    try (ReturnedValue returned = forward.invoke()) {
      splits = Math.toIntExact(returned.get(1).asLong());
    }
    String name = config.names().combine(splits);
    KernelFunction combine = mate.kernel(name, name, BuildCommands.combine(config, splits));
    PreparedCall call =
        combine
            .arguments()
            .optionalTensor(t.cuSeqlensQ())
            .optionalTensor(t.sequsedQ())
            .integer(config.maxSeqlenQ())
            .tensor(t.out())
            .tensor(t.lse())
            .none()
            .none()
            .tensor(part(schedule, batch, 0))
            .tensor(part(schedule, batch, 1))
            .none()
            .prepare();
    attention = forward.then(call, COMBINED);
    attention.launch();
  }

  // The schedule's parts: splits of a sequence, its place, its query blocks, heads at once in L2.
  private static Tensor part(Tensor schedule, long batch, int index) {
    return schedule.slice(0, index * batch, (index + 1) * batch);
  }

  private static PreparedCall metadata(
      KernelFunction kernel, FmhaConfig config, FmhaTensors t, Tensor schedule) {
    FmhaMask mask = config.mask();
    FmhaTiling tiling = config.tiling();
    ArgumentPacker arguments =
        kernel
            .arguments()
            .integer(config.batch())
            .integer(config.qHeads())
            .integer(config.kvHeads())
            .integer(config.qkDim())
            .integer(config.vDim())
            .integer(config.maxSeqlenQ())
            .integer(config.maxSeqlenK())
            .integer(0) // max_seqlen_k_new
            .optionalTensor(t.cuSeqlensQ())
            .optionalTensor(t.cuSeqlensK())
            .optionalTensor(t.sequsedQ())
            .optionalTensor(t.sequsedK())
            .none() // cu_seqlens_k_new
            .integer(mask.left())
            .integer(mask.right())
            .none(); // leftpad_k
    for (int i = 0; i < PARTS_OF_METADATA; i++) {
      arguments.tensor(part(schedule, config.batch(), i));
    }
    return arguments
        .integer(config.numSplits())
        .integer(tiling.tileM())
        .integer(tiling.tileN())
        .integer(config.mpMargin())
        .prepare();
  }

  /** The 39 arguments of {@code fmha_fwd_*}; nothing is checked. */
  static PreparedCall forward(
      KernelFunction kernel, FmhaConfig config, FmhaTensors t, double scale, Tensor schedule) {
    FmhaMask mask = config.mask();
    return kernel
        .arguments()
        .tensor(t.q())
        .tensor(t.k())
        .tensor(t.v())
        .none() // k_new
        .none() // v_new
        .none() // q_v
        .optionalTensor(t.cuSeqlensQ())
        .optionalTensor(t.cuSeqlensK())
        .none() // cu_seqlens_k_new
        .optionalTensor(t.sequsedQ())
        .optionalTensor(t.sequsedK())
        .integer(config.maxSeqlenQ())
        .optionalInteger(config.keys() == Keys.RAGGED ? (long) config.maxSeqlenK() : null)
        .optionalTensor(t.pageTable())
        .none() // kv_batch_idx
        .none() // leftpad_k
        .none() // rotary_cos
        .none() // rotary_sin
        .none() // seqlens_rotary
        .none() // q_descale
        .none() // k_descale
        .none() // v_descale
        .floating(scale)
        .bool(mask.causal())
        .integer(mask.left())
        .integer(mask.right())
        .integer(mask.chunk())
        .floating(config.softcap())
        .integer(config.mpMargin())
        .integer(config.numSplits())
        .optionalTensor(schedule == null ? null : part(schedule, config.batch(), 0))
        .optionalTensor(schedule == null ? null : part(schedule, config.batch(), 1))
        .optionalTensor(schedule == null ? null : part(schedule, config.batch(), 2))
        .none() // learnable_sink
        .tensor(t.out())
        .tensor(t.lse())
        .integer(1) // cp_world_size
        .integer(0) // cp_rank
        .none() // cp_tot_seqused_k
        .prepare();
  }

  /** Which implementation this is, never AUTO. */
  public Backend backend() {
    return backend;
  }

  /** Computes the schedule from the lengths; empty if the configuration has none. */
  public Optional<PreparedCall> metadata() {
    return Optional.ofNullable(metadata);
  }

  /**
   * What {@link #metadata} writes and the other kernels read, opaque but for its type: the splits
   * of each sequence, and the order in which sequences are taken, each I32 [B]. Empty without
   * metadata.
   */
  public List<Tensor> schedule() {
    return schedule == null
        ? List.of()
        : List.of(part(schedule, batch, 0), part(schedule, batch, 1));
  }

  /** Computes out and lse; with metadata both the parts and their combination, as one call. */
  public PreparedCall attention() {
    return attention;
  }

  /** Parts that the longest sequences are split into, as the forward kernel returned it. */
  public int splits() {
    return splits;
  }

  /**
   * Frees the schedule, if it is not another's; the calls cannot be launched any more. Wait for the
   * stream before.
   */
  @Override
  public void close() {
    if (owner) {
      schedule.close();
    }
  }
}
