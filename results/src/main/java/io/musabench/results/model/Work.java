package io.musabench.results.model;

/**
 * What one run of a kernel has to do, whatever the implementation.
 *
 * <p>FLOPs count a multiply-add as two. Bytes are the least that must cross the memory bus when
 * nothing is cached: every operand read once, every result written once. GB/s and TFLOP/s use
 * 10<sup>9</sup> and 10<sup>12</sup>.
 *
 * @param flops floating-point operations
 * @param bytes bytes read and written
 */
public record Work(long flops, long bytes) {
  /** No work. */
  public static final Work NONE = new Work(0, 0);

  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if one is negative
   */
  public Work {
    if (flops < 0 || bytes < 0) {
      throw new IllegalArgumentException(
          "Work cannot be negative: " + flops + " FLOPs, " + bytes + " bytes");
    }
  }

  /** Both parts added. */
  public Work plus(Work other) {
    return new Work(Math.addExact(flops, other.flops), Math.addExact(bytes, other.bytes));
  }

  /** {@code n} times this work. */
  public Work times(long n) {
    return new Work(Math.multiplyExact(flops, n), Math.multiplyExact(bytes, n));
  }

  /** Gigabytes (10<sup>9</sup>) a second when this work takes {@code seconds}. */
  public double gbPerS(double seconds) {
    return bytes / seconds / 1e9;
  }

  /** Teraflops (10<sup>12</sup>) a second when this work takes {@code seconds}. */
  public double tflopPerS(double seconds) {
    return flops / seconds / 1e12;
  }
}
