package io.musabench.bindings.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.bindings.TestTarget;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.FfiException;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.KernelFixture.Input;
import io.musabench.bindings.kernels.reference.AttentionReference;
import io.musabench.bindings.kernels.reference.AttentionReference.Heads;
import io.musabench.bindings.kernels.reference.AttentionReference.Result;
import io.musabench.bindings.kernels.reference.AttentionReference.Row;
import io.musabench.bindings.kernels.reference.AttentionReference.Vectors;
import io.musabench.bindings.runtime.Graph;
import io.musabench.bindings.runtime.GraphExec;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the attention kernels must compute; one subclass a library. */
@AddLifecycleHook(
    value = TestTarget.SkipElsewhere.class,
    propagateTo = PropagationMode.ALL_DESCENDANTS)
abstract class AttentionContractTest {
  @BeforeEach
  void requireTarget() {
    TestTarget.require(getClass());
    kernels();
  }

  /** The kernels to test: the target's own, unless a subclass has others. */
  PortableKernels kernels() {
    return TestTarget.open().kernels();
  }

  /** The longest sequence of tests; odd, and less where the kernels are slow. */
  int longest() {
    return 8190;
  }

  /** What does not depend on lengths. */
  record Shape(DType dtype, Heads heads, AttentionOptions options) {}

  @Provide
  Arbitrary<Shape> shapes() {
    return shapes(new int[][] {{64, 64}, {80, 80}, {96, 96}, {128, 128}, {192, 128}, {256, 256}});
  }

  @Provide
  Arbitrary<Shape> pagedShapes() {
    return shapes(new int[][] {{64, 64}, {80, 80}, {96, 96}, {128, 128}, {256, 256}});
  }

  private static Arbitrary<Shape> shapes(int[][] dims) {
    Arbitrary<Heads> heads =
        Combinators.combine(
                Arbitraries.of(
                    new int[] {1, 1},
                    new int[] {2, 1},
                    new int[] {4, 4},
                    new int[] {4, 2},
                    new int[] {8, 1},
                    new int[] {6, 2},
                    new int[] {5, 1}),
                Arbitraries.of(dims))
            .as((h, d) -> new Heads(h[0], h[1], d[0], d[1]));
    Arbitrary<Integer> window = Arbitraries.of(-1, -1, 0, 1, 5, 40);
    return Combinators.combine(
            Arbitraries.of(DType.BF16, DType.F16),
            heads,
            Arbitraries.of(true, true, false),
            window,
            window,
            Arbitraries.of(0.0, 0.0, 2.0, 30.0))
        .as(
            (dtype, h, causal, left, right, cap) ->
                new Shape(
                    dtype,
                    h,
                    new AttentionOptions(1 / Math.sqrt(h.qkDim()), causal, left, right, cap)));
  }

  // ---- dense

  @Property(tries = 150)
  void denseShouldMatchTheReference(
      @ForAll("shapes") Shape shape,
      @ForAll @IntRange(min = 0, max = 3) int batch,
      @ForAll @IntRange(min = 1, max = 90) int queries,
      @ForAll @IntRange(min = 1, max = 140) int keys,
      @ForAll @IntRange(max = 1000) int seed) {
    checkDense(shape, batch, queries, keys, seed);
  }

  @Test
  void denseShouldMatchTheReferenceAtOddLengths() {
    Shape causal = causal(DType.BF16, new Heads(2, 1, 128, 128));
    checkDense(causal, 1, 1, 1, 1);
    checkDense(causal, 1, 257, 257, 2);
    checkDense(causal, 1, 1, longest(), 3);
    checkDense(causal(DType.F16, new Heads(1, 1, 256, 256)), 1, 257, 257, 4);
    checkDense(causal(DType.BF16, new Heads(3, 1, 192, 128)), 2, 130, 257, 5);
  }

