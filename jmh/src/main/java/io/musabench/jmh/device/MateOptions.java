package io.musabench.jmh.device;

import io.musabench.bindings.mate.Backend;
import java.util.Locale;

/**
 * What a kernel engineer varies in mate's attention.
 *
 * @param backend which implementation
 * @param splits parts of the KV length; 0: mate's heuristic
 * @param packGqa whether the query heads of a KV head share a tile; null: mate's own rule
 * @param metadata whether the scheduler's metadata is computed beforehand
 * @param mpMargin multiprocessors left free
 */
public record MateOptions(
    Backend backend, int splits, Boolean packGqa, boolean metadata, int mpMargin) {

  /** mate as an engine runs it: everything its own choice, with scheduler metadata. */
  public static final MateOptions DEFAULT = new MateOptions(Backend.AUTO, 0, null, true, 0);

  /**
   * From the values of parameters.
   *
   * @param backend {@code auto}, {@code mubin} or {@code mutlass}
   * @param packGqa {@code auto}, {@code true} or {@code false}
   * @param metadata {@code with}, {@code without} or {@code only}
   */
  public static MateOptions of(
      String backend, int splits, String packGqa, String metadata, int mpMargin) {
    return new MateOptions(
        Backend.valueOf(backend.toUpperCase(Locale.ROOT)),
        splits,
        packGqa.equals("auto") ? null : Boolean.valueOf(packGqa),
        !metadata.equals("without"),
        mpMargin);
  }
}
