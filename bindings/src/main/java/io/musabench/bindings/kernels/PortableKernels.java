package io.musabench.bindings.kernels;

import io.musabench.bindings.ffi.ArgumentPacker;
import io.musabench.bindings.ffi.KernelLibrary;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.ReturnedValue;
import io.musabench.bindings.ffi.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The portable kernels, one method an export. Each packs a call for launching many times; arguments
 * are checked by the kernel when it is launched, and a bad one raises {@link
 * io.musabench.bindings.ffi.FfiException}.
 *
 * <p>Shapes are written [rows, columns]. X is BF16 or F16, the same for all X of a call; arithmetic
 * is in F32. The innermost dimension must be contiguous; other strides are honoured.
 */
public final class PortableKernels {
  /** Names of all exports. */
  public static final List<String> EXPORTS =
      List.of(
          "fmha_prefill",
          "paged_attention",
          "paged_attention_workspace",
          "gemm",
          "rms_norm",
          "fused_add_rms_norm",
          "qk_norm_rope",
          "kv_cache_write",
          "silu_and_mul",
          "embedding",
          "argmax",
          "random_fill",
          "read_bandwidth",
          "copy_bandwidth",
          "peak_flops",
          "peak_flops_per_iteration",
          "empty");

  /** Greatest number of parts that {@link #pagedAttention} splits a sequence's keys into. */
  public static final int MOST_SPLITS = 1024;

  // Dqk and Dv.
  private static final int[][] HEAD_DIMS = {
    {64, 64}, {80, 80}, {96, 96}, {128, 128}, {192, 128}, {256, 256}
  };

  private final KernelLibrary library;

  /** The kernels of one library. */
  public PortableKernels(KernelLibrary library) {
    this.library = library;
  }

  /** The library. */
  public KernelLibrary library() {
    return library;
  }

  /** True if the library exports a kernel. */
  public boolean has(String name) {
    return library.find(name).isPresent();
  }

  private ArgumentPacker arguments(String name) {
    return library.function(name).arguments();
  }

  // ---- attention

  /**
   * Checks the size of a head of {@link #fmhaPrefill} before there is a device to ask.
   *
   * @throws IllegalArgumentException if the kernel does not take it; the text says what it takes
   */
  public static void requireHeadDims(int qkDim, int vDim) {
    requireHeadDims("attention", Arrays.stream(HEAD_DIMS), qkDim, vDim);
  }

  /** As {@link #requireHeadDims}, for {@link #pagedAttention}, whose Dqk and Dv are equal. */
  public static void requirePagedHeadDims(int qkDim, int vDim) {
    requireHeadDims(
        "paged attention", Arrays.stream(HEAD_DIMS).filter(d -> d[0] == d[1]), qkDim, vDim);
  }

  private static void requireHeadDims(String kernel, Stream<int[]> allowed, int qkDim, int vDim) {
    List<int[]> dims = allowed.toList();
    if (dims.stream().noneMatch(d -> d[0] == qkDim && d[1] == vDim)) {
      throw new IllegalArgumentException(
          "the head size of "
              + kernel
              + " is "
              + dims.stream()
                  .map(d -> d[0] == d[1] ? "" + d[0] : d[0] + "/" + d[1])
                  .collect(Collectors.joining(", "))
              + ", not "
              + (qkDim == vDim ? "" + qkDim : qkDim + "/" + vDim));
    }
  }

  /**
   * Attention over a dense batch. Head dimensions Dqk/Dv: 64/64, 80/80, 96/96, 128/128, 192/128,
   * 256/256; Hq is a multiple of Hkv. Rows with no visible key give 0 and an lse of -infinity.
   *
   * @param q X [B, Sq, Hq, Dqk]
   * @param k X [B, Sk, Hkv, Dqk]
   * @param v X [B, Sk, Hkv, Dv]
   * @param out X [B, Sq, Hq, Dv]
   * @param lse F32 [B, Hq, Sq], the natural logarithm of the softmax's sum; null: not wanted
   */
  public PreparedCall fmhaPrefill(
      Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse, AttentionOptions options) {
    return fmha(q, k, v, out, lse, options, null, null, null, null);
  }

  /**
   * Attention over sequences of any lengths laid end to end; an empty sequence is allowed.
   *
   * @param q X [Tq, Hq, Dqk]
   * @param k X [Tk, Hkv, Dqk]
   * @param v X [Tk, Hkv, Dv]
   * @param out X [Tq, Hq, Dv]
   * @param lse F32 [Hq, Tq]; null: not wanted
   * @param cuSeqlensQ I32 [B+1], where each sequence's queries begin, and Tq
   * @param cuSeqlensK I32 [B+1], where each sequence's keys begin, and Tk
   * @param maxSeqlenQ at least the most queries of a sequence
   * @param maxSeqlenK at least the most keys of a sequence
   */
  public PreparedCall fmhaPrefillVarlen(
      Tensor q,
      Tensor k,
      Tensor v,
      Tensor out,
      Tensor lse,
      AttentionOptions options,
      Tensor cuSeqlensQ,
      Tensor cuSeqlensK,
      int maxSeqlenQ,
      int maxSeqlenK) {
    return fmha(
        q, k, v, out, lse, options, cuSeqlensQ, cuSeqlensK, (long) maxSeqlenQ, (long) maxSeqlenK);
  }