  @Test
  void denseShouldGiveZeroToQueriesThatSeeNoKey() {
    // 9 queries, 4 keys, causal: the first five queries stand before the first key
    Shape shape = causal(DType.BF16, new Heads(2, 1, 64, 64));
    checkDense(shape, 1, 9, 4, 6);
    checkDense(new Shape(shape.dtype, shape.heads, shape.options.withWindow(2, 0)), 1, 50, 10, 7);
    checkDense(shape, 1, 5, 0, 8);
  }

  private static Shape causal(DType dtype, Heads heads) {
    return new Shape(dtype, heads, AttentionOptions.causal(heads.qkDim()));
  }

  private void checkDense(Shape s, int batch, int queries, int keys, int seed) {
    Heads h = s.heads;
    try (KernelFixture f = new KernelFixture(kernels(), seed)) {
      Input q = f.random(s.dtype, 1, batch, queries, h.query(), h.qkDim());
      Input k = f.random(s.dtype, 1, batch, keys, h.kv(), h.qkDim());
      Input v = f.random(s.dtype, 1, batch, keys, h.kv(), h.valueDim());
      Tensor out = f.output(s.dtype, batch, queries, h.query(), h.valueDim());
      Tensor lse = seed % 3 == 0 ? null : f.output(DType.F32, batch, h.query(), queries);
      f.run(f.kernels.fmhaPrefill(q.tensor(), k.tensor(), v.tensor(), out, lse, s.options));
      Result expected =
          AttentionReference.dense(
              q.values(), k.values(), v.values(), batch, queries, keys, h, s.options);
      check(out, lse, expected);
    }
  }

  private static void check(Tensor out, Tensor lse, Result expected) {
    KernelFixture.assertClose("out", out, expected.out());
    if (lse != null) {
      KernelFixture.assertClose("lse", lse.toFloats(), expected.lse(), 2e-3, 1e-3);
    }
  }

  // ---- varlen

  @Property(tries = 120)
  void varlenShouldMatchTheReference(
      @ForAll("shapes") Shape shape,
      @ForAll @Size(max = 5) List<@IntRange(max = 70) Integer> queries,
      @ForAll @IntRange(max = 1000) int seed) {
    Random random = new Random(seed);
    int[] q = queries.stream().mapToInt(Integer::intValue).toArray();
    int[] k = Arrays.stream(q).map(n -> random.nextInt(4) == 0 ? n : random.nextInt(120)).toArray();
    checkVarlen(shape, q, k, seed);
  }

  @Test
  void varlenShouldMatchTheReferenceAtOddLengthsAndEmptyMembers() {
    Shape shape = causal(DType.BF16, new Heads(4, 2, 128, 128));
    checkVarlen(shape, new int[] {0, 257, 0, 1, 0}, new int[] {0, 257, 3, 257, 0}, 1);
    checkVarlen(shape, new int[] {1, 1}, new int[] {longest(), 1}, 2);
  }

  private void checkVarlen(Shape s, int[] queries, int[] keys, int seed) {
    Heads h = s.heads;
    int[] cuQ = cumulated(queries);
    int[] cuK = cumulated(keys);
    int totalQ = cuQ[queries.length];
    int totalK = cuK[keys.length];
    try (KernelFixture f = new KernelFixture(kernels(), seed)) {
      Input q = f.random(s.dtype, 1, totalQ, h.query(), h.qkDim());
      Input k = f.random(s.dtype, 1, totalK, h.kv(), h.qkDim());
      Input v = f.random(s.dtype, 1, totalK, h.kv(), h.valueDim());
      Tensor out = f.output(s.dtype, totalQ, h.query(), h.valueDim());
      Tensor lse = f.output(DType.F32, h.query(), totalQ);
      f.run(
          f.kernels.fmhaPrefillVarlen(
              q.tensor(),
              k.tensor(),
              v.tensor(),
              out,
              lse,
              s.options,
              f.ints(cuQ),
              f.ints(cuK),
              max(queries),
              max(keys)));
      check(
          out,
          lse,
          AttentionReference.varlen(q.values(), k.values(), v.values(), cuQ, cuK, h, s.options));
    }
  }

