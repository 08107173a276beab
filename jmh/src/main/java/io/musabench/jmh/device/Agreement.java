package io.musabench.jmh.device;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Tensor;
import java.util.Arrays;
import java.util.List;

/**
 * How well values agree with a reference.
 *
 * @param values how many values were compared
 * @param worst the greatest error, as a part of what is allowed for that value; at most 1
 */
public record Agreement(long values, double worst) {
  /** Metric: how many values were compared. */
  public static final String VALUES = "check.values";

  /** Metric: the greatest error, as a part of what is allowed. */
  public static final String ERROR = "check.error";

  /**
   * Metric: 1 if the results of each session were compared bit for bit with those of an untimed
   * run, 0 if a second untimed run already differed in bits.
   */
  public static final String SAME_BITS = "check.same_bits";

  /** Nothing compared. */
  public static final Agreement NONE = new Agreement(0, 0);

  // A value may be off by 1 % of itself, which bf16's rounding of operands and result needs, and by
  // 1.5 % of the typical size of its row, because sums cancel. Rows much larger than one get no
  // more of the latter than rows of size one.
  private static final double RELATIVE = 1e-2;
  private static final double ABSOLUTE = 1.5e-2;

  private static final int PIECE_BYTES = 4096;
  private static final int MOST_PIECES = 1024;

  /** Both together. */
  public Agreement and(Agreement other) {
    return new Agreement(values + other.values, Math.max(worst, other.worst));
  }

  /**
   * Compares values that belong together, such as a row.
   *
   * @param what names the values in the error message
   * @throws WrongResultException when one is off by more than its tolerance, or not a number where
   *     the reference is one
   */
  public static Agreement compare(String what, double[] expected, float[] actual) {
    if (expected.length != actual.length) {
      throw new IllegalArgumentException(
          what + ": " + actual.length + " values against " + expected.length);
    }
    double squares = 0;
    for (double value : expected) {
      squares += Double.isFinite(value) ? value * value : 0;
    }
    double size = Math.min(1, Math.sqrt(squares / Math.max(1, expected.length)));
    double worst = 0;
    for (int i = 0; i < expected.length; i++) {
      if (expected[i] == actual[i]) { // Infinities of the same sign, too.
        continue;
      }
      double allowed = ABSOLUTE * size + RELATIVE * Math.abs(expected[i]);
      double part = Math.abs(actual[i] - expected[i]) / allowed;
      if (!(part <= 1)) {
        throw new WrongResultException(
            "%s[%d] is %g where the reference has %g (allowed: %g off)"
                .formatted(what, i, actual[i], expected[i], allowed));
      }
      worst = Math.max(worst, part);
    }
    return new Agreement(expected.length, worst);
  }

  /**
   * Checks that a poisoned tensor was written everywhere and holds nothing but numbers. Infinities
   * are numbers here: an empty row of attention has a logarithm of minus infinity.
   *
   * @throws WrongResultException when a value is missing
   */
  public static void requireWritten(String kernel, Tensor output) {
    if (output.dtype() == DType.U8) {
      return; // Every byte is a possible value; the comparison has to find what is missing.
    }
    if (output.dtype().isFloating()) {
      float[] values = output.toFloats();
      for (int i = 0; i < values.length; i++) {
        if (Float.isNaN(values[i])) {
          throw unwritten(kernel, output, i);
        }
      }
    } else {
      int[] values = output.toInts();
      for (int i = 0; i < values.length; i++) {
        if (values[i] == -1) {
          throw unwritten(kernel, output, i);
        }
      }
    }
  }

  /**
   * Compares two blocks of bytes, some pieces of them.
   *
   * @throws WrongResultException when a byte differs
   */
  public static Agreement requireSameBytes(String what, Tensor expected, Tensor actual) {
    long compared = 0;
    for (int piece : Rows.some(expected.elements() / PIECE_BYTES, MOST_PIECES)) {
      long first = (long) piece * PIECE_BYTES;
      byte[] wanted = expected.slice(0, first, first + PIECE_BYTES).toBytes();
      byte[] got = actual.slice(0, first, first + PIECE_BYTES).toBytes();
      int different = Arrays.mismatch(wanted, got);
      if (different >= 0) {
        throw new WrongResultException(what + ": byte " + (first + different) + " differs");
      }
      compared += PIECE_BYTES;
    }
    return new Agreement(compared, 0);
  }

  private static WrongResultException unwritten(String kernel, Tensor output, int index) {
    return new WrongResultException(
        "%s left element %d of its output %s unwritten or not a number"
            .formatted(kernel, index, output));
  }

  /** What a result file says about the check. */
  public List<Metric> metrics() {
    return List.of(
        new Metric(VALUES, "values", new double[] {values}),
        new Metric(ERROR, "of allowed", new double[] {worst}));
  }
}
