package io.musabench.bindings.kernels.reference;

import io.musabench.bindings.kernels.AttentionOptions;
import java.util.Arrays;

/** Attention in double precision: dense, varlen and paged, whole or a single row. */
public final class AttentionReference {
  private AttentionReference() {}

  /** Where the vectors of keys or values come from: an array, a paged cache, or a generator. */
  @FunctionalInterface
  public interface Vectors {
    /**
     * Reads one vector.
     *
     * @param position in the sequence, from 0
     * @param head KV head
     * @param into receives the head dimension's elements
     */
    void read(int position, int head, float[] into);
  }

  /** One query's result for one head: the output vector, and the natural log of the sum. */
  public record Row(double[] out, double lse) {}

  /**
   * A whole result.
   *
   * @param out in the layout of the kernel's out
   * @param lse in the layout of the kernel's lse
   */
  public record Result(double[] out, double[] lse) {}

  /**
   * Vectors that lie side by side in an array: [position, head, dimension].
   *
   * @param first the array index of position 0
   */
  public static Vectors dense(float[] values, int first, int heads, int headDim) {
    return (position, head, into) ->
        System.arraycopy(values, first + (position * heads + head) * headDim, into, 0, headDim);
  }

  /**
   * Vectors in a paged cache: [page, offset, head, dimension].
   *
   * @param firstPage the index in the page table of the sequence's first page
   */
  public static Vectors paged(
      float[] cache, int[] pageTable, int firstPage, int pageSize, int heads, int headDim) {
    return (position, head, into) -> {
      int slot = pageTable[firstPage + position / pageSize] * pageSize + position % pageSize;
      System.arraycopy(cache, (slot * heads + head) * headDim, into, 0, headDim);
    };
  }

  /**
   * One query of one head.
   *
   * @param query the query's vector
   * @param index the query's place among the sequence's queries
   * @param queries the sequence's queries
   * @param keys the sequence's keys
   * @param kvHead the KV head that the query's head reads
   * @param valueDim the head dimension of v and out
   */
  public static Row row(
      float[] query,
      int index,
      int queries,
      int keys,
      int kvHead,
      Vectors k,
      Vectors v,
      int valueDim,
      AttentionOptions options) {
    int first = options.firstKey(index, queries, keys);
    int end = options.endKey(index, queries, keys);
    double[] out = new double[valueDim];
    if (end <= first) {
      return new Row(out, Double.NEGATIVE_INFINITY);
    }
    double[] scores = new double[end - first];
    float[] vector = new float[query.length];
    double greatest = Double.NEGATIVE_INFINITY;
    for (int j = first; j < end; j++) {
      k.read(j, kvHead, vector);
      double score = 0;
      for (int d = 0; d < query.length; d++) {
        score += (double) query[d] * vector[d];
      }
      score *= options.softmaxScale();
      if (options.softcap() > 0) {
        score = options.softcap() * Math.tanh(score / options.softcap());
      }
      scores[j - first] = score;
      greatest = Math.max(greatest, score);
    }
    float[] value = new float[valueDim];
    double sum = 0;
    for (int j = first; j < end; j++) {
      double weight = Math.exp(scores[j - first] - greatest);
      sum += weight;
      v.read(j, kvHead, value);
      for (int d = 0; d < valueDim; d++) {
        out[d] += weight * value[d];
      }
    }
    for (int d = 0; d < valueDim; d++) {
      out[d] /= sum;
    }
    return new Row(out, greatest + Math.log(sum));
  }

  /** Heads and head dimensions of a case. */
  public record Heads(int query, int kv, int qkDim, int valueDim) {
    /** The KV head that a query head reads. */
    public int kvOf(int head) {
      return head / (query / kv);
    }
  }

  /** A dense batch: q [B, Sq, Hq, Dqk], k [B, Sk, Hkv, Dqk], v [B, Sk, Hkv, Dv]. */
  public static Result dense(
      float[] q,
      float[] k,
      float[] v,
      int batch,
      int queries,
      int keys,
      Heads heads,
      AttentionOptions options) {
    double[] out = new double[batch * queries * heads.query * heads.valueDim];
    double[] lse = new double[batch * heads.query * queries];
    for (int b = 0; b < batch; b++) {
      Vectors keyVectors = dense(k, b * keys * heads.kv * heads.qkDim, heads.kv, heads.qkDim);
      Vectors values = dense(v, b * keys * heads.kv * heads.valueDim, heads.kv, heads.valueDim);
      for (int i = 0; i < queries; i++) {
        for (int h = 0; h < heads.query; h++) {
          int token = b * queries + i;
          Row row =
              row(
                  queryOf(q, token, h, heads),
                  i,
                  queries,
                  keys,
                  heads.kvOf(h),
                  keyVectors,
                  values,
                  heads.valueDim,
                  options);
          put(row, token, h, heads, out);
          lse[(b * heads.query + h) * queries + i] = row.lse;
        }
      }
    }
    return new Result(out, lse);
  }