  @Test
  void varlenShouldReadQueriesKeysAndValuesFromOneProjection() {
    Heads h = new Heads(4, 2, 64, 64);
    AttentionOptions options = AttentionOptions.causal(64);
    int tokens = 37;
    int row = (4 + 2 + 2) * 64;
    try (KernelFixture f = new KernelFixture(kernels(), 5)) {
      Input qkv = f.random(DType.BF16, 1, tokens, row);
      long[] strides = {row, 64, 1};
      Tensor q = qkv.tensor().view(0, new long[] {tokens, 4, 64}, strides);
      Tensor k = qkv.tensor().view(4 * 64, new long[] {tokens, 2, 64}, strides);
      Tensor v = qkv.tensor().view(6 * 64, new long[] {tokens, 2, 64}, strides);
      Tensor out = f.output(DType.BF16, tokens, 4, 64);
      Tensor cu = f.ints(0, 20, tokens);
      f.run(f.kernels.fmhaPrefillVarlen(q, k, v, out, null, options, cu, cu, 20, 20));
      int[] ends = {0, 20, tokens};
      Result expected =
          AttentionReference.varlen(
              q.toFloats(), k.toFloats(), v.toFloats(), ends, ends, h, options);
      check(out, null, expected);
    }
  }

  // ---- a long sequence, by samples

  @Test
  void prefillShouldMatchTheReferenceInSampledRowsOfALongSequence() {
    int tokens = longest();
    Heads h = new Heads(2, 1, 64, 64);
    AttentionOptions options = AttentionOptions.causal(64);
    try (KernelFixture f = new KernelFixture(kernels(), 9)) {
      Input q = f.random(DType.BF16, 1, 1, tokens, 2, 64);
      Input k = f.random(DType.BF16, 1, 1, tokens, 1, 64);
      Input v = f.random(DType.BF16, 1, 1, tokens, 1, 64);
      Tensor out = f.output(DType.BF16, 1, tokens, 2, 64);
      f.run(f.kernels.fmhaPrefill(q.tensor(), k.tensor(), v.tensor(), out, null, options));
      Vectors keys = AttentionReference.dense(k.values(), 0, 1, 64);
      Vectors values = AttentionReference.dense(v.values(), 0, 1, 64);
      for (int token : new int[] {0, 1, 63, 64, 127, 128, tokens / 2, tokens - 190, tokens - 1}) {
        for (int head = 0; head < 2; head++) {
          int first = (token * 2 + head) * 64;
          Row row =
              AttentionReference.row(
                  Arrays.copyOfRange(q.values(), first, first + 64),
                  token,
                  tokens,
                  tokens,
                  h.kvOf(head),
                  keys,
                  values,
                  64,
                  options);
          KernelFixture.assertClose(
              "row " + token, out.select(0, 0).select(0, token).select(0, head), row.out());
        }
      }
      for (float value : out.toFloats()) {
        assertThat(value).isFinite();
      }
    }
  }

  // ---- paged

  @Property(tries = 150)
  void decodeShouldMatchTheReference(
      @ForAll("pagedShapes") Shape shape,
      @ForAll @Size(max = 5) List<@IntRange(max = 300) Integer> lengths,
      @ForAll("pageSizes") int pageSize,
      @ForAll("splits") int splits,
      @ForAll boolean workspace,
      @ForAll @IntRange(max = 1000) int seed) {
    int[] k = lengths.stream().mapToInt(Integer::intValue).toArray();
    checkPaged(shape, null, k, pageSize, splits, workspace, seed);
  }

  @Property(tries = 120)
  void chunkedPrefillShouldMatchTheReference(
      @ForAll("pagedShapes") Shape shape,
      @ForAll @Size(max = 4) List<@IntRange(max = 50) Integer> queries,
      @ForAll("pageSizes") int pageSize,
      @ForAll("splits") int splits,
      @ForAll boolean workspace,
      @ForAll @IntRange(max = 1000) int seed) {
    Random random = new Random(seed);
    int[] q = queries.stream().mapToInt(Integer::intValue).toArray();
    int[] k =
        Arrays.stream(q)
            .map(n -> random.nextInt(5) == 0 ? random.nextInt(n + 1) : n + random.nextInt(150))
            .toArray();
    checkPaged(shape, q, k, pageSize, splits, workspace, seed);
  }

