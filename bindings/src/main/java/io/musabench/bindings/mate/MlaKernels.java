package io.musabench.bindings.mate;

import io.musabench.bindings.ffi.ArgumentPacker;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.ReturnedValue;
import io.musabench.bindings.ffi.Tensor;

/**
 * mate's kernels for multi-head latent attention, of the file {@code mla_ops.so}. BF16 and F16 over
 * pages of 64; dense FP8 and sparse variants are rejected by mate on MP31.
 *
 * <p>{@link #withKvCache} and {@link #asm} split sequences by a {@link Schedule} and allocate their
 * partial results from the thread's pool in every call. Which of the two mate itself takes is
 * decided by the heads: 128 go to the assembler kernel.
 */
public final class MlaKernels {
  private static final String LIBRARY = "mla_ops";
  private static final int AOT_LEVEL = 1;
  private static final int METADATA_COLUMNS = 8;
  private static final int TILE_ROWS = 128;

  private final Mate mate;

  MlaKernels(Mate mate) {
    this.mate = mate;
  }

  private ArgumentPacker arguments(String name) {
    return mate.kernel(LIBRARY, name, BuildCommands.aot(AOT_LEVEL)).arguments();
  }

  // Every attention begins with these.
  private ArgumentPacker arguments(String name, MlaTensors t) {
    return arguments(name).tensor(t.qNope()).tensor(t.qPe()).tensor(t.ckv()).tensor(t.kpe());
  }

  private static Long maxSeqlenQ(MlaTensors t) {
    return t.maxSeqlenQ() == null ? null : (long) t.maxSeqlenQ();
  }

  /** Without splits and scratch; queries are not ragged. */
  public PreparedCall mla(MlaTensors t, double softmaxScale, boolean causal) {
    if (t.cuSeqlensQ() != null) {
      throw new IllegalArgumentException("mla takes no ragged queries");
    }
    return arguments("mla", t)
        .tensor(t.pageTable())
        .tensor(t.sequsedK())
        .tensor(t.out())
        .tensor(t.lse())
        .floating(softmaxScale)
        .bool(causal)
        .prepare();
  }

  /** The generated kernel with split sequences. */
  public PreparedCall withKvCache(
      MlaTensors t, Schedule schedule, double softmaxScale, boolean causal) {
    return arguments("mla_with_kvcache", t)
        .tensor(t.sequsedK())
        .optionalTensor(t.cuSeqlensQ())
        .optionalInteger(maxSeqlenQ(t))
        .tensor(t.pageTable())
        .tensor(schedule.metadata())
        .tensor(schedule.numSplits())
        .tensor(t.out())
        .tensor(t.lse())
        .floating(softmaxScale)
        .bool(causal)
        .prepare();
  }

  /**
   * The assembler kernel with split sequences. It reads ckv and kpe as the two parts of one cache
   * with rows of 576: the strides of tokens and pages must be multiples of that.
   */
  public PreparedCall asm(MlaTensors t, Schedule schedule, double softmaxScale, boolean causal) {
    return arguments("flash_mla_asm", t)
        .tensor(t.sequsedK())
        .tensor(t.pageTable())
        .tensor(schedule.metadata())
        .tensor(schedule.numSplits())
        .tensor(t.out())
        .tensor(t.lse())
        .floating(softmaxScale)
        .bool(causal)
        .optionalTensor(t.cuSeqlensQ())
        .optionalInteger(maxSeqlenQ(t))
        .prepare();
  }

  /**
   * The call behind mate's FlashAttention interface: the schedule lies in a workspace, and the
   * heads choose the kernel.
   *
   * @param workspace U8 [at least {@link #workspaceBytes}], kept from call to call
   * @param initialized true if the workspace holds the schedule of the same lengths already
   */
  public PreparedCall dispatch(
      MlaTensors t, Tensor workspace, boolean initialized, double softmaxScale, boolean causal) {
    return arguments("dispatch_mla_impl_for_fa_interface", t)
        .tensor(t.sequsedK())
        .tensor(t.pageTable())
        .floating(softmaxScale)
        .bool(causal)
        .optionalTensor(t.cuSeqlensQ())
        .optionalInteger(maxSeqlenQ(t))
        .tensor(t.out())
        .tensor(t.lse())
        .tensor(workspace)
        .bool(initialized)
        .prepare();
  }

  /**
   * Bytes of workspace for {@link #dispatch}: an entry of 8 integers for each part that runs at
   * once, and the splits of each sequence.
   *
   * @param multiprocessors of the device
   * @param rows query tokens of the longest sequence times heads
   */
  public static long workspaceBytes(int multiprocessors, int batch, long rows) {
    long tiles = (rows + TILE_ROWS - 1) / TILE_ROWS;
    long parts = Math.max(multiprocessors / tiles, 1);
    return 4 * (parts * METADATA_COLUMNS + batch + 1);
  }

  /**
   * Computes a schedule, its tensors allocated from the thread's pool; the caller's to close.
   *
   * @param sequsedK I32 [B], keys of each sequence
   * @param rows query tokens of a sequence times query heads of a KV head
   * @param qHeads query heads
   */
  public Schedule schedule(Tensor sequsedK, int rows, int qHeads) {
    ReturnedValue returned = request(sequsedK, rows, qHeads, null).invoke();
    return new Schedule(returned, request(sequsedK, rows, qHeads, returned).prepare());
  }

  private ArgumentPacker request(Tensor sequsedK, int rows, int qHeads, ReturnedValue into) {
    ArgumentPacker arguments =
        arguments("get_mla_decoding_metadata")
            .tensor(sequsedK)
            .integer(rows)
            .integer(1) // h_k
            .integer(qHeads)
            .bool(false) // is_fp8_kvcache
            .none(); // topk
    if (into == null) {
      arguments.none().none();
    } else {
      // Objects, because the function returns them.
      arguments.tensorObject(into.get(0)).tensorObject(into.get(1));
    }
    return arguments
        .none() // q
        .none() // bs
        .none() // topk_length
        .none() // extra_topk_length
        .none(); // extra_topk
  }

  /** How sequences are split over the multiprocessors. */
  public static final class Schedule implements AutoCloseable {
    private final ReturnedValue returned;
    private final PreparedCall update;
    private final Tensor metadata;
    private final Tensor numSplits;

    private Schedule(ReturnedValue returned, PreparedCall update) {
      this.returned = returned;
      this.update = update;
      this.metadata = returned.get(0).asTensor();
      this.numSplits = returned.get(1).asTensor();
    }

    /** Computes it anew, in place, after the lengths have changed. */
    public PreparedCall update() {
      return update;
    }

    /** I32 [parts that run at once, 8]. */
    public Tensor metadata() {
      return metadata;
    }

    /** I32 [B+1], cumulated. */
    public Tensor numSplits() {
      return numSplits;
    }

    /** Gives the tensors back to the pool; waits for the device. */
    @Override
    public void close() {
      returned.close();
    }
  }
}
