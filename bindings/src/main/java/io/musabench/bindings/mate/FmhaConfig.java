package io.musabench.bindings.mate;

import io.musabench.bindings.ffi.DType;

/**
 * What is asked of mate's attention: everything that decides which kernels run and how they are
 * called, apart from the tensors.
 *
 * <p>Build one with {@link #builder}. Lengths are in tokens. Masks are aligned at the bottom right,
 * as in {@link io.musabench.bindings.kernels.AttentionOptions}.
 *
 * @param dtype BF16 or F16, of q, k, v and out
 * @param batch sequences
 * @param qHeads query heads, a multiple of kvHeads
 * @param qkDim head dimension of q and k
 * @param vDim head dimension of v and out
 * @param queries how queries are laid out
 * @param keys how keys and values are laid out
 * @param maxSeqlenQ the most queries of a sequence
 * @param maxSeqlenK the most keys of a sequence; with PAGED, what a row of the page table holds
 * @param pageSize tokens of a page; 0 unless keys are PAGED. 64 takes mate's fast path
 * @param causal no key after the query's own position
 * @param windowLeft keys visible before the query's own position; negative: all
 * @param windowRight keys visible after the query's own position; negative: all
 * @param attentionChunk 0, or the tokens of a chunk outside of which nothing is visible
 * @param softcap 0, or c: scores become {@code c * tanh(score / c)}
 * @param packGqa whether the query heads of a KV head share a tile; null: mate's own rule
 * @param metadata whether the scheduler's metadata is computed beforehand; without it keys are not
 *     split
 * @param numSplits parts that a sequence's keys are split into; 0: mate's heuristic
 * @param mpMargin multiprocessors left free for other work
 */
