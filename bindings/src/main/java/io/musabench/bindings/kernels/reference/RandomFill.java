package io.musabench.bindings.kernels.reference;

/**
 * The numbers that the kernel {@code random_fill} writes, before rounding to the element type.
 *
 * <p>Element {@code i} is {@code scale * z}, where z is the sum of the four bytes of a 32-bit hash
 * of (seed, i), minus 510, divided by 147.8: mean 0, standard deviation 1, range about ±3.45. Every
 * implementation gives the same bits, so a check can make any element again without reading it.
 */
public final class RandomFill {
  private RandomFill() {}

  /**
   * One element.
   *
   * @param seed its low 32 bits count
   * @param index the linear element index; its high 32 bits are mixed into the seed
   */
  public static float value(long seed, long index, double scale) {
    int hash = hash((int) index * 0x9E3779B9 + ((int) seed ^ (int) (index >>> 32)) * 0x85EBCA6B);
    int sum = (hash & 0xff) + (hash >>> 8 & 0xff) + (hash >>> 16 & 0xff) + (hash >>> 24);
    return (float) scale * ((sum - 510) / 147.8f);
  }

  /** Elements {@code first} to {@code first + count - 1}. */
  public static float[] values(long seed, long first, int count, double scale) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = value(seed, first + i, scale);
    }
    return values;
  }

  // The finaliser of MurmurHash3, a bijection that changes about half the bits for each input bit.
  private static int hash(int value) {
    int h = value;
    h ^= h >>> 16;
    h *= 0x85EBCA6B;
    h ^= h >>> 13;
    h *= 0xC2B2AE35;
    h ^= h >>> 16;
    return h;
  }
}