  /** Sequences end to end: q [Tq, Hq, Dqk], k [Tk, Hkv, Dqk], v [Tk, Hkv, Dv], lse [Hq, Tq]. */
  public static Result varlen(
      float[] q,
      float[] k,
      float[] v,
      int[] cuSeqlensQ,
      int[] cuSeqlensK,
      Heads heads,
      AttentionOptions options) {
    int batch = cuSeqlensQ.length - 1;
    Vectors[] keyVectors = new Vectors[batch];
    Vectors[] values = new Vectors[batch];
    int[] keys = new int[batch];
    for (int b = 0; b < batch; b++) {
      int first = cuSeqlensK[b] * heads.kv;
      keyVectors[b] = dense(k, first * heads.qkDim, heads.kv, heads.qkDim);
      values[b] = dense(v, first * heads.valueDim, heads.kv, heads.valueDim);
      keys[b] = cuSeqlensK[b + 1] - cuSeqlensK[b];
    }
    return sequences(q, cuSeqlensQ, keys, keyVectors, values, heads, options);
  }

  /**
   * Sequences over a paged cache: caches [pages, page size, Hkv, D], lse [Hq, Tq].
   *
   * @param pageTable [B, maxPages]
   * @param cuSeqlensQ null: one query a sequence
   */
  public static Result paged(
      float[] q,
      float[] kCache,
      float[] vCache,
      int[] pageTable,
      int pageSize,
      int[] sequsedK,
      int[] cuSeqlensQ,
      Heads heads,
      AttentionOptions options) {
    int batch = sequsedK.length;
    int maxPages = batch == 0 ? 0 : pageTable.length / batch;
    Vectors[] keyVectors = new Vectors[batch];
    Vectors[] values = new Vectors[batch];
    for (int b = 0; b < batch; b++) {
      keyVectors[b] = paged(kCache, pageTable, b * maxPages, pageSize, heads.kv, heads.qkDim);
      values[b] = paged(vCache, pageTable, b * maxPages, pageSize, heads.kv, heads.valueDim);
    }
    int[] cu = cuSeqlensQ;
    if (cu == null) {
      cu = new int[batch + 1];
      Arrays.setAll(cu, i -> i);
    }
    return sequences(q, cu, sequsedK, keyVectors, values, heads, options);
  }

  private static Result sequences(
      float[] q,
      int[] cuSeqlensQ,
      int[] keys,
      Vectors[] k,
      Vectors[] v,
      Heads heads,
      AttentionOptions options) {
    int total = cuSeqlensQ[cuSeqlensQ.length - 1];
    double[] out = new double[total * heads.query * heads.valueDim];
    double[] lse = new double[heads.query * total];
    for (int b = 0; b < keys.length; b++) {
      int queries = cuSeqlensQ[b + 1] - cuSeqlensQ[b];
      for (int i = 0; i < queries; i++) {
        int token = cuSeqlensQ[b] + i;
        for (int h = 0; h < heads.query; h++) {
          Row row =
              row(
                  queryOf(q, token, h, heads),
                  i,
                  queries,
                  keys[b],
                  heads.kvOf(h),
                  k[b],
                  v[b],
                  heads.valueDim,
                  options);
          put(row, token, h, heads, out);
          lse[h * total + token] = row.lse;
        }
      }
    }
    return new Result(out, lse);
  }

  private static float[] queryOf(float[] q, int token, int head, Heads heads) {
    int first = (token * heads.query + head) * heads.qkDim;
    return Arrays.copyOfRange(q, first, first + heads.qkDim);
  }

  private static void put(Row row, int token, int head, Heads heads, double[] out) {
    System.arraycopy(
        row.out, 0, out, (token * heads.query + head) * heads.valueDim, heads.valueDim);
  }
}
