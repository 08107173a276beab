package io.musabench.bindings.mate;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.mate.FmhaConfig.Keys;
import io.musabench.bindings.mate.FmhaConfig.Queries;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The commands that build a kernel of mate, for the text of a {@link MissingKernelException}.
 *
 * <p>{@code python -m mate.aot} builds fixed sets ahead of time, by level. A kernel outside of them
 * is built by itself through mate's own generator, into the cache that is searched too. Which level
 * covers what is read in mate's sources; neither command has been tried here.
 */
final class BuildCommands {
  private static final String ENVIRONMENT = "MATE_MUSA_ARCH_LIST=3.1 ";
  private static final Set<Integer> AOT_RATIOS = Set.of(1, 4, 5, 8, 12, 16);
  private static final Set<Integer> AOT_METADATA_RATIOS = Set.of(1, 2, 4, 5, 8, 12, 16);
  private static final int AOT_WARPS = 5;

  private BuildCommands() {}

  /** Everything that mate builds ahead of time at a level; 0 stands for no level. */
  static String aot(int level) {
    return ENVIRONMENT
        + "python -m mate.aot --attention-aot-level "
        + level
        + "  # in mate's source tree; fills its aot-ops, a folder for -D"
        + MateInstallation.DIR_PROPERTY;
  }

  static String forward(FmhaConfig config) {
    return command(forwardLevel(config), "fmha_fwd", "fwd", config.names().forwardKeys());
  }

  static String metadata(FmhaConfig config) {
    FmhaMask mask = config.mask();
    Map<String, Object> keys =
        Map.ofEntries(
            Map.entry("has_cu_seqlens_q", config.queries() == Queries.RAGGED),
            Map.entry("has_cu_seqlens_k", config.keys() == Keys.RAGGED),
            Map.entry("has_seqused_q", config.queries() == Queries.PADDED),
            Map.entry("has_seqused_k", hasSequsedK(config)),
            Map.entry("has_cu_seqlens_k_new", false),
            Map.entry("has_leftpad_k", false),
            Map.entry("is_causal", mask.causal()),
            Map.entry("is_local", mask.local()),
            Map.entry("is_packgqa", config.tiling().packGqa()),
            Map.entry("head_ratio", config.headRatio()),
            Map.entry("sort", true),
            Map.entry("num_warps", config.names().warps()));
    return command(metadataLevel(config), "fmha_get_metadata", "metadata", keys);
  }

  static String combine(FmhaConfig config, int splits) {
    Map<String, Object> keys =
        Map.of(
            "has_cu_seqlens_q",
            config.queries() == Queries.RAGGED,
            "has_seqused_q",
            config.queries() == Queries.PADDED,
            "element",
            config.names().forwardKeys().get("element"),
            "tile_m",
            16,
            "tile_n",
            config.tiling().tileN(),
            "max_splits",
            FmhaNames.combineSplits(splits));
    int level = config.dtype() == DType.BF16 ? 1 : 0;
    return command(level, "fmha_combine", "fwd_combine", keys);
  }

  private static boolean hasSequsedK(FmhaConfig config) {
    return config.keys() == Keys.PADDED || config.keys() == Keys.PAGED;
  }

  /** The lowest level of ahead-of-time kernels with the forward kernel; 0 if none has it. */
  static int forwardLevel(FmhaConfig config) {
    FmhaTiling tiling = config.tiling();
    FmhaMask mask = config.mask();
    // 192/128 is built at level 2, under a name that mate never looks for: its generator calls the
    // head dimensions uneven, its caller even. So it has no level.
    boolean dims = tiling.qkDim() == tiling.vDim() && tiling.vDim() == config.vDim();
    boolean sizes = tiling.qkDim() == 128 || tiling.qkDim() == 256;
    boolean every =
        config.dtype() == DType.BF16
            && dims
            && sizes
            && AOT_RATIOS.contains(config.headRatio())
            && config.queries() == Queries.RAGGED;
    if (!every) {
      return 0;
    }
    return config.keys() == Keys.DENSE || mask.local() || config.softcap() != 0 ? 2 : 1;
  }

  static int metadataLevel(FmhaConfig config) {
    boolean every =
        AOT_METADATA_RATIOS.contains(config.headRatio())
            && config.names().warps() <= AOT_WARPS
            && config.queries() != Queries.PADDED;
    if (!every) {
      return 0;
    }
    return config.queries() == Queries.DENSE || config.keys() == Keys.DENSE ? 2 : 1;
  }

  private static String command(
      int level, String module, String generator, Map<String, Object> keys) {
    String dictionary =
        keys.entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(entry -> '"' + entry.getKey() + "\": " + python(entry.getValue()))
            .collect(Collectors.joining(", ", "{", "}"));
    String function = "gen_fmha_" + generator + "_spec";
    String one =
        ENVIRONMENT
            + "python -c 'from mate.jit.attention.fmha."
            + module
            + " import "
            + function
            + "; print("
            + function
            + "("
            + dictionary
            + ").build())'";
    return level == 0
        ? one + "\n(no level of python -m mate.aot builds this kernel)"
        : aot(level) + "\nor only this kernel:\n" + one;
  }

  private static String python(Object value) {
    if (value instanceof Boolean truth) {
      return truth ? "True" : "False";
    }
    return value instanceof String ? "\"" + value + "\"" : String.valueOf(value);
  }
}
