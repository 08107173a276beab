package io.musabench.bindings.kernels.reference;

import io.musabench.bindings.ffi.DType;

/**
 * The kernels of a layer other than attention, in double precision. Functions take one row unless
 * they say otherwise.
 */
public final class LayerReference {
  private LayerReference() {}

  /** The dot product: one element of a GEMM, from a row of a and a row of b. */
  public static double dot(float[] a, float[] b) {
    return dot(a, 0, b, 0, a.length);
  }

  private static double dot(float[] a, int firstA, float[] b, int firstB, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
      sum += (double) a[firstA + i] * b[firstB + i];
    }
    return sum;
  }

  /** A whole GEMM: a [M, K] · b [N, K]ᵀ + bias [N] gives [M, N]; a null bias is none. */
  public static double[] gemm(float[] a, float[] b, float[] bias, int m, int n, int k) {
    double[] out = new double[m * n];
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        out[i * n + j] = dot(a, i * k, b, j * k, k) + (bias == null ? 0 : bias[j]);
      }
    }
    return out;
  }

  /** x / sqrt(mean(x²) + eps) * weight; a null weight is all ones. */
  public static double[] rmsNorm(float[] x, float[] weight, double eps) {
    double squares = 0;
    for (float value : x) {
      squares += (double) value * value;
    }
    double factor = 1 / Math.sqrt(squares / x.length + eps);
    double[] out = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      out[i] = x[i] * factor * (weight == null ? 1 : weight[i]);
    }
    return out;
  }

  /** x + residual as the kernel stores it: summed in F32, rounded to the element type. */
  public static float[] addResidual(float[] x, float[] residual, DType dtype) {
    float[] out = new float[x.length];
    for (int i = 0; i < x.length; i++) {
      out[i] = dtype.round(x[i] + residual[i]);
    }
    return out;
  }

  /**
   * One head of q or k: RMS norm, then the rotation of the pairs (i, i + D/2).
   *
   * @param head D elements
   * @param weight D elements; null: no norm
   * @param cosSin the position's row: D/2 cosines, then D/2 sines
   */
  public static double[] normRope(float[] head, float[] weight, float[] cosSin, double eps) {
    double[] x = new double[head.length];
    if (weight == null) {
      for (int i = 0; i < x.length; i++) {
        x[i] = head[i];
      }
    } else {
      x = rmsNorm(head, weight, eps);
    }
    int half = head.length / 2;
    double[] out = new double[head.length];
    for (int i = 0; i < half; i++) {
      double cos = cosSin[i];
      double sin = cosSin[half + i];
      out[i] = x[i] * cos - x[half + i] * sin;
      out[half + i] = x[half + i] * cos + x[i] * sin;
    }
    return out;
  }

  /**
   * The table of rotary positions: for each position D/2 cosines, then D/2 sines, of position *
   * theta^(-2i/D).
   */
  public static float[] cosSinTable(int positions, int headDim, double theta) {
    int half = headDim / 2;
    float[] table = new float[positions * headDim];
    for (int i = 0; i < half; i++) {
      double frequency = Math.pow(theta, -2.0 * i / headDim);
      for (int p = 0; p < positions; p++) {
        table[p * headDim + i] = (float) Math.cos(p * frequency);
        table[p * headDim + half + i] = (float) Math.sin(p * frequency);
      }
    }
    return table;
  }

  /** silu(first half) * second half. */
  public static double[] siluAndMul(float[] x) {
    int half = x.length / 2;
    double[] out = new double[half];
    for (int i = 0; i < half; i++) {
      out[i] = x[i] / (1 + Math.exp(-x[i])) * x[half + i];
    }
    return out;
  }

  /** The index of the greatest element; the lowest of equal ones. */
  public static int argmax(float[] logits) {
    int best = 0;
    for (int i = 1; i < logits.length; i++) {
      if (logits[i] > logits[best]) {
        best = i;
      }
    }
    return best;
  }
}
