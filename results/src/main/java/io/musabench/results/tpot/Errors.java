package io.musabench.results.tpot;

import java.util.Arrays;
import java.util.Collection;

/**
 * How far predictions are from measurements, as shares of the measurements.
 *
 * @param rows number of rows; the others are NaN if it is 0
 * @param mape mean of the errors without sign
 * @param bias mean of the errors; above 0 where predictions are too high
 * @param p90 nine in ten errors without sign are at most this
 */
public record Errors(int rows, double mape, double bias, double p90) {
  /** Of relative errors {@code predicted / measured - 1}. */
  public static Errors of(Collection<Double> errors) {
    if (errors.isEmpty()) {
      return new Errors(0, Double.NaN, Double.NaN, Double.NaN);
    }
    double[] sizes = errors.stream().mapToDouble(Math::abs).sorted().toArray();
    return new Errors(
        sizes.length,
        Arrays.stream(sizes).average().orElseThrow(),
        errors.stream().mapToDouble(e -> e).average().orElseThrow(),
        sizes[(int) Math.ceil(0.9 * sizes.length) - 1]);
  }
}