  @Test
  void decodeShouldMatchTheReferenceAtOddLengths() {
    Shape shape = causal(DType.BF16, new Heads(8, 1, 128, 128));
    checkPaged(shape, null, new int[] {1, 257, 0, longest(), 15}, 16, 0, true, 1);
    checkPaged(shape, null, new int[] {longest()}, 64, 7, false, 2);
    checkPaged(
        causal(DType.F16, new Heads(2, 2, 256, 256)),
        null,
        new int[] {longest(), 3},
        16,
        0,
        true,
        3);
  }

  @Test
  void chunkedPrefillShouldMatchTheReferenceAtOddLengths() {
    Shape shape = causal(DType.BF16, new Heads(4, 2, 128, 128));
    checkPaged(shape, new int[] {257, 0, 1, 3}, new int[] {257, 5, 1000, 7}, 16, 0, true, 1);
    checkPaged(shape, new int[] {5}, new int[] {longest()}, 64, 0, false, 2);
    checkPaged(shape, new int[] {5, 130}, new int[] {longest(), 140}, 16, 4, true, 3);
  }

  @Provide
  Arbitrary<Integer> pageSizes() {
    return Arbitraries.of(1, 7, 16, 64, 100);
  }

  @Provide
  Arbitrary<Integer> splits() {
    return Arbitraries.of(0, 0, 1, 2, 3, 9);
  }

  private void checkPaged(
      Shape s,
      int[] queries,
      int[] keys,
      int pageSize,
      int splits,
      boolean ownWorkspace,
      int seed) {
    Heads h = s.heads;
    int batch = keys.length;
    int[] cuQ = queries == null ? null : cumulated(queries);
    int totalQ = queries == null ? batch : cuQ[batch];
    int maxQ = queries == null ? 1 : Math.max(1, max(queries));
    try (KernelFixture f = new KernelFixture(kernels(), seed)) {
      PagedCache cache = new PagedCache(f, s, keys, pageSize, seed);
      Input q = f.random(s.dtype, 1, totalQ, h.query(), h.qkDim());
      Tensor out = f.output(s.dtype, totalQ, h.query(), h.qkDim());
      Tensor lse = seed % 3 == 0 ? null : f.output(DType.F32, h.query(), totalQ);
      Tensor workspace = null;
      if (ownWorkspace) {
        long bytes =
            f.kernels.pagedAttentionWorkspace(
                batch,
                maxQ,
                totalQ,
                h.query(),
                h.kv(),
                h.qkDim(),
                cache.maxPages * pageSize,
                splits);
        workspace = f.output(DType.U8, bytes);
      }
      f.run(
          f.kernels.pagedAttention(
              q.tensor(),
              cache.k,
              cache.v,
              cache.pageTable,
              cache.lengths,
              cuQ == null ? null : f.ints(cuQ),
              maxQ,
              out,
              lse,
              s.options,
              splits,
              workspace));
      check(out, lse, cache.reference(q.values(), cuQ));
    }
  }

  /**
   * A cache with the pages of the sequences in random order. What no sequence uses is NaN, and page
   * numbers past a sequence's last page are out of range: a kernel must touch neither.
   */
  private static final class PagedCache {
    final Tensor k;
    final Tensor v;
    final Tensor pageTable;
    final Tensor lengths;
    final int maxPages;
    private final Shape shape;
    private final int pageSize;
    private final float[] kValues;
    private final float[] vValues;
    private int[] table;
    private int[] keys;

