package io.musabench.jmh.device;

import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.AttentionOptions;
import io.musabench.bindings.kernels.PortableKernels;
import io.musabench.bindings.kernels.reference.AttentionReference;
import io.musabench.bindings.kernels.reference.AttentionReference.Vectors;
import io.musabench.bindings.kernels.reference.LayerReference;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Mask;
import io.musabench.results.model.Work;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * Every portable kernel with its shape and its check, one method a kernel. Operands are as in
 * {@link PortableKernels}; X has two bytes an element.
 */
public final class KernelCases {
  private static final int ELEMENT_BYTES = 2;
  private static final int SAMPLED_ROWS = 4;
  private static final int SAMPLED_COLUMNS = 256;
  private static final int SAMPLED_HEADS = 4;

  private final PortableKernels kernels;
  private final MatrixProducts products;
  private final double epsilon;

  /**
   * Cases of one kernel library.
   *
   * @param epsilon what every norm adds to the mean square
   */
  public KernelCases(PortableKernels kernels, double epsilon) {
    this(kernels, kernels::gemm, epsilon);
  }

  /** Cases with another library's matrix products. */
  public KernelCases(PortableKernels kernels, MatrixProducts products, double epsilon) {
    this.kernels = kernels;
    this.products = products;
    this.epsilon = epsilon;
  }

  /**
   * {@code out[M, N] = a[M, K] · b[N, K]ᵀ + bias[N]}.
   *
   * @param bias null: none
   */
  public KernelCase gemm(Tensor a, Tensor b, Tensor out, Tensor bias) {
    KernelCall.Gemm shape =
        new KernelCall.Gemm((int) a.shape(0), (int) b.shape(0), (int) a.shape(1), bias != null);
    return new KernelCase(
        shape.kernel(),
        shape.shape(),
        shape.work(ELEMENT_BYTES),
        products.gemm(a, b, out, bias),
        List.of(out),
        () -> checkGemm(a, b, out, bias),
        products.notes());
  }

  private static Agreement checkGemm(Tensor a, Tensor b, Tensor out, Tensor bias) {
    int[] columns = Rows.some(b.shape(0), SAMPLED_COLUMNS);
    float[] added = bias == null ? new float[(int) b.shape(0)] : bias.toFloats();
    float[][] weights = new float[columns.length][];
    for (int j = 0; j < columns.length; j++) {
      weights[j] = row(b, columns[j]);
    }
    Agreement all = Agreement.NONE;
    for (int i : Rows.some(a.shape(0), SAMPLED_ROWS)) {
      float[] input = row(a, i);
      float[] output = row(out, i);
      double[] expected = new double[columns.length];
      float[] actual = new float[columns.length];
      for (int j = 0; j < columns.length; j++) {
        expected[j] = LayerReference.dot(input, weights[j]) + added[columns[j]];
        actual[j] = output[columns[j]];
      }
      all = all.and(Agreement.compare("gemm row " + i + ", sampled column", expected, actual));
    }
    return all;
  }

  /** {@code out = x / rms(x) * weight}. */
  public KernelCase rmsNorm(Tensor x, Tensor weight, Tensor out) {
    return of(
        new KernelCall.RmsNorm((int) x.shape(0), (int) x.shape(1)),
        kernels.rmsNorm(x, weight, out, epsilon),
        List.of(out),
        () -> {
          float[] w = weight.toFloats();
          return compareRows("rms_norm", x, out, row -> LayerReference.rmsNorm(row, w, epsilon));
        });
  }

  /** {@code residualOut = x + residual; out = norm(residualOut)}. The outputs alias no input. */
  public KernelCase fusedAddRmsNorm(
      Tensor x, Tensor residual, Tensor weight, Tensor out, Tensor residualOut) {
    return of(
        new KernelCall.FusedAddRmsNorm((int) x.shape(0), (int) x.shape(1)),
        kernels.fusedAddRmsNorm(x, residual, weight, out, residualOut, epsilon),
        List.of(out, residualOut),
        () -> {
          float[] w = weight.toFloats();
          Agreement all = Agreement.NONE;
          for (int i : Rows.some(x.shape(0), SAMPLED_ROWS)) {
            float[] sum = LayerReference.addResidual(row(x, i), row(residual, i), x.dtype());
            double[] normed = LayerReference.rmsNorm(sum, w, epsilon);
            all =
                all.and(
                        Agreement.compare(
                            "fused_add_rms_norm residual " + i, doubles(sum), row(residualOut, i)))
                    .and(Agreement.compare("fused_add_rms_norm row " + i, normed, row(out, i)));
          }
          return all;
        });
  }

