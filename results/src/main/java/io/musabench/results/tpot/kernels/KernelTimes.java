package io.musabench.results.tpot.kernels;

import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Precision;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Time of any kernel: what the source says, or else what is assumed. Remembers every answer; safe
 * for any thread.
 */
public final class KernelTimes {
  private final KernelSource source;
  private final ConcurrentHashMap<Key, KernelTime> known = new ConcurrentHashMap<>();

  private record Key(KernelCall call, Precision precision) {}

  /** Times from a source, completed by {@link Fallback}. */
  public KernelTimes(KernelSource source) {
    this.source = source;
  }

  /** Where the times come from. */
  public KernelSource source() {
    return source;
  }

  /**
   * Time of one call.
   *
   * @throws IllegalArgumentException if the source does not know the kernel and has no roof from
   *     which to assume a time
   */
  public KernelTime of(KernelCall call, Precision precision) {
    Key key = new Key(call, precision);
    KernelTime time = known.get(key);
    return time != null ? time : known.computeIfAbsent(key, this::lookUp);
  }

  private KernelTime lookUp(Key key) {
    return source
        .time(key.call(), key.precision())
        .orElseGet(() -> Fallback.time(source.roofs(), key.call(), key.precision()));
  }
}
