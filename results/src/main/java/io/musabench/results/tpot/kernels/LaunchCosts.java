package io.musabench.results.tpot.kernels;

import io.musabench.results.tpot.Provenance;

/**
 * What launching costs. A figure that is not known is NaN.
 *
 * @param perKernelSeconds host time to launch one kernel
 * @param perNodeSeconds device time that a node of a graph takes beyond its kernel
 * @param replaySeconds host time to replay one graph
 * @param setUpPerNodeSeconds host time to capture, instantiate and upload a graph, over its nodes
 * @param provenance how they were got
 */
public record LaunchCosts(
    double perKernelSeconds,
    double perNodeSeconds,
    double replaySeconds,
    double setUpPerNodeSeconds,
    Provenance provenance) {
  /** Without the cost of setting up a graph. */
  public LaunchCosts(
      double perKernelSeconds, double perNodeSeconds, double replaySeconds, Provenance provenance) {
    this(perKernelSeconds, perNodeSeconds, replaySeconds, Double.NaN, provenance);
  }
}
