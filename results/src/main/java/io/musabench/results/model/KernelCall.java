package io.musabench.results.model;

import io.musabench.results.model.BatchSpec.Request;

/**
 * One call of a kernel with its shape. Two calls with equal {@link #kernel} and {@link #shape} do
 * the same work, so the measured time of one answers for the other.
 *
 * <p>{@code T} stands for tokens (rows). Element sizes are given to {@link #work}, because the same
 * shape is run in several types.
 */
public sealed interface KernelCall {
  /** Name of the kernel's export, for example {@code gemm}. */
  String kernel();

  /** Shape as {@code name=value} pairs in a fixed order, for example {@code m=8 n=4096 k=1024}. */
  String shape();

  /**
   * FLOPs and bytes of one call.
   *
   * @param elementBytes size of an element of weights, activations and KV cache (2 for bf16 and
   *     fp16)
   */
  Work work(int elementBytes);

  /**
   * {@link #kernel} and {@link #shape} in one text: the key under which a measured time is found.
   */
  default String key() {
    return kernel() + " " + shape();
  }

  /**
   * Row gather {@code out[T, hidden] = table[ids]}: one row read and one written a token.
   *
   * @param tokens rows gathered
   * @param hidden elements of a row
   */
  record Embedding(int tokens, int hidden) implements KernelCall {
    @Override
    public String kernel() {
      return "embedding";
    }

    @Override
    public String shape() {
      return "t=" + tokens + " h=" + hidden;
    }

    @Override
    public Work work(int elementBytes) {
      return new Work(0, 2L * tokens * hidden * elementBytes + 4L * tokens);
    }
  }

  /**
   * {@code out = x / rms(x) * weight}: 4 FLOPs an element (square, add, two multiplications).
   *
   * @param tokens rows
   * @param hidden elements of a row
   */
  record RmsNorm(int tokens, int hidden) implements KernelCall {
    @Override
    public String kernel() {
      return "rms_norm";
    }

    @Override
    public String shape() {
      return "t=" + tokens + " h=" + hidden;
    }

    @Override
    public Work work(int elementBytes) {
      long elements = (long) tokens * hidden;
      return new Work(4 * elements, (2 * elements + hidden) * elementBytes);
    }
  }

  /**
   * Residual addition and RMSNorm in one pass: two tensors read, two written, 5 FLOPs an element.
   *
   * @param tokens rows
   * @param hidden elements of a row
   */
  record FusedAddRmsNorm(int tokens, int hidden) implements KernelCall {
    @Override
    public String kernel() {
      return "fused_add_rms_norm";
    }

    @Override
    public String shape() {
      return "t=" + tokens + " h=" + hidden;
    }

    @Override
    public Work work(int elementBytes) {
      long elements = (long) tokens * hidden;
      return new Work(5 * elements, (4 * elements + hidden) * elementBytes);
    }
  }

  /**
   * Per-head RMSNorm of queries and keys (where the model has it) and rotary embedding: 4 FLOPs an
   * element for the norm, 3 for the rotation. Values are not touched. Cosines and sines are fp32,
   * one row a token.
   *
   * @param tokens rows of the qkv tensor
   * @param heads heads on this rank
   * @param norm whether queries and keys are normalised
   */
  record QkNormRope(int tokens, HeadGeometry heads, boolean norm) implements KernelCall {
    @Override
    public String kernel() {
      return "qk_norm_rope";
    }

    @Override
    public String shape() {
      return "t=" + tokens + " heads=" + heads + " norm=" + norm;
    }

    @Override
    public Work work(int elementBytes) {
      long elements = (long) tokens * (heads.qHeads() + heads.kvHeads()) * heads.qkDim();
      long weights = norm ? 2L * heads.qkDim() : 0;
      long tables = 4L * tokens * (heads.qkDim() + 1);
      return new Work((norm ? 7 : 3) * elements, (2 * elements + weights) * elementBytes + tables);
    }
  }

  /**
   * Copies this step's keys and values into the paged cache: read once, written once, plus an
   * 8-byte slot a token.
   *
   * @param tokens rows
   * @param heads heads on this rank
   */
  record KvCacheWrite(int tokens, HeadGeometry heads) implements KernelCall {
    @Override
    public String kernel() {
      return "kv_cache_write";
    }

    @Override
    public String shape() {
      return "t=" + tokens + " kv=" + heads.kvHeads() + " d=" + heads.qkDim() + dv();
    }

    private String dv() {
      return heads.vDim() == heads.qkDim() ? "" : "/" + heads.vDim();
    }

    @Override
    public Work work(int elementBytes) {
      long elements = (long) tokens * heads.kvHeads() * (heads.qkDim() + heads.vDim());
      return new Work(0, 2 * elements * elementBytes + 8L * tokens);
    }
  }

  /**
   * Attention over contiguous keys and values. See {@link #attentionWork} for what is counted.
   *
   * @param batch lengths of the requests
   * @param heads heads on this rank
   * @param mask which keys a query sees
   */
  record FmhaPrefill(BatchSpec batch, HeadGeometry heads, Mask mask) implements KernelCall {
    @Override
    public String kernel() {
      return "fmha_prefill";
    }

    @Override
    public String shape() {
      return attentionShape(batch, heads, mask);
    }

