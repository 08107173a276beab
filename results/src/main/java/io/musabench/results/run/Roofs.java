package io.musabench.results.run;

import io.musabench.results.model.Work;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * What the device reached in this run: the roofs that every "% of roof" refers to.
 *
 * @param readGbPerS best read bandwidth in 10<sup>9</sup> bytes a second, NaN if not measured
 * @param tflopPerS best arithmetic rate in 10<sup>12</sup> FLOPs a second, NaN if not measured
 */
public record Roofs(double readGbPerS, double tflopPerS) {
  /** Benchmark that measures the read bandwidth. */
  public static final String READ_BENCHMARK = "ReadBandwidth";

  /** Benchmark that measures the arithmetic rate. */
  public static final String FLOPS_BENCHMARK = "PeakFlops";

  /** Nothing measured. */
  public static final Roofs UNKNOWN = new Roofs(Double.NaN, Double.NaN);

  /** Which roof is the lower one for a piece of work. */
  public enum Bound {
    /** Bytes take longer than arithmetic. */
    READ_BANDWIDTH("read_bandwidth"),
    /** Arithmetic takes longer than bytes. */
    PEAK_FLOPS("peak_flops");

    private final String text;

    Bound(String text) {
      this.text = text;
    }

    /** Name in files. */
    public String text() {
      return text;
    }
  }

  /**
   * How close a measurement came to its roof.
   *
   * @param bound the roof that binds
   * @param percent the least possible time over the measured time, in per cent
   */
  public record Share(Bound bound, double percent) {}

  /**
   * The best of the roof cases of a run; of their parameters (streams, page sizes) only the cache
   * matters: what was read from a cache is no roof of the memory.
   */
  public static Roofs of(List<CaseResult> cases) {
    return new Roofs(
        best(
            cases.stream().filter(c -> !c.param(Params.CACHE).equals(Params.HOT)).toList(),
            READ_BENCHMARK,
            CaseResult::gbPerS),
        best(cases, FLOPS_BENCHMARK, CaseResult::tflopPerS));
  }

  private static double best(
      List<CaseResult> cases, String benchmark, ToDoubleFunction<CaseResult> rate) {
    return cases.stream()
        .filter(c -> c.ok() && c.shortName().equals(benchmark))
        .mapToDouble(rate)
        .filter(Double::isFinite)
        .max()
        .orElse(Double.NaN);
  }

  /** Whether a case is the one that a roof is from. */
  public boolean isRoof(CaseResult c) {
    return switch (c.shortName()) {
      case READ_BENCHMARK -> c.gbPerS() == readGbPerS;
      case FLOPS_BENCHMARK -> c.tflopPerS() == tflopPerS;
      default -> false;
    };
  }

  /**
   * Compares a measured time with the roofs: the roof that would take longer binds.
   *
   * @param seconds measured time of the work
   * @return null if the time, or a roof that the work needs, is not known
   */
  public Share share(Work work, double seconds) {
    double byBytes = work.bytes() == 0 ? 0 : work.bytes() / (readGbPerS * 1e9);
    double byFlops = work.flops() == 0 ? 0 : work.flops() / (tflopPerS * 1e12);
    double least = Math.max(byBytes, byFlops);
    if (!(least > 0) || !(seconds > 0)) {
      return null;
    }
    Bound bound = byBytes >= byFlops ? Bound.READ_BANDWIDTH : Bound.PEAK_FLOPS;
    return new Share(bound, 100 * least / seconds);
  }

  /**
   * {@link #share} of a case's median device time; null for a collective, whose bytes cross the
   * link between devices, which no roof here measures.
   */
  public Share share(CaseResult c) {
    return c.group().equals("collective") ? null : share(c.work(), c.deviceTimeMedianUs() * 1e-6);
  }
}