  private PreparedCall fmha(
      Tensor q,
      Tensor k,
      Tensor v,
      Tensor out,
      Tensor lse,
      AttentionOptions options,
      Tensor cuSeqlensQ,
      Tensor cuSeqlensK,
      Long maxSeqlenQ,
      Long maxSeqlenK) {
    return arguments("fmha_prefill")
        .tensor(q)
        .tensor(k)
        .tensor(v)
        .floating(options.softmaxScale())
        .tensor(out)
        .optionalTensor(lse)
        .bool(options.causal())
        .optionalTensor(cuSeqlensQ)
        .optionalTensor(cuSeqlensK)
        .optionalInteger(maxSeqlenQ)
        .optionalInteger(maxSeqlenK)
        .integer(options.windowLeft())
        .integer(options.windowRight())
        .floating(options.softcap())
        .prepare();
  }

  /**
   * Attention over a paged KV cache: decode, or chunked prefill with several queries a sequence.
   * The page table and the lengths are read when the kernel runs.
   *
   * @param q X [Tq, Hq, D]
   * @param kCache X [pages, page size, Hkv, D]
   * @param vCache X [pages, page size, Hkv, D]
   * @param pageTable I32 [B, pages of the longest sequence]
   * @param sequsedK I32 [B], keys of each sequence, those of its queries included
   * @param cuSeqlensQ I32 [B+1]; null: one query a sequence, and Tq = B
   * @param maxSeqlenQ at least the most queries of a sequence
   * @param out X [Tq, Hq, D]
   * @param lse F32 [Hq, Tq]; null: not wanted
   * @param numSplits parts a sequence's keys are split into; 0: chosen by the kernel
   * @param workspace U8, at least {@link #pagedAttentionWorkspace} bytes; null: the kernel
   *     allocates from the thread's {@link io.musabench.bindings.ffi.PooledAllocator}
   */
  public PreparedCall pagedAttention(
      Tensor q,
      Tensor kCache,
      Tensor vCache,
      Tensor pageTable,
      Tensor sequsedK,
      Tensor cuSeqlensQ,
      int maxSeqlenQ,
      Tensor out,
      Tensor lse,
      AttentionOptions options,
      int numSplits,
      Tensor workspace) {
    return arguments("paged_attention")
        .tensor(q)
        .tensor(kCache)
        .tensor(vCache)
        .tensor(pageTable)
        .tensor(sequsedK)
        .optionalTensor(cuSeqlensQ)
        .integer(maxSeqlenQ)
        .floating(options.softmaxScale())
        .tensor(out)
        .optionalTensor(lse)
        .bool(options.causal())
        .integer(options.windowLeft())
        .integer(options.windowRight())
        .floating(options.softcap())
        .integer(numSplits)
        .optionalTensor(workspace)
        .prepare();
  }

  /** Bytes of workspace that {@link #pagedAttention} needs; may be 0. */
  public long pagedAttentionWorkspace(
      int batch,
      int maxSeqlenQ,
      int totalQ,
      int qHeads,
      int kvHeads,
      int headDim,
      int maxSeqlenK,
      int numSplits) {
    return integerOf(
        arguments("paged_attention_workspace")
            .integer(batch)
            .integer(maxSeqlenQ)
            .integer(totalQ)
            .integer(qHeads)
            .integer(kvHeads)
            .integer(headDim)
            .integer(maxSeqlenK)
            .integer(numSplits));
  }

  // ---- projections

  /**
   * out = a·bᵀ + bias, rounded once.
   *
   * @param a X [M, K]
   * @param b X [N, K], a weight as checkpoints store it
   * @param out X or F32 [M, N]
   * @param bias X [N]; null: none
   */
  public PreparedCall gemm(Tensor a, Tensor b, Tensor out, Tensor bias) {
    return arguments("gemm").tensor(a).tensor(b).tensor(out).optionalTensor(bias).prepare();
  }

  // ---- norms and positions

  /**
   * out = x / rms(x) * weight, row by row.
   *
   * @param x X [T, H]
   * @param weight X [H]
   * @param out X [T, H]; may be x
   */
  public PreparedCall rmsNorm(Tensor x, Tensor weight, Tensor out, double eps) {
    return arguments("rms_norm").tensor(x).tensor(weight).tensor(out).floating(eps).prepare();
  }

  /**
   * residualOut = x + residual, rounded to X; out = rmsNorm(residualOut).
   *
   * @param x X [T, H]
   * @param residual X [T, H]
   * @param weight X [H]
   * @param out X [T, H]; may be x
   * @param residualOut X [T, H]; may be residual
   */
  public PreparedCall fusedAddRmsNorm(
      Tensor x, Tensor residual, Tensor weight, Tensor out, Tensor residualOut, double eps) {
    return arguments("fused_add_rms_norm")
        .tensor(x)
        .tensor(residual)
        .tensor(weight)
        .tensor(out)
        .tensor(residualOut)
        .floating(eps)
        .prepare();
  }

