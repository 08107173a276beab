package io.musabench.bindings.mate;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.mate.FmhaConfig.Keys;
import io.musabench.bindings.mate.FmhaConfig.Queries;
import java.util.Arrays;

/**
 * The tensors of one attention, laid out as its {@link FmhaConfig} says. The generated kernels
 * check none of them, so {@link Mate#attention} does, as mate's Python code does.
 *
 * <p>X is BF16 or F16. The last dimension of each is contiguous, other strides of q, k, v and out
 * are free; index tensors and lse are contiguous.
 *
 * @param q X [B, Sq, Hq, Dqk], ragged [Tq, Hq, Dqk]
 * @param k X [B, Sk, Hkv, Dqk], ragged [Tk, Hkv, Dqk], paged [pages, page size, Hkv, Dqk]
 * @param v X like k, with Dv
 * @param out X like q, with Dv
 * @param lse F32 [B, Hq, Sq], ragged [Hq, Tq]; natural logarithm
 * @param cuSeqlensQ I32 [B+1] with ragged queries, else null
 * @param cuSeqlensK I32 [B+1] with ragged keys, else null
 * @param sequsedQ I32 [B] with padded queries, else null
 * @param sequsedK I32 [B] with padded or paged keys, else null; keys of the queries included
 * @param pageTable I32 [B, pages of the longest sequence] with paged keys, else null; its rows may
 *     have a stride
 */
public record FmhaTensors(
    Tensor q,
    Tensor k,
    Tensor v,
    Tensor out,
    Tensor lse,
    Tensor cuSeqlensQ,
    Tensor cuSeqlensK,
    Tensor sequsedQ,
    Tensor sequsedK,
    Tensor pageTable) {

  /** Queries and keys of equal lengths in every sequence. */
  public static FmhaTensors dense(Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse) {
    return new FmhaTensors(q, k, v, out, lse, null, null, null, null, null);
  }

  /** Sequences of any lengths laid end to end. */
  public static FmhaTensors ragged(
      Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse, Tensor cuSeqlensQ, Tensor cuSeqlensK) {
    return new FmhaTensors(q, k, v, out, lse, cuSeqlensQ, cuSeqlensK, null, null, null);
  }

  /**
   * Keys in a paged cache.
   *
   * @param cuSeqlensQ null: queries are dense
   */
  public static FmhaTensors paged(
      Tensor q,
      Tensor kCache,
      Tensor vCache,
      Tensor out,
      Tensor lse,
      Tensor cuSeqlensQ,
      Tensor sequsedK,
      Tensor pageTable) {
    return new FmhaTensors(
        q, kCache, vCache, out, lse, cuSeqlensQ, null, null, sequsedK, pageTable);
  }

  /** Throws {@link IllegalArgumentException} naming the first tensor that does not fit. */
  void check(FmhaConfig c) {
    long batch = c.batch();
    boolean raggedQ = c.queries() == Queries.RAGGED;
    long tokens = raggedQ && q.rank() == 3 ? q.shape(0) : -1;
    element("q", q, c, queries(raggedQ, tokens, c, c.qkDim()));
    element("out", out, c, queries(raggedQ, tokens, c, c.vDim()));
    contiguous(
        "lse",
        lse,
        DType.F32,
        raggedQ ? new long[] {c.qHeads(), tokens} : new long[] {batch, c.qHeads(), c.maxSeqlenQ()});
    element("k", k, c, keys(k, c, c.qkDim()));
    element("v", v, c, keys(k, c, c.vDim()));
    index("cuSeqlensQ", cuSeqlensQ, raggedQ, batch + 1);
    index("cuSeqlensK", cuSeqlensK, c.keys() == Keys.RAGGED, batch + 1);
    index("sequsedQ", sequsedQ, c.queries() == Queries.PADDED, batch);
    index("sequsedK", sequsedK, c.keys() == Keys.PADDED || c.keys() == Keys.PAGED, batch);
    boolean paged = c.keys() == Keys.PAGED;
    present("pageTable", pageTable, paged);
    if (paged) {
      type("pageTable", pageTable, DType.I32);
      shape("pageTable", pageTable, batch, c.maxSeqlenK() / c.pageSize());
      inner("pageTable", pageTable);
    }
  }

  private static long[] queries(boolean ragged, long tokens, FmhaConfig c, int dim) {
    return ragged
        ? new long[] {tokens, c.qHeads(), dim}
        : new long[] {c.batch(), c.maxSeqlenQ(), c.qHeads(), dim};
  }

  private static long[] keys(Tensor k, FmhaConfig c, int dim) {
    return switch (c.keys()) {
      case DENSE, PADDED -> new long[] {c.batch(), c.maxSeqlenK(), c.kvHeads(), dim};
      case RAGGED -> new long[] {k.shape(0), c.kvHeads(), dim};
      case PAGED -> new long[] {k.shape(0), c.pageSize(), c.kvHeads(), dim};
    };
  }

  private static void element(String name, Tensor tensor, FmhaConfig c, long... wanted) {
    present(name, tensor, true);
    type(name, tensor, c.dtype());
    shape(name, tensor, wanted);
    inner(name, tensor);
  }

  private static void index(String name, Tensor tensor, boolean wanted, long extent) {
    present(name, tensor, wanted);
    if (wanted) {
      contiguous(name, tensor, DType.I32, extent);
    }
  }

  private static void contiguous(String name, Tensor tensor, DType dtype, long... wanted) {
    present(name, tensor, true);
    type(name, tensor, dtype);
    shape(name, tensor, wanted);
    require(tensor.isContiguous(), name, tensor, "which is not contiguous");
  }

  private static void present(String name, Tensor tensor, boolean wanted) {
    if ((tensor != null) != wanted) {
      throw new IllegalArgumentException(
          "mate attention: " + name + (wanted ? " is null" : " is given") + " in this layout");
    }
  }

  private static void type(String name, Tensor tensor, DType dtype) {
    require(tensor.dtype() == dtype, name, tensor, "wanted " + dtype);
  }

  private static void shape(String name, Tensor tensor, long... wanted) {
    require(
        Arrays.equals(tensor.shape(), wanted), name, tensor, "wanted " + Arrays.toString(wanted));
  }

  private static void inner(String name, Tensor tensor) {
    require(
        tensor.shape(-1) <= 1 || tensor.stride(-1) == 1,
        name,
        tensor,
        "whose last dimension is not contiguous");
  }

  private static void require(boolean holds, String name, Tensor tensor, String wanted) {
    if (!holds) {
      throw new IllegalArgumentException(
          "mate attention: " + name + " is " + tensor + ", " + wanted);
    }
  }
}
