package io.musabench.results.compare;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * One case of a run, ready to be compared.
 *
 * @param id name that is the same in both runs: benchmark and parameters
 * @param benchmark benchmark without the parameters
 * @param params value of each parameter
 * @param unit unit of the file, for example {@code ns/op}; empty if there is no number
 * @param conditions what must be alike on both sides, by name; for example {@code driver}
 * @param forks the forks' medians, in microseconds of one operation
 * @param lostForks further forks, which crashed
 * @param clocks clock of the device in each fork in MHz, in the same order; empty if not known
 * @param resolution resolution of the clock over the span of one sample, as a fraction; 0 if it
 *     does not matter
 * @param failure why there is no number, in one line; empty if there is one
 * @param problem why the number cannot be used, in one line; empty if it can
 */
public record MeasuredCase(
    String id,
    String benchmark,
    SortedMap<String, String> params,
    String unit,
    SortedMap<String, String> conditions,
    List<ForkMedian> forks,
    int lostForks,
    List<ForkMedian> clocks,
    double resolution,
    String failure,
    String problem) {

  /** Copies the collections. */
  public MeasuredCase {
    params = Collections.unmodifiableSortedMap(new TreeMap<>(params));
    conditions = Collections.unmodifiableSortedMap(new TreeMap<>(conditions));
    forks = List.copyOf(forks);
    clocks = List.copyOf(clocks);
  }

  /** The same case, unusable. */
  MeasuredCase withProblem(String text) {
    return new MeasuredCase(
        id,
        benchmark,
        params,
        unit,
        conditions,
        forks,
        lostForks,
        clocks,
        resolution,
        failure,
        text);
  }

  /** Geometric mean of the forks' medians in microseconds; NaN without forks. */
  public double timeUs() {
    return forks.isEmpty() ? Double.NaN : Math.exp(Centre.of(forks).log());
  }

  /** Half the width of its 95 % interval as a fraction; NaN with fewer than two forks. */
  public double halfWidth() {
    return forks.isEmpty() ? Double.NaN : Centre.of(forks).halfWidth(Judge.LEVEL);
  }
}
