package io.musabench.bindings.mate;

/**
 * The tile and pipeline of {@code fmha_fwd_*}, by the rules of mate's {@code fmha_utils.py}.
 *
 * @param tileM query rows of a tile; with packGqa, rows of all query heads of a KV head
 * @param tileN keys of a tile
 * @param stagesK tiles of K in flight
 * @param stagesV tiles of V in flight
 * @param qkDim head dimension of q and k, rounded up to one that kernels exist for
 * @param vDim that of v
 * @param consumers warp groups that multiply, for q·k and for p·v
 * @param packGqa whether the query heads of a KV head share a tile
 */
public record FmhaTiling(
    int tileM,
    int tileN,
    int stagesK,
    int stagesV,
    int qkDim,
    int vDim,
    int consumers,
    boolean packGqa) {

  private static final int[] DIMS = {64, 128, 192, 256, 384, 512};
  private static final int[] TILES = {32, 64, 128, 192, 256};
  private static final int TILE_N = 64;
  private static final int ROWS_OF_CONSUMER = 64;
  // mate packs where all rows fit the largest tile.
  private static final int MOST_PACKED_ROWS = 256;

  static FmhaTiling of(FmhaConfig config) {
    long rows = (long) config.maxSeqlenQ() * config.headRatio();
    boolean pack = config.packGqa() == null ? rows <= MOST_PACKED_ROWS : config.packGqa();
    int byRows = tileOf(pack ? rows : config.maxSeqlenQ());
    int qk = rounded(config.qkDim());
    int v = rounded(config.vDim());
    return switch (qk) {
      case 64, 128 -> tiling(byRows, 2, qk, v, pack);
      case 192 -> tiling(byRows, 1, qk, v, pack);
      case 256 -> pack ? tiling(32, 2, qk, v, true) : tiling(192, 1, qk, v, false);
      case 384 -> tiling(64, 1, qk, v, pack);
      default -> tiling(32, 1, qk, v, pack);
    };
  }

  private static FmhaTiling tiling(int tileM, int stages, int qk, int v, boolean pack) {
    int consumers = (tileM + ROWS_OF_CONSUMER - 1) / ROWS_OF_CONSUMER;
    return new FmhaTiling(tileM, TILE_N, stages, stages, qk, v, consumers, pack);
  }

  private static int tileOf(long rows) {
    for (int tile : TILES) {
      if (rows <= tile) {
        return tile;
      }
    }
    return TILES[TILES.length - 1];
  }

  /** A head dimension rounded up to one that kernels exist for. */
  static int rounded(int dim) {
    for (int known : DIMS) {
      if (dim <= known) {
        return known;
      }
    }
    return DIMS[DIMS.length - 1];
  }

  // Which pairs of rounded head dimensions mate has a tile for. 192/192 only in later commits than
  // the one this is written for, so it is left out.
  static void requireHeadDims(int qk, int v) {
    boolean known =
        qk > 0
            && v > 0
            && qk <= 512
            && v <= 512
            && (rounded(qk) == 192 ? rounded(v) == 128 : rounded(qk) == rounded(v));
    if (!known) {
      throw new IllegalArgumentException(
          "mate attention: no kernel for head dimensions "
              + qk
              + "/"
              + v
              + "; after rounding up they must be 64/64, 128/128, 192/128, 256/256, 384/384 or"
              + " 512/512");
    }
  }
}
