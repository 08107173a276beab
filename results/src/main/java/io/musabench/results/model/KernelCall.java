package io.musabench.results.model;

/**
 * One call of a kernel with its shape. Two calls with equal {@link #kernel} and {@link #shape} do
 * the same work, so the measured time of one answers for the other.
 *
 * <p>{@code T} stands for tokens (rows). Types are given to {@link #work}, because the same shape
 * is run in several.
 */
public sealed interface KernelCall {
  /** Name of the kernel's export, for example {@code gemm}. */
  String kernel();

  /** Shape as {@code name=value} pairs in a fixed order, for example {@code m=8 n=4096 k=1024}. */
  String shape();

  /** FLOPs and bytes of one call. */
  Work work(Precision precision);

  /**
   * FLOPs and bytes of one call with one type for everything.
   *
   * @param elementBytes size of an element of weights, activations and KV cache: 1, 2 or 4
   * @throws IllegalArgumentException if it is another
   */
  default Work work(int elementBytes) {
    return work(Precision.uniform(ElementType.ofBytes(elementBytes)));
  }

  /**
   * Whether its bytes cross the link between devices instead of the memory bus; {@link Work#bytes}
   * then counts what one device sends.
   */
  default boolean communicates() {
    return false;
  }

  /** Type of the operands of its arithmetic: decides which arithmetic roof applies. */
  default ElementType arithmetic(Precision precision) {
    return precision.activations();
  }

  /**
   * {@link #kernel} and {@link #shape} in one text: the key under which a measured time is found.
   */
  default String key() {
    return kernel() + " " + shape();
  }

  /**
   * Whether there is a call of this kernel here: of those that a model's step has. Benchmarks may
   * measure others.
   */
  static boolean isKnown(String kernel) {
    return KernelCallReader.knows(kernel);
  }

