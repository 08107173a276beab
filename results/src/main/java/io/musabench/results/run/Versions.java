package io.musabench.results.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The software around a GPU without whose versions no number of it means anything: names of {@link
 * Environment#versions}, found on the machine or set by a label of the same name.
 */
public final class Versions {
  /** MUSA SDK. */
  public static final String MUSA_SDK = "musa_sdk";

  /** Kernel driver. */
  public static final String DRIVER = "driver";

  /** torch_musa. */
  public static final String TORCH_MUSA = "torch_musa";

  /** vllm-musa's release. */
  public static final String VLLM_MUSA = "vllm_musa";

  /** vllm-musa's commit. */
  public static final String VLLM_MUSA_COMMIT = "vllm_musa_commit";

  /** mate. */
  public static final String MATE = "mate";

  /** The card. */
  public static final String GPU_MODEL = "gpu_model";

  private Versions() {}

  /** All of them in one line; what is not known is {@code unknown}. */
  public static String line(Map<String, String> versions) {
    List<String> parts = new ArrayList<>();
    add(parts, "MUSA SDK", versions.get(MUSA_SDK));
    add(parts, "driver", versions.get(DRIVER));
    add(parts, "torch_musa", versions.get(TORCH_MUSA));
    String commit = versions.get(VLLM_MUSA_COMMIT);
    String release = versions.get(VLLM_MUSA);
    add(
        parts,
        "vllm-musa",
        commit == null
            ? (release == null ? null : release + " (commit unknown)")
            : (release == null ? "" : release + " ") + "commit " + shortened(commit));
    add(parts, "mate", versions.get(MATE));
    add(parts, "GPU", versions.get(GPU_MODEL));
    return String.join(", ", parts);
  }

  private static void add(List<String> parts, String name, String version) {
    parts.add(name + " " + (version == null ? "unknown" : version));
  }

  private static String shortened(String commit) {
    return commit.matches("[0-9a-f]{13,}") ? commit.substring(0, 12) : commit;
  }
}