  /**
   * Norm and rotation of queries and keys.
   *
   * @param qWeight null with {@code kWeight}: no norm
   */
  public KernelCase qkNormRope(
      HeadGeometry heads,
      Tensor qkv,
      Tensor qWeight,
      Tensor kWeight,
      Tensor cosSin,
      Tensor positions,
      Tensor qOut,
      Tensor kOut) {
    return of(
        new KernelCall.QkNormRope((int) qkv.shape(0), heads, qWeight != null),
        kernels.qkNormRope(qkv, qWeight, kWeight, cosSin, positions, qOut, kOut, epsilon),
        List.of(qOut, kOut),
        () -> {
          int[] places = positions.toInts();
          Agreement all = Agreement.NONE;
          for (int i : Rows.some(qkv.shape(0), SAMPLED_ROWS)) {
            Rotation rotation = new Rotation(heads, row(qkv, i), row(cosSin, places[i]), epsilon);
            all =
                all.and(rotation.check("q", 0, heads.qHeads(), qWeight, qOut.select(0, i)))
                    .and(
                        rotation.check(
                            "k", heads.qHeads(), heads.kvHeads(), kWeight, kOut.select(0, i)));
          }
          return all;
        });
  }

  /** One token's qkv row and the row of the table for its position. */
  private record Rotation(HeadGeometry heads, float[] qkv, float[] cosSin, double epsilon) {
    Agreement check(String name, int firstHead, int count, Tensor weight, Tensor out) {
      int d = heads.qkDim();
      float[] actual = out.toFloats();
      float[] w = weight == null ? null : weight.toFloats();
      double[] expected = new double[count * d];
      for (int h = 0; h < count; h++) {
        float[] head = new float[d];
        System.arraycopy(qkv, (firstHead + h) * d, head, 0, d);
        double[] rotated = LayerReference.normRope(head, w, cosSin, epsilon);
        System.arraycopy(rotated, 0, expected, h * d, d);
      }
      return Agreement.compare("qk_norm_rope " + name, expected, actual);
    }
  }

  /**
   * Writes keys and values into the cache.
   *
   * @param slots content of {@code slotMapping}
   */
  public KernelCase kvCacheWrite(
      HeadGeometry heads,
      Tensor k,
      Tensor v,
      Tensor kCache,
      Tensor vCache,
      Tensor slotMapping,
      long[] slots) {
    // Only the slots of sampled tokens are poisoned and checked: the rest of the cache is others'.
    int[] sampled = Rows.some(slots.length, SAMPLED_COLUMNS);
    List<Tensor> written = new ArrayList<>();
    for (int i : sampled) {
      written.add(slot(kCache, slots[i]));
      written.add(slot(vCache, slots[i]));
    }
    return of(
        new KernelCall.KvCacheWrite(slots.length, heads),
        kernels.kvCacheWrite(k, v, kCache, vCache, slotMapping),
        written,
        () -> {
          Agreement all = Agreement.NONE;
          for (int i : sampled) {
            all =
                all.and(same("kv_cache_write key " + i, k.select(0, i), slot(kCache, slots[i])))
                    .and(same("kv_cache_write value " + i, v.select(0, i), slot(vCache, slots[i])));
          }
          return all;
        });
  }

  private static Tensor slot(Tensor cache, long slot) {
    long page = cache.shape(1);
    return cache.select(0, slot / page).select(0, slot % page);
  }

  private static Agreement same(String what, Tensor expected, Tensor actual) {
    float[] wanted = expected.toFloats();
    float[] got = actual.toFloats();
    for (int i = 0; i < wanted.length; i++) {
      if (wanted[i] != got[i]) {
        throw new WrongResultException(
            "%s: element %d is %g, not %g".formatted(what, i, got[i], wanted[i]));
      }
    }
    return new Agreement(wanted.length, 0);
  }

