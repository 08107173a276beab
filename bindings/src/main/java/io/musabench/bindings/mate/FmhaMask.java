package io.musabench.bindings.mate;

/**
 * A mask as mate's kernels take it. They are compiled for no mask, a causal or a local one, and
 * their window arguments are never "unlimited": what has no limit reaches over the whole sequence.
 *
 * @param causal compiled for a causal mask
 * @param local compiled for a window or chunk
 * @param left keys visible before the query's own position
 * @param right keys visible after it
 * @param chunk the attention chunk; 0: none
 */
public record FmhaMask(boolean causal, boolean local, int left, int right, int chunk) {

  static FmhaMask of(FmhaConfig config) {
    int queries = config.maxSeqlenQ();
    int keys = config.maxSeqlenK();
    // One chunk over everything is none, where every sequence has this very length.
    boolean wholeInOneChunk =
        config.queries() == FmhaConfig.Queries.DENSE
            && config.keys() == FmhaConfig.Keys.DENSE
            && queries <= keys
            && config.attentionChunk() >= keys;
    int chunk = wholeInOneChunk ? 0 : config.attentionChunk();
    // A window that reaches over the whole sequence is none, and takes the kernels without one.
    int left = config.windowLeft() >= keys - 1 ? -1 : config.windowLeft();
    int right = config.windowRight() >= queries - 1 ? -1 : config.windowRight();
    if (config.causal()) {
      right = 0;
    }
    boolean causal = left < 0 && right == 0 && chunk == 0;
    boolean local = !causal && (left >= 0 || right >= 0 || chunk > 0);
    left = left < 0 ? keys - 1 : left;
    right = right < 0 ? queries - 1 : right;
    if (chunk > 0) {
      left = Math.min(left, chunk - 1);
      right = Math.min(right, chunk - 1);
    }
    return new FmhaMask(causal, local, left, right, chunk);
  }
}
