package io.musabench.results.stopping;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Enough when further samples no longer change the shape of the distribution: when the Shannon
 * entropy of the histogram of all samples so far has stayed within a tolerance over the latter half
 * of them.
 *
 * <p>Where the mean settles before the distribution does, such as for a kernel with two speeds, it
 * goes on longer than {@link RelativeStandardError}. NVBench's criterion of the same name takes the
 * entropy of exact times and the slope of a line through it; a clock of nanoseconds hardly gives
 * the same time twice, so times within half a per cent are the same here.
 *
 * <p>Worked numbers: equal times have entropy 0 and stop at the floor. Of {@code k} equally likely
 * bins the estimate is low by about {@code (k - 1) / (2 n ln 2)} bits (Miller 1955), so 0.05 bit
 * takes about {@code 14 (k - 1)} samples.
 */
public final class Entropy implements StoppingCriterion {
  // Fewer samples than this leave most histograms with one sample a bin.
  private static final int LEAST = 32;
  private static final double LOG_BIN = Math.log(1.005);

  private final double tolerance;
  private final Map<Long, Integer> bins = new HashMap<>();
  private double[] history = new double[64]; // history[i]: bits after i + 1 samples
  private int count;
  private double sum; // over bins of c * log2(c)

  /**
   * @param tolerance by how many bits the entropy may still move
   */
  public Entropy(double tolerance) {
    if (!(tolerance > 0 && tolerance < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("must be a number of bits above 0");
    }
    this.tolerance = tolerance;
  }

  @Override
  public void add(double nanos) {
    long bin = Math.round(Math.log(nanos) / LOG_BIN);
    int before = bins.getOrDefault(bin, 0);
    bins.put(bin, before + 1);
    sum += weight(before + 1) - weight(before);
    count++;
    if (count > history.length) {
      history = Arrays.copyOf(history, 2 * history.length);
    }
    history[count - 1] = bits();
  }

  private static double weight(int n) {
    return n == 0 ? 0 : n * log2(n);
  }

  private static double log2(double value) {
    return Math.log(value) / Math.log(2);
  }

  /** The entropy of the histogram in bits: {@code log2(n) - (sum of c log2 c) / n}. */
  public double bits() {
    return count == 0 ? 0 : Math.max(0, log2(count) - sum / count);
  }

  /** By how many bits the entropy moved over the latter half of the samples. */
  private double movement() {
    double low = Double.POSITIVE_INFINITY;
    double high = Double.NEGATIVE_INFINITY;
    for (int i = count / 2; i < count; i++) {
      low = Math.min(low, history[i]);
      high = Math.max(high, history[i]);
    }
    return high - low;
  }

  @Override
  public boolean met() {
    return count >= LEAST && movement() <= tolerance;
  }

  @Override
  public int missing() {
    return Math.max(LEAST - count, Math.max(1, count / 2));
  }

  @Override
  public String unmet() {
    return count < LEAST
        ? "entropy known from %d samples only, %d are needed".formatted(count, LEAST)
        : "entropy still moves by %s > %s bit"
            .formatted(Digits.three(movement()), Digits.three(tolerance));
  }

  /** {@code entropy} or {@code entropy:0.02}. */
  public static final class Provider implements StoppingCriterionProvider {
    private static final double DEFAULT = 0.05;

    @Override
    public String name() {
      return "entropy";
    }

    @Override
    public String help() {
      return "entropy:0.05: the distribution's entropy moves by at most 0.05 bit over half of the"
          + " samples";
    }

    @Override
    public StoppingCriterion create(String argument) {
      try {
        return new Entropy(argument.isEmpty() ? DEFAULT : Double.parseDouble(argument));
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("write a number of bits such as entropy:0.05", e);
      }
    }
  }
}
