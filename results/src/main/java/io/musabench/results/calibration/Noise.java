package io.musabench.results.calibration;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Times of forks and their samples, drawn.
 *
 * <p>A sample is {@code 100 us · exp(drift + gust + fork + within) · (1 + late)}: all four are
 * normal, and one sample in fifty is late by an exponential time of mean 2 %, as timings have a
 * tail to one side only. Samples come in turns of four, and a gust lasts for a turn: what is next
 * to it in time sees it too, what comes a second later does not.
 *
 * @param between standard deviation between forks, as a fraction
 * @param within standard deviation between samples of a fork, as a fraction
 * @param drift standard deviation, as a fraction, of what all forks of a block share: a block is a
 *     whole run where runs follow each other, and a pair where forks alternate
 * @param gusts standard deviation, as a fraction, of what the samples of a turn share, and with
 *     them those of the turn next to it where two forks measure in turns; no more than that
 * @param samples samples a fork
 */
public record Noise(double between, double within, double drift, double gusts, int samples) {
  private static final double TIME_US = 100;
  private static final double LATE_SHARE = 0.02;
  private static final double LATE_MEAN = 0.02;
  private static final int TURN_SAMPLES = 4;

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

  /** The same where the forks of a pair run at once and measure in turns. */
  double[][][] turns(SplittableRandom random, int pairs, double change) {
    double[][][] both = new double[2][pairs][];
    for (int pair = 0; pair < pairs; pair++) {
      double block = drift * random.nextGaussian();
      double[] gusts = gusts(random);
      both[0][pair] = fork(random, block, gusts, 0);
      both[1][pair] = fork(random, block, gusts, change);
    }
    return both;
  }

  /** In which turn each sample of a fork is taken, from 1. */
  static double[] turns(int samples) {
    return IntStream.range(0, samples).mapToDouble(i -> 1 + i / TURN_SAMPLES).toArray();
  }

  private double[] gusts(SplittableRandom random) {
    double[] all = new double[1 + (samples - 1) / TURN_SAMPLES];
    if (gusts > 0) { // Draws without them stay what they are.
      Arrays.setAll(all, turn -> gusts * random.nextGaussian());
    }
    return all;
  }

  private double[] fork(SplittableRandom random, double block, double change) {
    return fork(random, block, gusts(random), change);
  }

  private double[] fork(SplittableRandom random, double block, double[] gusts, double change) {
    double level = Math.log1p(change) + block + between * random.nextGaussian();
    double[] fork = new double[samples];
    for (int i = 0; i < samples; i++) {
      double late =
          random.nextDouble() < LATE_SHARE ? -LATE_MEAN * Math.log1p(-random.nextDouble()) : 0;
      double turn = level + gusts[i / TURN_SAMPLES];
      fork[i] = TIME_US * Math.exp(turn + within * random.nextGaussian()) * (1 + late);
    }
    return fork;
  }
}
