package io.musabench.jmh.cli;

import io.musabench.results.run.CpuTimes;
import java.util.Optional;

/** What others do with the CPUs while something is measured. */
final class OtherWork {
  private final Optional<CpuTimes> begin = CpuTimes.now();

  /** What they did since this was made; forks that are still running count as others. */
  CpuTimes.Others soFar() {
    Optional<CpuTimes> now = CpuTimes.now();
    return begin.isPresent() && now.isPresent()
        ? now.get().since(begin.get())
        : CpuTimes.Others.UNKNOWN;
  }
}