    PagedCache(KernelFixture f, Shape s, int[] keys, int pageSize, int seed) {
      this.shape = s;
      this.pageSize = pageSize;
      this.keys = keys.clone();
      int used = Arrays.stream(keys).map(n -> pagesOf(n, pageSize)).sum();
      int pages = used + 3;
      maxPages = Math.max(1, pagesOf(max(keys), pageSize)) + 1;
      List<Integer> order =
          new java.util.ArrayList<>(java.util.stream.IntStream.range(0, pages).boxed().toList());
      java.util.Collections.shuffle(order, new Random(seed));
      Heads h = s.heads;
      Input kInput = f.random(s.dtype, 1, pages, pageSize, h.kv(), h.qkDim());
      Input vInput = f.random(s.dtype, 1, pages, pageSize, h.kv(), h.qkDim());
      table = new int[keys.length * maxPages];
      Arrays.fill(table, Integer.MAX_VALUE);
      boolean[] live = new boolean[pages * pageSize];
      int next = 0;
      for (int b = 0; b < keys.length; b++) {
        for (int p = 0; p < pagesOf(keys[b], pageSize); p++) {
          int page = order.get(next++);
          table[b * maxPages + p] = page;
          for (int i = 0; i < Math.min(pageSize, keys[b] - p * pageSize); i++) {
            live[page * pageSize + i] = true;
          }
        }
      }
      kValues = kInput.values();
      vValues = vInput.values();
      int row = h.kv() * h.qkDim();
      for (int slot = 0; slot < live.length; slot++) {
        if (!live[slot]) {
          Arrays.fill(kValues, slot * row, (slot + 1) * row, Float.NaN);
          Arrays.fill(vValues, slot * row, (slot + 1) * row, Float.NaN);
        }
      }
      k = kInput.tensor().copyFrom(kValues);
      v = vInput.tensor().copyFrom(vValues);
      pageTable = f.keep(f.ffi.allocate(DType.I32, keys.length, maxPages)).copyFrom(table);
      lengths = f.ints(keys);
    }

    private static int pagesOf(int keys, int pageSize) {
      return (keys + pageSize - 1) / pageSize;
    }

    /** Shortens the sequences and swaps two of them in the page table. */
    void change(int[] newKeys) {
      int[] swapped = table.clone();
      System.arraycopy(table, 0, swapped, maxPages, maxPages);
      System.arraycopy(table, maxPages, swapped, 0, maxPages);
      table = swapped;
      keys = newKeys;
      pageTable.copyFrom(table);
      lengths.copyFrom(keys);
    }

    Result reference(float[] q, int[] cuQ) {
      return AttentionReference.paged(
          q, kValues, vValues, table, pageSize, keys, cuQ, shape.heads, shape.options);
    }
  }

  @Test
  void aReplayShouldSeeChangedPageTablesAndLengths() {
    Shape s = causal(DType.BF16, new Heads(4, 2, 128, 128));
    try (KernelFixture f = new KernelFixture(kernels(), 3)) {
      PagedCache cache = new PagedCache(f, s, new int[] {300, 310}, 16, 1);
      Input q = f.random(s.dtype, 1, 2, 4, 128);
      Tensor out = f.output(s.dtype, 2, 4, 128);
      PreparedCall call =
          f.kernels.pagedAttention(
              q.tensor(),
              cache.k,
              cache.v,
              cache.pageTable,
              cache.lengths,
              null,
              1,
              out,
              null,
              s.options,
              0,
              null);
      f.run(call); // the pool now has the workspace
      check(out, null, cache.reference(q.values(), null));
      out.poison();
      try (Graph graph = f.ffi.runtime().capture(f.stream, call::launch);
          GraphExec exec = graph.instantiate()) {
        exec.launch(f.stream);
        check(out, null, cache.reference(q.values(), null));
        cache.change(new int[] {17, 300});
        out.poison();
        exec.launch(f.stream);
        check(out, null, cache.reference(q.values(), null));
      }
    }
  }

  // ---- refused arguments