  /** {@code out = silu(first half of x) * second half}. */
  public KernelCase siluAndMul(Tensor x, Tensor out) {
    return of(
        new KernelCall.SiluAndMul((int) x.shape(0), (int) out.shape(1)),
        kernels.siluAndMul(x, out),
        List.of(out),
        () -> compareRows("silu_and_mul", x, out, LayerReference::siluAndMul));
  }

  /** Gathers rows of a table. */
  public KernelCase embedding(Tensor ids, Tensor table, Tensor out) {
    return of(
        new KernelCall.Embedding((int) ids.shape(0), (int) table.shape(1)),
        kernels.embedding(ids, table, out),
        List.of(out),
        () -> {
          int[] chosen = ids.toInts();
          Agreement all = Agreement.NONE;
          for (int i : Rows.some(chosen.length, SAMPLED_COLUMNS)) {
            all = all.and(same("embedding row " + i, table.select(0, chosen[i]), out.select(0, i)));
          }
          return all;
        });
  }

  /** Index of the greatest logit of each row. */
  public KernelCase argmax(Tensor logits, Tensor out) {
    return of(
        new KernelCall.Argmax((int) logits.shape(0), (int) logits.shape(1)),
        kernels.argmax(logits, out),
        List.of(out),
        () -> {
          int[] found = out.toInts();
          int[] rows = Rows.some(found.length, SAMPLED_ROWS);
          for (int i : rows) {
            int expected = LayerReference.argmax(row(logits, i));
            if (found[i] != expected) {
              throw new WrongResultException(
                  "argmax of row %d is %d, not %d".formatted(i, found[i], expected));
            }
          }
          return new Agreement(rows.length, 0);
        });
  }

  /** Attention over contiguous keys and values, by any library's kernels. */
  public ScheduledCase fmhaPrefill(
      AttentionKernels library,
      BatchSpec batch,
      HeadGeometry heads,
      AttentionOptions options,
      AttentionKernels.Contiguous o) {
    return attention(
        new KernelCall.FmhaPrefill(batch, heads, mask(options)),
        batch,
        heads,
        options,
        library.prefill(batch, heads, options, o),
        o.out(),
        () -> {
          int[] starts = o.cuK().toInts();
          return checkAttention(
              batch,
              heads,
              options,
              (token, head) -> vector(o.q(), token, head),
              o.out(),
              (request, head) -> head(o.k().slice(0, starts[request], starts[request + 1]), head),
              (request, head) -> head(o.v().slice(0, starts[request], starts[request + 1]), head));
        });
  }

  /**
   * Attention over a paged cache, by any library's kernels.
   *
   * @param cache pages, page table and lengths
   * @param q X [Tq, Hq, D]
   * @param out X [Tq, Hq, D]
   */
  public ScheduledCase pagedAttention(
      AttentionKernels library,
      PagedCache cache,
      HeadGeometry heads,
      AttentionOptions options,
      Tensor q,
      Tensor out) {
    BatchSpec batch = cache.batch();
    return attention(
        new KernelCall.PagedAttention(batch, heads, mask(options), cache.pageSize()),
        batch,
        heads,
        options,
        library.paged(cache, heads, options, q, out),
        out,
        () ->
            checkAttention(
                batch,
                heads,
                options,
                (token, head) -> vector(q, token, head),
                out,
                (request, head) -> cache.gather(cache.keys(), request, head),
                (request, head) -> cache.gather(cache.values(), request, head)));
  }

  /** Holds some rows of latent attention against the reference. */
  static Agreement checkLatent(
      PagedCache cache,
      HeadGeometry heads,
      AttentionOptions options,
      Tensor nope,
      Tensor rope,
      Tensor out) {
    return checkAttention(
        cache.batch(),
        heads,
        options,
        (token, head) -> {
          float[] latent = vector(nope, token, head);
          float[] rotary = vector(rope, token, head);
          float[] both = Arrays.copyOf(latent, latent.length + rotary.length);
          System.arraycopy(rotary, 0, both, latent.length, rotary.length);
          return both;
        },
        out,
        (request, head) -> cache.gather(cache.keys(), request, head),
        (request, head) -> cache.gather(cache.values(), request, head));
  }

  private static float[] vector(Tensor rows, int token, int head) {
    return rows.select(0, token).select(0, head).toFloats();
  }

  /** The query of one token and head. */
  private interface Query {
    float[] vector(int token, int head);
  }

