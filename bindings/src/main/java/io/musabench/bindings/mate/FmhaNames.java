package io.musabench.bindings.mate;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.mate.FmhaConfig.Keys;
import io.musabench.bindings.mate.FmhaConfig.Queries;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The names of mate's generated attention kernels. A name is that of the export and of the file it
 * is in.
 *
 * <p>The forward kernel is named by the SHA-256 of its configuration, written as Python's {@code
 * json.dumps(config, sort_keys=True)} writes it; the other two by their configuration in words.
 */
public final class FmhaNames {
  // A warp of the metadata kernel handles so many sequences; more warps than this are not compiled.
  private static final int SEQUENCES_OF_WARP = 31;
  private static final int MOST_WARPS = 32;
  private static final int[] COMBINE_SPLITS = {16, 32, 64, 128};

  private final FmhaConfig config;
  private final FmhaTiling tiling;
  private final FmhaMask mask;

  FmhaNames(FmhaConfig config) {
    this.config = config;
    this.tiling = config.tiling();
    this.mask = config.mask();
  }

  /** The forward kernel, {@code fmha_fwd_<sha256>}. */
  public String forward() {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(json().getBytes(StandardCharsets.UTF_8));
      return "fmha_fwd_" + HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible); // every Java platform has SHA-256
    }
  }

  /** The kernel that computes the scheduler's metadata. */
  public String metadata() {
    StringBuilder name = new StringBuilder("fmha_get_metadata_");
    name.append(config.headRatio()).append('x').append(warps());
    name.append(
        switch (config.queries()) {
          case DENSE -> "";
          case RAGGED -> "_ragged_q";
          case PADDED -> "_padded_q";
        });
    name.append(
        switch (config.keys()) {
          case DENSE -> "";
          case RAGGED -> "_ragged_k";
          case PADDED, PAGED -> "_padded_k";
        });
    if (mask.causal()) {
      name.append("_causal");
    } else if (mask.local()) {
      name.append("_local");
    }
    if (tiling.packGqa()) {
      name.append("_packgqa");
    }
    return name.toString();
  }

  /**
   * The kernel that combines the parts of split sequences.
   *
   * @param splits the number that the forward kernel returned, at most 128
   */
  public String combine(int splits) {
    // mate: 8, 16 or 32 rows for tiles of 128, 64 or 32 keys; all tiles here have 64.
    int rows = 16;
    return "fmha_fwd_combine_"
        + (config.dtype() == DType.BF16 ? "bf16" : "f16")
        + "_"
        + rows
        + "x"
        + tiling.tileN()
        + "x"
        + combineSplits(splits)
        + switch (config.queries()) {
          case DENSE -> "";
          case RAGGED -> "_ragged_q";
          case PADDED -> "_padded_q";
        };
  }

  /** The bound on splits of the combine kernel for so many. */
  static int combineSplits(int splits) {
    for (int bound : COMBINE_SPLITS) {
      if (splits >= 1 && splits <= bound) {
        return bound;
      }
    }
    throw new IllegalArgumentException(
        "mate attention: no combine kernel for " + splits + " splits; 1 to 128 are possible");
  }

  /** Warps of the metadata kernel. */
  int warps() {
    return Math.min((config.batch() + SEQUENCES_OF_WARP - 1) / SEQUENCES_OF_WARP, MOST_WARPS);
  }

  /** The forward kernel's configuration: mate's keys, in the order in which they are hashed. */
  public SortedMap<String, Object> forwardKeys() {
    boolean paged = config.keys() == Keys.PAGED;
    TreeMap<String, Object> keys = new TreeMap<>();
    keys.put("consumers_pv", tiling.consumers());
    keys.put("consumers_qk", tiling.consumers());
    keys.put("element", config.dtype() == DType.BF16 ? "mutlass::bfloat16_t" : "mutlass::half_t");
    keys.put("enable_cp", false);
    keys.put("force_lsu_kv", paged && config.pageSize() != FmhaConfig.FAST_PAGE_SIZE);
    keys.put("has_attention_chunk", mask.chunk() > 0);
    keys.put("has_cu_seqlens_k", config.keys() == Keys.RAGGED);
    keys.put("has_cu_seqlens_k_new", false);
    keys.put("has_cu_seqlens_q", config.queries() == Queries.RAGGED);
    keys.put("has_kv_batch_idx", false);
    keys.put("has_learnable_sink", false);
    keys.put("has_leftpad_k", false);
    keys.put("has_metadata", config.metadata());
    keys.put("has_seqlens_rotary", false);
    keys.put("has_seqused_k", paged || config.keys() == Keys.PADDED);
    keys.put("has_seqused_q", config.queries() == Queries.PADDED);
    keys.put("has_softcap", config.softcap() != 0);
    keys.put("head_dim_qk", tiling.qkDim());
    keys.put("head_dim_vo", tiling.vDim());
    keys.put("head_ratio", config.headRatio());
    keys.put("is_append_kv", false);
    keys.put("is_causal", mask.causal());
    keys.put("is_even_headdim", tiling.vDim() == config.vDim());
    keys.put("is_local", mask.local());
    keys.put("is_packgqa", tiling.packGqa());
    keys.put("is_rotary", false);
    keys.put("is_rotary_interleaved", false);
    keys.put("paged_kv", paged);
    keys.put("stages_k", tiling.stagesK());
    keys.put("stages_v", tiling.stagesV());
    keys.put("tile_m", tiling.tileM());
    keys.put("tile_n", tiling.tileN());
    return keys;
  }

  private String json() {
    return forwardKeys().entrySet().stream()
        .map(FmhaNames::member)
        .collect(Collectors.joining(", ", "{", "}"));
  }

  private static String member(Map.Entry<String, Object> entry) {
    Object value = entry.getValue();
    return '"' + entry.getKey() + "\": " + (value instanceof String ? "\"" + value + "\"" : value);
  }
}