    @Override
    public Work work(int elementBytes) {
      return attentionWork(batch, heads, mask, elementBytes);
    }
  }

  /**
   * Attention over a paged KV cache. The page table adds 4 bytes a page; otherwise as {@link
   * #attentionWork}.
   *
   * @param batch lengths of the requests
   * @param heads heads on this rank
   * @param mask which keys a query sees
   * @param pageSize tokens of a page
   */
  record PagedAttention(BatchSpec batch, HeadGeometry heads, Mask mask, int pageSize)
      implements KernelCall {
    /**
     * Checks the page size.
     *
     * @throws IllegalArgumentException if it is below 1
     */
    public PagedAttention {
      if (pageSize < 1) {
        throw new IllegalArgumentException("A page holds at least 1 token, not " + pageSize);
      }
    }

    @Override
    public String kernel() {
      return "paged_attention";
    }

    @Override
    public String shape() {
      return attentionShape(batch, heads, mask) + " page=" + pageSize;
    }

    @Override
    public Work work(int elementBytes) {
      long pages = 0;
      for (Request r : batch.requests()) {
        pages += (r.kvLen() + pageSize - 1L) / pageSize;
      }
      return attentionWork(batch, heads, mask, elementBytes).plus(new Work(0, 4 * pages));
    }
  }

  /**
   * {@code out[m, n] = a[m, k] · b[n, k]ᵀ (+ bias[n])}: {@code 2mnk} FLOPs; both operands read, the
   * result written.
   *
   * @param m rows of activations
   * @param n output features
   * @param k input features
   * @param bias whether a bias of {@code n} elements is added
   */
  record Gemm(int m, int n, int k, boolean bias) implements KernelCall {
    /** Without bias. */
    public Gemm(int m, int n, int k) {
      this(m, n, k, false);
    }

    @Override
    public String kernel() {
      return "gemm";
    }

    @Override
    public String shape() {
      return "m=" + m + " n=" + n + " k=" + k + (bias ? " bias=true" : "");
    }

    @Override
    public Work work(int elementBytes) {
      long elements = (long) m * k + (long) n * k + (long) m * n + (bias ? n : 0);
      long add = bias ? (long) m * n : 0;
      return new Work(2L * m * n * k + add, elements * elementBytes);
    }
  }

  /**
   * {@code out[T, ffn] = silu(x[:, :ffn]) * x[:, ffn:]}: two elements read and one written; 5 FLOPs
   * an output (the exponential counts as one).
   *
   * @param tokens rows
   * @param ffn output features on this rank
   */
  record SiluAndMul(int tokens, int ffn) implements KernelCall {
    @Override
    public String kernel() {
      return "silu_and_mul";
    }

    @Override
    public String shape() {
      return "t=" + tokens + " f=" + ffn;
    }

    @Override
    public Work work(int elementBytes) {
      long outputs = (long) tokens * ffn;
      return new Work(5 * outputs, 3 * outputs * elementBytes);
    }
  }

  /**
   * Index of the largest logit of each row: one comparison an element, a 4-byte index written.
   *
   * @param tokens rows
   * @param vocab elements of a row on this rank
   */
  record Argmax(int tokens, int vocab) implements KernelCall {
    @Override
    public String kernel() {
      return "argmax";
    }

    @Override
    public String shape() {
      return "t=" + tokens + " v=" + vocab;
    }

    @Override
    public Work work(int elementBytes) {
      long elements = (long) tokens * vocab;
      return new Work(elements, elements * elementBytes + 4L * tokens);
    }
  }

  /**
   * FLOPs and bytes of attention, as FlashAttention and FlashInfer count them.
   *
   * <p>FLOPs: {@code 2 · qHeads · (dqk + dv) · Σ q · seen}. With {@link Mask#FULL} a query sees all
   * {@code kv} keys. With {@link Mask#CAUSAL} it sees {@code (max(0, kv − q) + kv) / 2} on average,
   * the usual form, {@code q/2} pairs a request below the exact count (0.05 % at 1024 tokens); a
   * single query (decode) sees exactly {@code kv}.
   *
   * <p>Bytes: queries read and outputs written once, keys and values read once over their
   * <em>full</em> length whatever the mask, as FlashInfer does; tools that multiply by the causal
   * average report fewer bytes. The logarithm of the sum is not counted.
   */
  static Work attentionWork(BatchSpec batch, HeadGeometry heads, Mask mask, int elementBytes) {
    long twicePairs = 0;
    for (Request r : batch.requests()) {
      long q = r.qLen();
      long kv = r.kvLen();
      boolean all = mask == Mask.FULL || q == 1;
      twicePairs += q * (all ? 2 * kv : (kv - q) + kv);
    }
    int dims = heads.qkDim() + heads.vDim();
    long flops = Math.multiplyExact(twicePairs, (long) heads.qHeads() * dims);
    long elements =
        (long) batch.totalQ() * heads.qHeads() * dims + batch.totalKv() * heads.kvHeads() * dims;
    return new Work(flops, elements * elementBytes);
  }

  private static String attentionShape(BatchSpec batch, HeadGeometry heads, Mask mask) {
    return "batch=" + batch + " heads=" + heads + (mask == Mask.CAUSAL ? " causal" : " full");
  }
}
