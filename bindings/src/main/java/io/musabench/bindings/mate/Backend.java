package io.musabench.bindings.mate;

/** Which of mate's attention implementations runs. */
public enum Backend {
  /** mate's own choice: MUBIN where it can, else MUTLASS. */
  AUTO,
  /** The assembler kernel {@code flash_atten_varlen_asm}: dense or ragged, full or causal. */
  MUBIN,
  /** The generated kernels {@code fmha_fwd_*}: every configuration. */
  MUTLASS;

  /**
   * The implementation that this choice means for a configuration.
   *
   * @throws IllegalArgumentException for MUBIN, if it cannot run the configuration; the text says
   *     why
   */
  public Backend resolve(FmhaConfig config) {
    String reason = config.reasonAgainstMubin();
    if (this == MUBIN && !reason.isEmpty()) {
      throw new IllegalArgumentException("backend mubin cannot run this: " + reason);
    }
    return this == AUTO ? (reason.isEmpty() ? MUBIN : MUTLASS) : this;
  }
}