public record FmhaConfig(
    DType dtype,
    int batch,
    int qHeads,
    int kvHeads,
    int qkDim,
    int vDim,
    Queries queries,
    Keys keys,
    int maxSeqlenQ,
    int maxSeqlenK,
    int pageSize,
    boolean causal,
    int windowLeft,
    int windowRight,
    int attentionChunk,
    double softcap,
    Boolean packGqa,
    boolean metadata,
    int numSplits,
    int mpMargin) {

  /** The page size that mate loads by its tensor memory engine; others go through plain loads. */
  public static final int FAST_PAGE_SIZE = 64;

  /** The most parts that a combine kernel exists for. */
  public static final int MOST_SPLITS = 128;

  /** How queries are laid out. */
  public enum Queries {
    /** [B, Sq, Hq, D]. */
    DENSE,
    /** [Tq, Hq, D], sequence b at cuSeqlensQ[b]. */
    RAGGED,
    /** [B, Sq, Hq, D], of which sequence b uses the first sequsedQ[b]. */
    PADDED
  }

  /** How keys and values are laid out. */
  public enum Keys {
    /** [B, Sk, Hkv, D]. */
    DENSE,
    /** [Tk, Hkv, D], sequence b at cuSeqlensK[b]. */
    RAGGED,
    /** [B, Sk, Hkv, D], of which sequence b uses the first sequsedK[b]. */
    PADDED,
    /** [pages, page size, Hkv, D] by a page table; sequence b has sequsedK[b] keys. */
    PAGED
  }

  /** Checks what can be checked without a device; throws {@link IllegalArgumentException}. */
  public FmhaConfig {
    require(dtype == DType.BF16 || dtype == DType.F16, "the dtype is BF16 or F16, not " + dtype);
    require(batch > 0, "a batch of " + batch);
    require(
        kvHeads > 0 && qHeads > 0 && qHeads % kvHeads == 0,
        qHeads + " query heads are no multiple of " + kvHeads + " KV heads");
    require(maxSeqlenQ > 0, "at most " + maxSeqlenQ + " queries");
    require(maxSeqlenK > 0, "at most " + maxSeqlenK + " keys");
    require(
        keys == Keys.PAGED ? pageSize > 0 : pageSize == 0,
        "a page size of " + pageSize + " with " + keys + " keys");
    require(
        keys != Keys.PAGED || maxSeqlenK % pageSize == 0,
        maxSeqlenK + " keys are no whole number of pages of " + pageSize);
    require(attentionChunk >= 0, "an attention chunk of " + attentionChunk);
    require(softcap >= 0 && Double.isFinite(softcap), "a softcap of " + softcap);
    require(
        numSplits >= 0 && numSplits <= MOST_SPLITS,
        numSplits + " splits; 0 to " + MOST_SPLITS + " are possible");
    require(
        metadata || numSplits <= 1,
        numSplits + " splits without scheduler metadata, which only computes whole sequences");
    require(mpMargin >= 0, "a margin of " + mpMargin + " multiprocessors");
    FmhaTiling.requireHeadDims(qkDim, vDim);
  }

  private static void require(boolean holds, String given) {
    if (!holds) {
      throw new IllegalArgumentException("mate attention: " + given);
    }
  }

  /** Starts a configuration: BF16, ragged queries, dense keys, no mask, no metadata. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder that starts from this configuration. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /** Query heads of a KV head. */
  public int headRatio() {
    return qHeads / kvHeads;
  }

  /** The tile and pipeline that mate chooses for it. */
  public FmhaTiling tiling() {
    return FmhaTiling.of(this);
  }

  /** The mask as mate's kernels take it. */
  public FmhaMask mask() {
    return FmhaMask.of(this);
  }

  /** The names of the kernels. */
  public FmhaNames names() {
    return new FmhaNames(this);
  }

  /** Why the assembler kernel cannot run this; empty if it can. */
  public String reasonAgainstMubin() {
    if (keys == Keys.PAGED) {
      return "keys are paged";
    }
    if (keys == Keys.PADDED || queries == Queries.PADDED) {
      return "lengths are given by seqused";
    }
    if ((queries == Queries.RAGGED) != (keys == Keys.RAGGED)) {
      return "one of queries and keys is ragged, the other is not";
    }
    if (windowLeft >= 0 || windowRight >= 0) {
      return "there is a window";
    }
    if (attentionChunk > 0) {
      return "there is an attention chunk";
    }
    if (softcap != 0) {
      return "there is a softcap";
    }
    boolean dims = qkDim == 192 && vDim == 128 || qkDim == vDim && qkDim <= 128;
    return dims
        ? ""
        : "head dimensions are " + qkDim + "/" + vDim + ", not 192/128 or equal and at most 128";
  }

  /** Sets what differs from the defaults. */
  public static final class Builder {
    private DType dtype = DType.BF16;
    private int batch = 1;
    private int qHeads = 1;
    private int kvHeads = 1;
    private int qkDim = 128;
    private int vDim = 128;
    private Queries queries = Queries.RAGGED;
    private Keys keys = Keys.DENSE;
    private int maxSeqlenQ = 1;
    private int maxSeqlenK = 1;
    private int pageSize;
    private boolean causal;
    private int windowLeft = -1;
    private int windowRight = -1;
    private int attentionChunk;
    private double softcap;
    private Boolean packGqa;
    private boolean metadata;
    private int numSplits;
    private int mpMargin;

    private Builder() {}

    private Builder(FmhaConfig from) {
      dtype = from.dtype;
      batch = from.batch;
      qHeads = from.qHeads;
      kvHeads = from.kvHeads;
      qkDim = from.qkDim;
      vDim = from.vDim;
      queries = from.queries;
      keys = from.keys;
      maxSeqlenQ = from.maxSeqlenQ;
      maxSeqlenK = from.maxSeqlenK;
      pageSize = from.pageSize;
      causal = from.causal;
      windowLeft = from.windowLeft;
      windowRight = from.windowRight;
      attentionChunk = from.attentionChunk;
      softcap = from.softcap;
      packGqa = from.packGqa;
      metadata = from.metadata;
      numSplits = from.numSplits;
      mpMargin = from.mpMargin;
    }

    /** Element type. */
    public Builder dtype(DType value) {
      dtype = value;
      return this;
    }

    /** Sequences. */
    public Builder batch(int value) {
      batch = value;
      return this;
    }

    /** Query and KV heads. */
    public Builder heads(int query, int kv) {
      qHeads = query;
      kvHeads = kv;
      return this;
    }

    /** Head dimensions of q and k, and of v. */
    public Builder headDims(int qk, int v) {
      qkDim = qk;
      vDim = v;
      return this;
    }

    /** Layout and greatest number of queries. */
    public Builder queries(Queries layout, int most) {
      queries = layout;
      maxSeqlenQ = most;
      return this;
    }

    /** Layout and greatest number of keys; not paged. */
    public Builder keys(Keys layout, int most) {
      keys = layout;
      maxSeqlenK = most;
      pageSize = 0;
      return this;
    }

    /** Paged keys: the page table's columns and the tokens of a page. */
    public Builder pagedKeys(int pagesOfRow, int tokensOfPage) {
      keys = Keys.PAGED;
      maxSeqlenK = Math.multiplyExact(pagesOfRow, tokensOfPage);
      pageSize = tokensOfPage;
      return this;
    }

    /** Causal or not. */
    public Builder causal(boolean value) {
      causal = value;
      return this;
    }

    /** The window; negative: no limit. */
    public Builder window(int left, int right) {
      windowLeft = left;
      windowRight = right;
      return this;
    }

    /** The attention chunk; 0: none. */
    public Builder attentionChunk(int value) {
      attentionChunk = value;
      return this;
    }

    /** The softcap; 0: none. */
    public Builder softcap(double value) {
      softcap = value;
      return this;
    }

    /** Whether a KV head's query heads share a tile; null: mate's own rule. */
    public Builder packGqa(Boolean value) {
      packGqa = value;
      return this;
    }

    /** Whether the scheduler's metadata is computed beforehand. */
    public Builder metadata(boolean value) {
      metadata = value;
      return this;
    }

    /** Parts of a sequence's keys; 0: mate's heuristic. */
    public Builder numSplits(int value) {
      numSplits = value;
      return this;
    }

    /** Multiprocessors left free. */
    public Builder mpMargin(int value) {
      mpMargin = value;
      return this;
    }

    /** The configuration; throws {@link IllegalArgumentException} if it makes no sense. */
    public FmhaConfig build() {
      return new FmhaConfig(
          dtype,
          batch,
          qHeads,
          kvHeads,
          qkDim,
          vDim,
          queries,
          keys,
          maxSeqlenQ,
          maxSeqlenK,
          pageSize,
          causal,
          windowLeft,
          windowRight,
          attentionChunk,
          softcap,
          packGqa,
          metadata,
          numSplits,
          mpMargin);
    }
  }
}
