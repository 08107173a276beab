package io.musabench.results.tpot.kernels;

import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.kernels.KernelTime.OtherTypes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * Time of any kernel: what the source says, or else what is assumed. Remembers its answers; safe
 * for any thread.
 */
public final class KernelTimes {
  /** Answers remembered; a sweep over contexts makes a new attention call for each. */
  private static final int MOST = 1 << 18;

  private final KernelSource source;
  private final Link link;
  private final ConcurrentHashMap<Key, KernelTime> known = new ConcurrentHashMap<>();
  private final Set<String> assumed = new ConcurrentSkipListSet<>();

  /** What counts for kernels that were not measured in the types asked for, with the kernels. */
  private final Map<OtherTypes, Set<String>> otherTypes = new ConcurrentHashMap<>();

  private record Key(KernelCall call, Precision precision) {}

  /** Times from a source; what it does not know is assumed to reach its roof. */
  public KernelTimes(KernelSource source) {
    this(source, null);
  }

  /**
   * The same with communication over a link that is described.
   *
   * @param link in place of what the source says of communication; null: what it says
   */
  public KernelTimes(KernelSource source, Link link) {
    this.source = source;
    this.link = link;
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
    if (time == null) {
      time = lookUp(call, precision);
      if (known.size() >= MOST) {
        known.clear();
      }
      known.put(key, time);
    }
    return time;
  }

  private KernelTime lookUp(KernelCall call, Precision precision) {
    if (link != null && call.communicates()) {
      return link.time(call, precision);
    }
    KernelTime time =
        source
            .time(call, precision)
            .orElseGet(() -> Fallback.time(source.roofs(), call, precision));
    if (time.provenance() == Provenance.ASSUMED) {
      assumed.add(call.kernel() + " (" + time.from() + ")");
    }
    if (time.otherTypes() != null) {
      otherTypes
          .computeIfAbsent(time.otherTypes(), t -> new ConcurrentSkipListSet<>())
          .add(call.kernel());
    }
    return time;
  }

  /**
   * Kernels that were asked for so far in types in which nobody measured them, in lines that say
   * which times count; sorted.
   */
  public List<String> inOtherTypes() {
    List<String> lines = new ArrayList<>();
    otherTypes.forEach(
        (types, kernels) ->
            lines.add(
                String.join(", ", kernels)
                    + ": not measured in the types asked for; the times in "
                    + types.measured()
                    + " count"
                    + (types.scaled() ? ", at the same share of the roof" : " as they are")));
    lines.sort(null);
    return lines;
  }

  /**
   * Kernels that were asked for so far and that nobody measured, each with what its time was
   * assumed from, but for communication over a link that was given; sorted.
   */
  public List<String> assumed() {
    return List.copyOf(assumed);
  }
}