  /**
   * RMS norm of every q and k head, then rotary positions (NeoX: the two halves of a head are the
   * pairs). v is not touched.
   *
   * @param qkv X [T, (Hq + 2 Hkv) * D]
   * @param qWeight X [D]; null: q is not normalized
   * @param kWeight X [D]; null: k is not normalized
   * @param cosSin F32 [positions, D], D/2 cosines then D/2 sines
   * @param positions I32 [T]
   * @param qOut X [T, Hq, D]
   * @param kOut X [T, Hkv, D]
   */
  public PreparedCall qkNormRope(
      Tensor qkv,
      Tensor qWeight,
      Tensor kWeight,
      Tensor cosSin,
      Tensor positions,
      Tensor qOut,
      Tensor kOut,
      double eps) {
    return arguments("qk_norm_rope")
        .tensor(qkv)
        .optionalTensor(qWeight)
        .optionalTensor(kWeight)
        .tensor(cosSin)
        .tensor(positions)
        .tensor(qOut)
        .tensor(kOut)
        .floating(eps)
        .prepare();
  }

  /**
   * Writes keys and values of new tokens into the paged cache.
   *
   * @param k X [T, Hkv, D], rows may be a view into qkv
   * @param v X [T, Hkv, D], likewise
   * @param kCache X [pages, page size, Hkv, D]
   * @param vCache X [pages, page size, Hkv, D]
   * @param slotMapping I64 [T]: page * page size + offset in the page; negative: the token is
   *     skipped
   */
  public PreparedCall kvCacheWrite(
      Tensor k, Tensor v, Tensor kCache, Tensor vCache, Tensor slotMapping) {
    return arguments("kv_cache_write")
        .tensor(k)
        .tensor(v)
        .tensor(kCache)
        .tensor(vCache)
        .tensor(slotMapping)
        .prepare();
  }

  // ---- the rest

  /**
   * out = silu(first half of x) * second half of x.
   *
   * @param x X [T, 2F]
   * @param out X [T, F]
   */
  public PreparedCall siluAndMul(Tensor x, Tensor out) {
    return arguments("silu_and_mul").tensor(x).tensor(out).prepare();
  }

  /**
   * Gathers rows. An id outside the table fails the device with an illegal address.
   *
   * @param ids I32 [T]
   * @param table X [V, H]
   * @param out X [T, H]
   */
  public PreparedCall embedding(Tensor ids, Tensor table, Tensor out) {
    return arguments("embedding").tensor(ids).tensor(table).tensor(out).prepare();
  }

  /**
   * The index of the greatest element of each row, the lowest where several are equal.
   *
   * @param logits X or F32 [T, V]
   * @param out I32 [T]
   */
  public PreparedCall argmax(Tensor logits, Tensor out) {
    return arguments("argmax").tensor(logits).tensor(out).prepare();
  }

  /**
   * Fills with reproducible, approximately normal numbers, see {@link
   * io.musabench.bindings.kernels.reference.RandomFill}.
   *
   * @param out X or F32, any shape
   * @param seed its low 32 bits count
   * @param scale the standard deviation
   */
  public PreparedCall randomFill(Tensor out, long seed, double scale) {
    return arguments("random_fill").tensor(out).integer(seed).floating(scale).prepare();
  }

  // ---- roofs and floors

  /**
   * Reads all of a block.
   *
   * @param source U8 [bytes]
   * @param streams sequential streams that each lane reads at once
   * @param out F32 [at least 1], receives a sum so that the reads cannot be left out
   */
  public PreparedCall readBandwidth(Tensor source, int streams, Tensor out) {
    return arguments("read_bandwidth").tensor(source).integer(streams).tensor(out).prepare();
  }

  /**
   * Copies a block.
   *
   * @param source U8 [bytes]
   * @param destination U8 [bytes]
   */
  public PreparedCall copyBandwidth(Tensor source, Tensor destination) {
    return arguments("copy_bandwidth").tensor(source).tensor(destination).prepare();
  }

  /**
   * Multiplies and adds in registers; {@link #peakFlopsPerIteration} FLOPs an iteration.
   *
   * @param out F32 [at least 1], receives a result so that the work cannot be left out
   */
  public PreparedCall peakFlops(long iterations, Tensor out) {
    return arguments("peak_flops").integer(iterations).tensor(out).prepare();
  }

  /** FLOPs of one iteration of {@link #peakFlops} over the whole device. */
  public long peakFlopsPerIteration() {
    return integerOf(arguments("peak_flops_per_iteration"));
  }

  /** Does nothing: what a launch costs by itself. */
  public PreparedCall empty() {
    return arguments("empty").prepare();
  }

  private static long integerOf(ArgumentPacker arguments) {
    try (ReturnedValue value = arguments.invoke()) {
      return value.asLong();
    }
  }
}