  @Test
  void attentionShouldRefuseBadArguments() {
    AttentionOptions options = AttentionOptions.causal(64);
    try (KernelFixture f = new KernelFixture(kernels(), 1)) {
      Tensor q = f.random(DType.BF16, 1, 1, 4, 3, 64).tensor();
      Tensor k = f.random(DType.BF16, 1, 1, 4, 2, 64).tensor();
      Tensor out = f.output(DType.BF16, 1, 4, 3, 64);
      assertThatThrownBy(() -> f.kernels.fmhaPrefill(q, k, k, out, null, options).launch())
          .isInstanceOf(FfiException.class)
          .hasMessageContainingAll("fmha_prefill", "ValueError", "q", "3", "2");
      Tensor one = k.slice(2, 0, 1);
      Tensor halves = f.random(DType.F16, 1, 1, 4, 1, 64).tensor();
      assertThatThrownBy(() -> f.kernels.fmhaPrefill(q, one, halves, out, null, options).launch())
          .isInstanceOf(FfiException.class)
          .hasMessageContainingAll("fmha_prefill", "ValueError", "v");
      Tensor lse = f.output(DType.F32, 1, 4, 3);
      assertThatThrownBy(() -> f.kernels.fmhaPrefill(q, one, one, out, lse, options).launch())
          .isInstanceOf(FfiException.class)
          .hasMessageContainingAll("fmha_prefill", "ValueError", "lse");
      Tensor odd = f.random(DType.BF16, 1, 1, 4, 1, 72).tensor();
      assertThatThrownBy(() -> f.kernels.fmhaPrefill(odd, odd, odd, odd, null, options).launch())
          .isInstanceOf(FfiException.class)
          .hasMessageContainingAll("fmha_prefill", "ValueError", "72");
    }
  }

  @Test
  void headSizesAndSplitsShouldBeThoseThatAreStated() {
    int[] sizes = {32, 64, 72, 80, 96, 128, 192, 256, 512};
    try (KernelFixture f = new KernelFixture(kernels(), 1)) {
      Tensor table = f.ints(0).reshape(1, 1);
      Tensor lengths = f.ints(4);
      for (int dqk : sizes) {
        AttentionOptions options = AttentionOptions.causal(dqk);
        Tensor q = f.random(DType.BF16, 1, 1, 1, 2, dqk).tensor();
        Tensor k = f.random(DType.BF16, 1, 1, 4, 1, dqk).tensor();
        for (int dv : sizes) {
          Tensor v = f.random(DType.BF16, 1, 1, 4, 1, dv).tensor();
          Tensor out = f.output(DType.BF16, 1, 1, 2, dv);
          assertThat(accepts(() -> f.kernels.fmhaPrefill(q, k, v, out, null, options).launch()))
              .as("fmha_prefill " + dqk + "/" + dv)
              .isEqualTo(accepts(() -> PortableKernels.requireHeadDims(dqk, dv)));
          PreparedCall paged =
              f.kernels.pagedAttention(
                  q.select(0, 0),
                  k,
                  v,
                  table,
                  lengths,
                  null,
                  1,
                  out.select(0, 0),
                  null,
                  options,
                  1,
                  null);
          assertThat(accepts(paged::launch))
              .as("paged_attention " + dqk + "/" + dv)
              .isEqualTo(accepts(() -> PortableKernels.requirePagedHeadDims(dqk, dv)));
        }
      }
      int most = PortableKernels.MOST_SPLITS;
      f.kernels.pagedAttentionWorkspace(1, 1, 1, 2, 1, 64, 4, most);
      assertThat(accepts(() -> f.kernels.pagedAttentionWorkspace(1, 1, 1, 2, 1, 64, 4, most + 1)))
          .isFalse();
      f.stream.synchronize();
    }
  }

  private static boolean accepts(Runnable call) {
    try {
      call.run();
      return true;
    } catch (FfiException | IllegalArgumentException refused) {
      return false;
    }
  }

  private static int[] cumulated(int[] lengths) {
    int[] ends = new int[lengths.length + 1];
    for (int i = 0; i < lengths.length; i++) {
      ends[i + 1] = ends[i] + lengths[i];
    }
    return ends;
  }

  private static int max(int[] values) {
    return Arrays.stream(values).max().orElse(0);
  }
}
