package io.musabench.results.model;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Heads of an attention kernel on one rank.
 *
 * <p>Written {@code q:kv:d} ({@code 64:8:128}), or {@code q:kv:dqk/dv} where keys and values differ
 * in size ({@code 128:128:192/128}).
 *
 * @param qHeads query heads
 * @param kvHeads key and value heads; divides {@code qHeads}
 * @param qkDim size of a query and of a key, in elements
 * @param vDim size of a value and of an output, in elements
 */
public record HeadGeometry(int qHeads, int kvHeads, int qkDim, int vDim) {
  private static final Pattern FORM =
      Pattern.compile("(\\d{1,6}):(\\d{1,6}):(\\d{1,6})(?:/(\\d{1,6}))?");

  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if a number is not positive or {@code kvHeads} does not divide
   *     {@code qHeads}
   */
  public HeadGeometry {
    if (qHeads < 1 || kvHeads < 1 || qkDim < 1 || vDim < 1) {
      throw new IllegalArgumentException(
          "Head geometry "
              + print(qHeads, kvHeads, qkDim, vDim)
              + " has a number below 1; a right one is 64:8:128 (query heads:kv heads:head size)");
    }
    if (qHeads % kvHeads != 0) {
      throw new IllegalArgumentException(
          "Head geometry "
              + print(qHeads, kvHeads, qkDim, vDim)
              + ": "
              + qHeads
              + " query heads cannot share "
              + kvHeads
              + " kv heads evenly; a right one is 64:8:128");
    }
  }

  /** Heads whose keys and values have the same size. */
  public HeadGeometry(int qHeads, int kvHeads, int headDim) {
    this(qHeads, kvHeads, headDim, headDim);
  }

  /**
   * Reads {@code q:kv:d} or {@code q:kv:dqk/dv}.
   *
   * @throws IllegalArgumentException that shows the wrong text and a right one
   */
  public static HeadGeometry parse(String text) {
    Matcher m = FORM.matcher(text);
    if (!m.matches()) {
      throw new IllegalArgumentException(
          "Head geometry \""
              + text
              + "\" is not of the form q:kv:d; a right one is 64:8:128 (or 128:128:192/128 where"
              + " keys and values differ)");
    }
    int d = Integer.parseInt(m.group(3));
    int v = m.group(4) == null ? d : Integer.parseInt(m.group(4));
    return new HeadGeometry(Integer.parseInt(m.group(1)), Integer.parseInt(m.group(2)), d, v);
  }

  /** Query heads that share one kv head. */
  public int group() {
    return qHeads / kvHeads;
  }

  /** The form that {@link #parse} reads. */
  @Override
  public String toString() {
    return print(qHeads, kvHeads, qkDim, vDim);
  }

  private static String print(int qHeads, int kvHeads, int qkDim, int vDim) {
    return qHeads + ":" + kvHeads + ":" + qkDim + (qkDim == vDim ? "" : "/" + vDim);
  }
}