  /** All vectors of one request and kv head, [position, dimension]. */
  private interface Gather {
    float[] vectors(int request, int kvHead);
  }

  private static Agreement checkAttention(
      BatchSpec batch,
      HeadGeometry heads,
      AttentionOptions options,
      Query queries,
      Tensor out,
      Gather keys,
      Gather values) {
    Agreement all = Agreement.NONE;
    int[] firstQuery = batch.cuSeqlensQ();
    for (int request : Rows.some(batch.size(), SAMPLED_ROWS)) {
      BatchSpec.Request lengths = batch.requests().get(request);
      for (int head : Rows.some(heads.qHeads(), SAMPLED_HEADS)) {
        int kvHead = head / heads.group();
        Vectors k = AttentionReference.dense(keys.vectors(request, kvHead), 0, 1, heads.qkDim());
        Vectors v = AttentionReference.dense(values.vectors(request, kvHead), 0, 1, heads.vDim());
        for (int query : Rows.some(lengths.qLen(), SAMPLED_ROWS)) {
          int token = firstQuery[request] + query;
          AttentionReference.Row expected =
              AttentionReference.row(
                  queries.vector(token, head),
                  query,
                  lengths.qLen(),
                  lengths.kvLen(),
                  0, // The vectors are those of one kv head.
                  k,
                  v,
                  heads.vDim(),
                  options);
          all =
              all.and(
                  Agreement.compare(
                      "attention of token %d, head %d".formatted(token, head),
                      expected.out(),
                      vector(out, token, head)));
        }
      }
    }
    return all;
  }

  private static ScheduledCase attention(
      KernelCall shape,
      BatchSpec batch,
      HeadGeometry heads,
      AttentionOptions options,
      AttentionKernels.Attention prepared,
      Tensor out,
      KernelCase.Check check) {
    boolean window = options.windowLeft() >= 0;
    return new ScheduledCase(
        new KernelCase(
            shape.kernel(),
            window ? shape.shape() + " window=" + options.windowLeft() : shape.shape(),
            window ? windowWork(batch, heads, options) : shape.work(ELEMENT_BYTES),
            prepared.call(),
            List.of(out),
            check,
            prepared.notes()),
        prepared.schedule());
  }

  // As KernelCall.attentionWork counts, but only the keys inside the window.
  private static Work windowWork(BatchSpec batch, HeadGeometry heads, AttentionOptions options) {
    long pairs = 0;
    long keys = 0;
    for (BatchSpec.Request request : batch.requests()) {
      int q = request.qLen();
      int kv = request.kvLen();
      for (int i = 0; i < q; i++) {
        pairs += options.endKey(i, q, kv) - options.firstKey(i, q, kv);
      }
      keys += options.endKey(q - 1, q, kv) - options.firstKey(0, q, kv);
    }
    long dims = heads.qkDim() + heads.vDim();
    long elements = (long) batch.totalQ() * heads.qHeads() * dims + keys * heads.kvHeads() * dims;
    return new Work(2 * pairs * heads.qHeads() * dims, elements * ELEMENT_BYTES);
  }

  private static Mask mask(AttentionOptions options) {
    return options.causal() ? Mask.CAUSAL : Mask.FULL;
  }

  private static float[] head(Tensor sequence, int head) {
    return sequence.select(1, head).toFloats();
  }

  /** Compares some rows of {@code out} with what a reference makes of the same rows of x. */
  private static Agreement compareRows(
      String kernel, Tensor x, Tensor out, Function<float[], double[]> reference) {
    Agreement all = Agreement.NONE;
    for (int i : Rows.some(x.shape(0), SAMPLED_ROWS)) {
      double[] expected = reference.apply(row(x, i));
      all = all.and(Agreement.compare(kernel + " row " + i, expected, row(out, i)));
    }
    return all;
  }

  private static float[] row(Tensor matrix, long index) {
    return matrix.select(0, index).toFloats();
  }

  private static double[] doubles(float[] values) {
    double[] wide = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      wide[i] = values[i];
    }
    return wide;
  }

  private static KernelCase of(
      KernelCall shape, PreparedCall call, List<Tensor> outputs, KernelCase.Check check) {
    return new KernelCase(shape.shape(), shape.work(ELEMENT_BYTES), call, outputs, check);
  }
}