  /**
   * Reads what {@link #kernel} and {@link #shape} print.
   *
   * @throws IllegalArgumentException that names what is wrong and what is right
   */
  static KernelCall parse(String kernel, String shape) {
    return KernelCallReader.read(kernel, shape);
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
    public Work work(Precision precision) {
      return new Work(0, 2L * tokens * hidden * precision.activations().bytes() + 4L * tokens);
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
    public Work work(Precision precision) {
      long elements = (long) tokens * hidden;
      return new Work(4 * elements, (2 * elements + hidden) * precision.activations().bytes());
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
    public Work work(Precision precision) {
      long elements = (long) tokens * hidden;
      return new Work(5 * elements, (4 * elements + hidden) * precision.activations().bytes());
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
    public Work work(Precision precision) {
      long elements = (long) tokens * (heads.qHeads() + heads.kvHeads()) * heads.qkDim();
      long weights = norm ? 2L * heads.qkDim() : 0;
      long tables = 4L * tokens * (heads.qkDim() + 1);
      int size = precision.activations().bytes();
      return new Work((norm ? 7 : 3) * elements, (2 * elements + weights) * size + tables);
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
    public Work work(Precision precision) {
      long elements = (long) tokens * heads.kvHeads() * (heads.qkDim() + heads.vDim());
      int sizes = precision.activations().bytes() + precision.kvCache().bytes();
      return new Work(0, elements * sizes + 8L * tokens);
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
    public Work work(Precision precision) {
      return attentionWork(batch, heads, mask, precision);
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
    public Work work(Precision precision) {
      long pages = 0;
      RequestList list = batch.list();
      for (int i = 0; i < list.runs(); i++) {
        pages += list.count(i) * ((list.run(i).kvLen() + pageSize - 1L) / pageSize);
      }
      return attentionWork(batch, heads, mask, precision).plus(new Work(0, 4 * pages));
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
    public Work work(Precision precision) {
      long read = (long) m * k * precision.product().bytes();
      long weights = (long) n * k * precision.weights().bytes();
      long rest = ((long) m * n + (bias ? n : 0)) * precision.activations().bytes();
      long add = bias ? (long) m * n : 0;
      return new Work(2L * m * n * k + add, read + weights + rest);
    }

    @Override
    public ElementType arithmetic(Precision precision) {
      return precision.product();
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
    public Work work(Precision precision) {
      long outputs = (long) tokens * ffn;
      return new Work(5 * outputs, 3 * outputs * precision.activations().bytes());
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
    public Work work(Precision precision) {
      long elements = (long) tokens * vocab;
      return new Work(elements, elements * precision.activations().bytes() + 4L * tokens);
    }
  }

  /**
   * Softmax over the router's logits and choice of the {@code k} largest of each row: 5 FLOPs a
   * logit; a 4-byte weight and a 4-byte index written for each choice.
   *
   * @param tokens rows
   * @param experts logits of a row
   * @param k experts chosen for each row
   */
  record TopK(int tokens, int experts, int k) implements KernelCall {
    @Override
    public String kernel() {
      return "topk_softmax";
    }

    @Override
    public String shape() {
      return "t=" + tokens + " experts=" + experts + " k=" + k;
    }

    @Override
    public Work work(Precision precision) {
      long logits = (long) tokens * experts;
      return new Work(5 * logits, logits * precision.activations().bytes() + 8L * tokens * k);
    }
  }

  /**
   * The gated MLP of a mixture of experts, with the gathering of its inputs and the weighted sum of
   * its results: {@code k} experts a token, each with {@code gate}, {@code up} and {@code down}.
   *
   * <p>Bytes: the weights of the experts that are touched, each once; of {@code experts} with
   * {@code k} chosen at random for each of {@code T} tokens, {@code experts (1 - (1 - k /
   * experts)^T)} are touched on average (each token misses a given expert with probability {@code 1
   * - k / experts}). Each token's input and output cross once, the {@code 3 ffn} values between the
   * products once for each choice.
   *
   * @param tokens rows
   * @param hidden elements of a row
   * @param ffn inner size of an expert on this rank
   * @param experts experts of the layer
   * @param k experts a token
   */
  record FusedExperts(int tokens, int hidden, int ffn, int experts, int k) implements KernelCall {
    @Override
    public String kernel() {
      return "fused_experts";
    }

    @Override
    public String shape() {
      return "t=" + tokens + " h=" + hidden + " f=" + ffn + " experts=" + experts + " k=" + k;
    }

    /** Mean number of experts that at least one token is sent to. */
    public double touched() {
      return experts * -Math.expm1(tokens * Math.log1p(-(double) k / experts));
    }

    @Override
    public Work work(Precision precision) {
      long rows = (long) tokens * k;
      long weights = 3L * hidden * ffn;
      long flops = 2 * rows * weights + 5 * rows * ffn + 2 * rows * hidden;
      long values = 2L * tokens * hidden + 3 * rows * ffn;
      return new Work(
          flops,
          Math.round(touched() * weights) * precision.weights().bytes()
              + values * precision.activations().bytes());
    }

    @Override
    public ElementType arithmetic(Precision precision) {
      return precision.product();
    }
  }

  /**
   * Sum of a tensor over all ranks, the result on each. A ring sends {@code 2 (p - 1) / p} of the
   * tensor from each rank (Patarasuk and Yuan 2009: no algorithm sends less).
   *
   * @param elements elements of the tensor
   * @param ranks number of ranks, at least 2
   */
  record AllReduce(long elements, int ranks) implements KernelCall {
    /**
     * Checks the number of ranks.
     *
     * @throws IllegalArgumentException if there are fewer than two
     */
    public AllReduce {
      requireRanks(ranks);
    }

    @Override
    public String kernel() {
      return "all_reduce";
    }

    @Override
    public String shape() {
      return "elements=" + elements + " ranks=" + ranks;
    }

    @Override
    public boolean communicates() {
      return true;
    }

    @Override
    public Work work(Precision precision) {
      long bytes = elements * precision.activations().bytes();
      return new Work(0, 2 * bytes * (ranks - 1) / ranks);
    }
  }

  /**
   * Each rank's part of a tensor, joined on every rank: each rank sends {@code (p - 1) / p} of the
   * whole.
   *
   * @param elements elements of the whole tensor
   * @param ranks number of ranks, at least 2
   */
  record AllGather(long elements, int ranks) implements KernelCall {
    /**
     * Checks the number of ranks.
     *
     * @throws IllegalArgumentException if there are fewer than two
     */
    public AllGather {
      requireRanks(ranks);
    }

    @Override
    public String kernel() {
      return "all_gather";
    }

    @Override
    public String shape() {
      return "elements=" + elements + " ranks=" + ranks;
    }

    @Override
    public boolean communicates() {
      return true;
    }

    @Override
    public Work work(Precision precision) {
      long bytes = elements * precision.activations().bytes();
      return new Work(0, bytes * (ranks - 1) / ranks);
    }
  }

  private static void requireRanks(int ranks) {
    if (ranks < 2) {
      throw new IllegalArgumentException("Communication needs at least 2 ranks, not " + ranks);
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
  static Work attentionWork(BatchSpec batch, HeadGeometry heads, Mask mask, Precision precision) {
    long twicePairs = 0;
    RequestList list = batch.list();
    for (int i = 0; i < list.runs(); i++) {
      long q = list.run(i).qLen();
      long kv = list.run(i).kvLen();
      boolean all = mask == Mask.FULL || q == 1;
      twicePairs += list.count(i) * q * (all ? 2 * kv : (kv - q) + kv);
    }
    int dims = heads.qkDim() + heads.vDim();
    long flops = Math.multiplyExact(twicePairs, (long) heads.qHeads() * dims);
    long queries = (long) batch.totalQ() * heads.qHeads() * dims;
    long cached = batch.totalKv() * heads.kvHeads() * dims;
    return new Work(
        flops, queries * precision.activations().bytes() + cached * precision.kvCache().bytes());
  }

  private static String attentionShape(BatchSpec batch, HeadGeometry heads, Mask mask) {
    return "batch=" + batch + " heads=" + heads + (mask == Mask.CAUSAL ? " causal" : " full");
  }
}
