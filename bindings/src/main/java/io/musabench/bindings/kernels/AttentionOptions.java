package io.musabench.bindings.kernels;

/**
 * What the attention kernels have in common.
 *
 * <p>Key {@code j} is visible to query {@code i} of a sequence with {@code q} queries and {@code k}
 * keys if {@code i + (k - q) - windowLeft <= j <= i + (k - q) + windowRight}; a negative window has
 * no limit, and causal sets {@code windowRight} to 0. So masks are aligned at the bottom right.
 *
 * @param softmaxScale factor of q·k
 * @param causal no key after the query's own position
 * @param windowLeft keys visible before the query's own position; negative: all
 * @param windowRight keys visible after the query's own position; negative: all
 * @param softcap 0, or c: scores become {@code c * tanh(score / c)}
 */
public record AttentionOptions(
    double softmaxScale, boolean causal, int windowLeft, int windowRight, double softcap) {

  /** Causal, no window, no softcap, scale 1/sqrt(headDim). */
  public static AttentionOptions causal(int headDim) {
    return new AttentionOptions(1 / Math.sqrt(headDim), true, -1, -1, 0);
  }

  /** Every key visible, no softcap, scale 1/sqrt(headDim). */
  public static AttentionOptions full(int headDim) {
    return new AttentionOptions(1 / Math.sqrt(headDim), false, -1, -1, 0);
  }

  /** The same with a window; negative: no limit. */
  public AttentionOptions withWindow(int left, int right) {
    return new AttentionOptions(softmaxScale, causal, left, right, softcap);
  }

  /** The same with a softcap; 0: none. */
  public AttentionOptions withSoftcap(double cap) {
    return new AttentionOptions(softmaxScale, causal, windowLeft, windowRight, cap);
  }

  /** The first key visible to a query, which may be past the last. */
  public int firstKey(int query, int queries, int keys) {
    return windowLeft < 0 ? 0 : Math.max(0, query + keys - queries - windowLeft);
  }

  /** One past the last key visible to a query; not above {@code keys}, and maybe not above 0. */
  public int endKey(int query, int queries, int keys) {
    if (!causal && windowRight < 0) {
      return keys;
    }
    int right = causal ? 0 : windowRight;
    return (int) Math.min(keys, (long) query + keys - queries + right + 1);
  }
}
