package io.musabench.results.calibration;

import java.util.SplittableRandom;

/**
 * Times of forks and their samples, drawn.
 *
 * <p>A sample is {@code 100 us · exp(drift + fork + within) · (1 + late)}: {@code fork} and {@code
 * within} are normal, and one sample in fifty is late by an exponential time of mean 2 %, as
 * timings have a tail to one side only.
 *
 * @param between standard deviation between forks, as a fraction
 * @param within standard deviation between samples of a fork, as a fraction
 * @param drift standard deviation, as a fraction, of what all forks of a block share: a block is a
 *     whole run where runs follow each other, and a pair where forks alternate
 * @param samples samples a fork
 */
public record Noise(double between, double within, double drift, int samples) {
  private static final double TIME_US = 100;
  private static final double LATE_SHARE = 0.02;
  private static final double LATE_MEAN = 0.02;

  /** Samples of the forks of one run, all in one block. */
  double[][] run(SplittableRandom random, int forks, double change) {
    double block = drift * random.nextGaussian();
    double[][] run = new double[forks][];
    for (int fork = 0; fork < forks; fork++) {
      run[fork] = fork(random, block, change);
    }
    return run;
  }

  /**
   * Samples of alternating forks: {@code [0]} the base, {@code [1]} the candidate, and forks of the
   * same index share a block.
   */
  double[][][] pairs(SplittableRandom random, int pairs, double change) {
    double[][][] both = new double[2][pairs][];
    for (int pair = 0; pair < pairs; pair++) {
      double block = drift * random.nextGaussian();
      both[0][pair] = fork(random, block, 0);
      both[1][pair] = fork(random, block, change);
    }
    return both;
  }

  private double[] fork(SplittableRandom random, double block, double change) {
    double level = Math.log1p(change) + block + between * random.nextGaussian();
    double[] fork = new double[samples];
    for (int i = 0; i < samples; i++) {
      double late =
          random.nextDouble() < LATE_SHARE ? -LATE_MEAN * Math.log1p(-random.nextDouble()) : 0;
      fork[i] = TIME_US * Math.exp(level + within * random.nextGaussian()) * (1 + late);
    }
    return fork;
  }
}
