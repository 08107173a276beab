package io.musabench.bindings.mate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.musabench.bindings.Target;
import io.musabench.bindings.TestTarget;
import io.musabench.bindings.TestTarget.On;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.FfiException;
import io.musabench.bindings.ffi.KernelFunction;
import io.musabench.bindings.ffi.PooledAllocator;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.AttentionOptions;
import io.musabench.bindings.kernels.KernelFixture;
import io.musabench.bindings.kernels.KernelFixture.Input;
import io.musabench.bindings.kernels.reference.AttentionReference;
import io.musabench.bindings.kernels.reference.AttentionReference.Vectors;
import io.musabench.bindings.mate.FmhaConfig.Keys;
import io.musabench.bindings.mate.FmhaConfig.Queries;
import io.musabench.bindings.runtime.Graph;
import io.musabench.bindings.runtime.GraphExec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls of mate's attention, through a test double that checks every argument and computes. What
 * they compute is held against the double-precision reference.
 */
@On(Target.Kind.MUSA)
@Tag("musa-target")
class MateFmhaContractTest {
  private static final double SCALE = 0.09;

  @TempDir Path folder;
  private Mate mate;

  @BeforeEach
  void open() {
    mate = MateDouble.open(getClass());
  }

  // ---- a case: tensors for a configuration, and what must come out

  /** Tensors of a configuration and the values in them. */
  private static final class Case {
    final FmhaConfig config;
    final int[] queryLengths;
    final int[] keyLengths;
    final int[] cuQ;
    final int[] cuK;
    final int[] pages;
    final Input q;
    final Input k;
    final Input v;
    final FmhaTensors tensors;

    Case(KernelFixture f, FmhaConfig c, int[] queryLengths, int[] keyLengths, int seed) {
      this.config = c;
      this.queryLengths = queryLengths;
      this.keyLengths = keyLengths;
      cuQ = cumulated(queryLengths);
      cuK = cumulated(keyLengths);
      int batch = c.batch();
      boolean paged = c.keys() == Keys.PAGED;
      int columns = paged ? c.maxSeqlenK() / c.pageSize() : 0;
      int cache = batch * columns + 3;
      pages = new int[batch * columns];
      List<Integer> free = new ArrayList<>();
      for (int i = 0; i < cache; i++) {
        free.add(i);
      }
      Collections.shuffle(free, new Random(seed));
      Arrays.setAll(pages, free::get);

      q = f.random(c.dtype(), 1, queryShape(c, cuQ, c.qkDim()));
      k = f.random(c.dtype(), 1, keyShape(c, cuK, cache, c.qkDim()));
      v = f.random(c.dtype(), 1, keyShape(c, cuK, cache, c.vDim()));
      Tensor out = f.output(c.dtype(), queryShape(c, cuQ, c.vDim()));
      Tensor lse =
          c.queries() == Queries.RAGGED
              ? f.output(DType.F32, c.qHeads(), cuQ[batch])
              : f.output(DType.F32, batch, c.qHeads(), c.maxSeqlenQ());
      tensors =
          new FmhaTensors(
              q.tensor(),
              k.tensor(),
              v.tensor(),
              out,
              lse,
              c.queries() == Queries.RAGGED ? f.ints(cuQ) : null,
              c.keys() == Keys.RAGGED ? f.ints(cuK) : null,
              c.queries() == Queries.PADDED ? f.ints(queryLengths) : null,
              paged || c.keys() == Keys.PADDED ? f.ints(keyLengths) : null,
              paged ? f.ints(pages).reshape(batch, columns) : null);
    }

    private static long[] queryShape(FmhaConfig c, int[] cu, int dim) {
      return c.queries() == Queries.RAGGED
          ? new long[] {cu[c.batch()], c.qHeads(), dim}
          : new long[] {c.batch(), c.maxSeqlenQ(), c.qHeads(), dim};
    }

    private static long[] keyShape(FmhaConfig c, int[] cu, int cache, int dim) {
      return switch (c.keys()) {
        case RAGGED -> new long[] {cu[c.batch()], c.kvHeads(), dim};
        case PAGED -> new long[] {cache, c.pageSize(), c.kvHeads(), dim};
        default -> new long[] {c.batch(), c.maxSeqlenK(), c.kvHeads(), dim};
      };
    }

    private Vectors vectors(float[] values, int sequence, int dim) {
      int heads = config.kvHeads();
      return switch (config.keys()) {
        case PAGED -> {
          int columns = config.maxSeqlenK() / config.pageSize();
          yield AttentionReference.paged(
              values, pages, sequence * columns, config.pageSize(), heads, dim);
        }
        case RAGGED -> AttentionReference.dense(values, cuK[sequence] * heads * dim, heads, dim);
        default ->
            AttentionReference.dense(
                values, sequence * config.maxSeqlenK() * heads * dim, heads, dim);
      };
    }

    // The mask of one query; a chunk is a window that depends on the query's place.
    private AttentionOptions optionsOf(int query, int queries, int keys) {
      int left = config.windowLeft();
      int right = config.windowRight();
      int chunk = config.attentionChunk();
      if (chunk > 0) {
        int within = (query + keys - queries) % chunk;
        left = left < 0 ? within : Math.min(left, within);
        right = right < 0 ? chunk - 1 - within : Math.min(right, chunk - 1 - within);
      }
      return new AttentionOptions(SCALE, config.causal(), left, right, config.softcap());
    }

    /** Every row that belongs to a query is right, and no other is written. */
    void check() {
      int heads = config.qHeads();
      boolean ragged = config.queries() == Queries.RAGGED;
      int tokens = ragged ? cuQ[config.batch()] : config.batch() * config.maxSeqlenQ();
      double[] out = new double[tokens * heads * config.vDim()];
      double[] lse = new double[tokens * heads];
      Arrays.fill(out, Double.NaN);
      Arrays.fill(lse, Double.NaN);
      for (int b = 0; b < config.batch(); b++) {
        Vectors keys = vectors(k.values(), b, config.qkDim());
        Vectors values = vectors(v.values(), b, config.vDim());
        for (int i = 0; i < queryLengths[b]; i++) {
          int token = ragged ? cuQ[b] + i : b * config.maxSeqlenQ() + i;
          for (int h = 0; h < heads; h++) {
            int first = (token * heads + h) * config.qkDim();
            AttentionReference.Row row =
                AttentionReference.row(
                    Arrays.copyOfRange(q.values(), first, first + config.qkDim()),
                    i,
                    queryLengths[b],
                    keyLengths[b],
                    h / config.headRatio(),
                    keys,
                    values,
                    config.vDim(),
                    optionsOf(i, queryLengths[b], keyLengths[b]));
            System.arraycopy(row.out(), 0, out, (token * heads + h) * config.vDim(), config.vDim());
            lse[ragged ? h * tokens + token : (b * heads + h) * config.maxSeqlenQ() + i] =
                row.lse();
          }
        }
      }
      DType dtype = config.dtype();
      assertClose("out", tensors.out(), out, KernelFixture.atol(dtype), KernelFixture.rtol(dtype));
      assertClose("lse", tensors.lse(), lse, 2e-3, 1e-3);
    }

    private static void assertClose(
        String what, Tensor tensor, double[] expected, double atol, double rtol) {
      float[] actual = tensor.toFloats();
      for (int i = 0; i < actual.length; i++) {
        if (Double.isNaN(expected[i])) {
          assertThat(actual[i]).as("%s[%d], which no query has", what, i).isNaN();
          actual[i] = 0;
          expected[i] = 0;
        }
      }
      KernelFixture.assertClose(what, actual, expected, atol, rtol);
    }
  }

  private static int[] cumulated(int[] lengths) {
    int[] cu = new int[lengths.length + 1];
    for (int i = 0; i < lengths.length; i++) {
      cu[i + 1] = cu[i] + lengths[i];
    }
    return cu;
  }

  private int check(FmhaConfig.Builder builder, int[] queries, int[] keys) {
    return check(builder, Backend.AUTO, queries, keys);
  }

  /** Runs the attention, checks it, and gives the number of splits. */
  private int check(FmhaConfig.Builder builder, Backend backend, int[] queries, int[] keys) {
    FmhaConfig config = builder.batch(queries.length).build();
    try (KernelFixture f = new KernelFixture(11)) {
      Case c = new Case(f, config, queries, keys, 5);
      try (FmhaAttention attention = mate.attention(config, backend, c.tensors, SCALE)) {
        f.stream.synchronize();
        c.tensors.out().poison();
        c.tensors.lse().poison();
        attention.metadata().ifPresent(PreparedCall::launch);
        f.run(attention.attention());
        c.check();
        assertThat(f.pool.stats().liveTensors()).isZero();
        assertThat(attention.metadata().isPresent()).isEqualTo(config.metadata());
        return attention.splits();
      }
    }
  }

  private static final int[] ONES = {1, 1, 1, 1};
  private static final int[] LENGTHS = {1, 70, 256, 129};

  private static FmhaConfig.Builder decode() {
    return FmhaConfig.builder()
        .heads(4, 2)
        .queries(Queries.RAGGED, 1)
        .pagedKeys(4, 64)
        .causal(true)
        .metadata(true);
  }

  private static FmhaConfig.Builder prefill() {
    return FmhaConfig.builder()
        .heads(4, 2)
        .queries(Queries.RAGGED, 200)
        .keys(Keys.RAGGED, 250)
        .causal(true);
  }

  // ---- decode

  @ParameterizedTest
  @CsvSource({"0, 2", "1, 1", "3, 3", "16, 16", "20, 20"})
  void shouldDecodeWithAnyNumberOfSplits(int numSplits, int expected) {
    assertThat(check(decode().numSplits(numSplits), ONES, LENGTHS)).isEqualTo(expected);
  }

  @Test
  void shouldDecodeWithoutMetadata() {
    assertThat(check(decode().metadata(false), ONES, LENGTHS)).isEqualTo(1);
  }

  @Test
  void shouldDecodeWithAMargin() {
    check(decode().mpMargin(8), ONES, LENGTHS);
    check(decode().metadata(false).mpMargin(8), ONES, LENGTHS);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 16, 48})
  void shouldDecodeOverPagesOfOtherSizes(int pageSize) {
    check(decode().pagedKeys((256 + pageSize - 1) / pageSize, pageSize), ONES, LENGTHS);
  }

  @Test
  void shouldDecodeInHalfPrecisionAndWithOtherHeadDimensions() {
    check(decode().dtype(DType.F16), ONES, LENGTHS);
    check(decode().headDims(256, 256), ONES, LENGTHS);
    check(decode().headDims(64, 64), ONES, LENGTHS);
  }

  @Test
  void shouldDecodeWithHeadsApart() {
    check(decode().packGqa(false), ONES, LENGTHS);
  }

  @Test
  void shouldDecodeWithoutAMaskWithAWindowAndWithAChunk() {
    check(decode().causal(false), ONES, LENGTHS);
    check(decode().window(50, -1), ONES, LENGTHS);
    check(decode().window(50, 0).causal(false), ONES, LENGTHS);
    check(decode().attentionChunk(100), ONES, LENGTHS);
  }

  @Test
  void shouldTakeKernelsFromTheCacheToo() {
    check(decode().softcap(5), ONES, LENGTHS);
    check(decode().softcap(5).metadata(false), ONES, LENGTHS);
    assertThat(mate.libraries())
        .anyMatch(library -> library.path().toString().contains("/.cache/mate/0.2.2/mp31/"));
  }

  @Test
  void shouldDecodeDenseQueries() {
    check(decode().queries(Queries.DENSE, 1), ONES, LENGTHS);
  }

  @Test
  void shouldDecodeMoreSequencesThanAWarpHandles() {
    int[] ones = new int[40];
    int[] keys = new int[40];
    Arrays.fill(ones, 1);
    Arrays.setAll(keys, i -> 1 + (i * 37) % 256);
    check(decode(), ones, keys);
  }

  @Test
  void shouldPrefillInChunksOverPages() {
    check(
        decode().queries(Queries.RAGGED, 20), new int[] {20, 3, 0, 1}, new int[] {200, 3, 64, 129});
  }

  // ---- prefill

  @Test
  void shouldPrefillRaggedWithBothBackends() {
    int[] queries = {200, 1, 77};
    int[] keys = {250, 1, 77};
    check(prefill(), Backend.MUBIN, queries, keys);
    check(prefill(), Backend.AUTO, queries, keys);
    check(prefill(), Backend.MUTLASS, queries, keys);
    check(prefill().metadata(true), Backend.MUTLASS, queries, keys);
  }

  @Test
  void shouldPrefillWithUnequalAndUnevenHeadDimensions() {
    int[] lengths = {200, 30};
    check(prefill().headDims(192, 128), Backend.MUTLASS, lengths, lengths);
    check(prefill().headDims(192, 128), Backend.MUBIN, lengths, lengths);
    check(prefill().headDims(80, 80), Backend.MUTLASS, lengths, lengths);
    check(prefill().headDims(72, 72), Backend.MUBIN, lengths, lengths);
  }

  @Test
  void shouldPrefillDense() {
    FmhaConfig.Builder dense =
        FmhaConfig.builder().heads(4, 2).queries(Queries.DENSE, 40).keys(Keys.DENSE, 50);
    int[] queries = {40, 40};
    int[] keys = {50, 50};
    check(dense, Backend.MUBIN, queries, keys);
    check(dense.causal(true), Backend.MUBIN, queries, keys);
    check(dense.causal(true).dtype(DType.F16), Backend.MUBIN, queries, keys);
    check(dense.causal(false).dtype(DType.BF16), Backend.MUTLASS, queries, keys);
  }

  @Test
  void shouldPrefillPaddedKeysAndQueries() {
    check(
        prefill().queries(Queries.RAGGED, 20).keys(Keys.PADDED, 100).metadata(true),
        new int[] {20, 4},
        new int[] {100, 17});
    check(
        prefill().queries(Queries.PADDED, 20).keys(Keys.PADDED, 100).causal(false).metadata(true),
        new int[] {20, 4},
        new int[] {100, 17});
  }

  // ---- life of the calls

  @Test
  void shouldReplayAGraphOverNewLengths() {
    FmhaConfig config = decode().batch(4).build();
    try (KernelFixture f = new KernelFixture(3)) {
      Case c = new Case(f, config, ONES, LENGTHS.clone(), 5);
      try (FmhaAttention attention = mate.attention(config, Backend.AUTO, c.tensors, SCALE)) {
        long reserved = f.pool.stats().reservedBytes();
        try (Graph graph =
                f.ffi
                    .runtime()
                    .capture(
                        f.stream,
                        () -> {
                          attention.metadata().orElseThrow().launch();
                          attention.attention().launch();
                        });
            GraphExec exec = graph.instantiate()) {
          for (int[] lengths : new int[][] {{256, 1, 3, 200}, {64, 65, 128, 5}}) {
            System.arraycopy(lengths, 0, c.keyLengths, 0, 4);
            c.tensors.sequsedK().copyFrom(lengths);
            c.tensors.out().poison();
            c.tensors.lse().poison();
            exec.launch(f.stream);
            f.stream.synchronize();
            c.check();
          }
        }
        PooledAllocator.Stats stats = f.pool.stats();
        assertThat(stats.reservedBytes()).isEqualTo(reserved);
        assertThat(stats.hits()).isPositive();
      }
    }
  }

  @Test
  void shouldTakeScratchFromThePoolInEveryCall() {
    FmhaConfig config = decode().batch(4).metadata(false).build();
    try (KernelFixture f = new KernelFixture(3)) {
      Case c = new Case(f, config, ONES, LENGTHS, 5);
      try (FmhaAttention attention = mate.attention(config, Backend.AUTO, c.tensors, SCALE)) {
        PooledAllocator.Stats before = f.pool.stats();
        for (int i = 0; i < 10; i++) {
          attention.attention().launch();
        }
        f.stream.synchronize();
        PooledAllocator.Stats after = f.pool.stats();
        assertThat(after.allocations() - before.allocations()).isEqualTo(20);
        assertThat(after.hits() - before.hits()).isEqualTo(20);
        assertThat(after.liveTensors()).isZero();
      }
    }
  }

  @Test
  void shouldNotLaunchAfterItIsClosed() {
    FmhaConfig config = decode().batch(4).build();
    try (KernelFixture f = new KernelFixture(3)) {
      Case c = new Case(f, config, ONES, LENGTHS, 5);
      FmhaAttention attention = mate.attention(config, Backend.AUTO, c.tensors, SCALE);
      f.stream.synchronize();
      attention.close();
      assertThatThrownBy(() -> attention.attention().launch())
          .isInstanceOf(IllegalStateException.class);
    }
  }

  // ---- errors

  private PreparedCall asm(KernelFixture f, DType lse, int dim) {
    return mate.flashAttenVarlenAsm(
        f.output(DType.BF16, 1, 4, 2, dim),
        f.output(DType.BF16, 1, 4, 2, dim),
        f.output(DType.BF16, 1, 4, 2, dim),
        SCALE,
        f.output(DType.BF16, 1, 4, 2, dim),
        f.output(lse, 1, 2, 4),
        true,
        null,
        null,
        null,
        null);
  }

  @Test
  void shouldReportWhatAKernelRaises() {
    try (KernelFixture f = new KernelFixture(1)) {
      FfiException dtype =
          catchThrowableOfType(FfiException.class, () -> asm(f, DType.BF16, 128).launch());
      assertThat(dtype.kind()).isEqualTo("InternalError");
      assertThat(dtype.kernel()).isEqualTo("flash_atten_varlen_asm");
      assertThat(dtype.text()).contains("out_lse is bfloat16, wanted float32");
      assertThat(dtype.backtrace()).contains("in flash_atten_varlen_asm");
      FfiException dim =
          catchThrowableOfType(FfiException.class, () -> asm(f, DType.F32, 136).launch());
      assertThat(dim.kind()).isEqualTo("InternalError");
      assertThat(dim.text()).contains("HeadDim unsupported");
      asm(f, DType.F32, 128).launch(); // the next call is none the worse for it
    }
  }

  @Test
  void shouldReportAWrongArgumentList() {
    try (KernelFixture f = new KernelFixture(1)) {
      KernelFunction kernel = asm(f, DType.F32, 128).function();
      assertThatThrownBy(() -> kernel.arguments().integer(1).prepare().launch())
          .isInstanceOf(FfiException.class)
          .hasMessageContaining("TypeError");
    }
  }

  @Test
  void shouldReportAMissingAllocator() {
    FmhaConfig config = decode().batch(4).metadata(false).build();
    try (KernelFixture f = new KernelFixture(3)) {
      Case c = new Case(f, config, ONES, LENGTHS, 5);
      try (FmhaAttention attention = mate.attention(config, Backend.AUTO, c.tensors, SCALE)) {
        f.stream.synchronize();
        assertThatThrownBy(
                () ->
                    CompletableFuture.runAsync(
                            () -> {
                              f.ffi.setStream(f.stream);
                              attention.attention().launch(); // this thread has no pool
                            })
                        .join())
            .isInstanceOf(CompletionException.class)
            .hasMessageContaining("RuntimeError");
      }
    }
  }

  @Test
  void shouldRaiseWhereAKernelIsCalledForAnotherConfiguration() {
    try (KernelFixture f = new KernelFixture(3)) {
      FmhaConfig causal = decode().batch(4).metadata(false).build();
      Case c = new Case(f, causal, ONES, LENGTHS, 5);
      KernelFunction kernel = kernelOf(causal);
      assertRaises(kernel, causal.toBuilder().causal(false).build(), c, "is_causal");
      assertRaises(kernel, causal.toBuilder().softcap(3).build(), c, "softcap");
      FmhaConfig half = causal.toBuilder().dtype(DType.F16).build();
      assertRaises(kernel, half, new Case(f, half, ONES, LENGTHS, 5), "float16");
      FmhaConfig ratio = causal.toBuilder().heads(6, 2).build();
      assertRaises(kernel, ratio, new Case(f, ratio, ONES, LENGTHS, 5), "ratio");
      FmhaConfig pages = causal.toBuilder().pagedKeys(16, 16).build();
      assertRaises(kernel, pages, new Case(f, pages, ONES, LENGTHS, 5), "page size");
      FmhaConfig dim = causal.toBuilder().headDims(64, 64).build();
      assertRaises(kernel, dim, new Case(f, dim, ONES, LENGTHS, 5), "head dim");
    }
  }

  private KernelFunction kernelOf(FmhaConfig config) {
    String name = config.names().forward();
    return mate.kernel(name, name, "");
  }

  private static void assertRaises(KernelFunction kernel, FmhaConfig config, Case c, String text) {
    assertThatThrownBy(() -> FmhaAttention.forward(kernel, config, c.tensors, SCALE, null).launch())
        .isInstanceOf(FfiException.class)
        .hasMessageContaining("InternalError")
        .hasMessageContaining(text);
  }

  @Test
  void shouldRefuseTensorsThatDoNotFit() {
    FmhaConfig config = decode().batch(4).build();
    try (KernelFixture f = new KernelFixture(3)) {
      Case c = new Case(f, config, ONES, LENGTHS, 5);
      FmhaTensors t = c.tensors;
      assertRefused(config, with(t, f.output(DType.F16, 4, 4, 128), t.sequsedK()), "q is F16");
      assertRefused(config, with(t, f.output(DType.BF16, 4, 6, 128), t.sequsedK()), "q is BF16");
      assertRefused(config, with(t, t.q(), null), "sequsedK is null");
      assertRefused(config, with(t, t.q(), f.ints(1, 2, 3)), "sequsedK is I32[3]");
      assertRefused(config, with(t, t.q(), f.longs(1, 2, 3, 4)), "sequsedK is I64[4]");
      Tensor gaps = f.ints(new int[8]).reshape(4, 2).slice(1, 0, 1).select(1, 0);
      assertRefused(config, with(t, t.q(), gaps), "not contiguous");
      assertRefused(config.toBuilder().keys(Keys.RAGGED, 256).build(), t, "k is BF16");
      assertRefused(config.toBuilder().pagedKeys(5, 64).build(), t, "pageTable is I32[4, 4]");
    }
  }

  private static FmhaTensors with(FmhaTensors t, Tensor q, Tensor sequsedK) {
    return FmhaTensors.paged(
        q, t.k(), t.v(), t.out(), t.lse(), t.cuSeqlensQ(), sequsedK, t.pageTable());
  }

  private void assertRefused(FmhaConfig config, FmhaTensors tensors, String text) {
    assertThatThrownBy(() -> mate.attention(config, Backend.AUTO, tensors, SCALE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(text);
  }

  // ---- missing kernels

  @Test
  void shouldNameAMissingKernelAndKeepTheOthersUsable() {
    FmhaConfig config = decode().heads(6, 2).batch(4).build();
    assertThat(mate.missing(config, Backend.AUTO))
        .containsExactly(config.names().forward(), config.names().metadata());
    try (KernelFixture f = new KernelFixture(3)) {
      Case c = new Case(f, config, ONES, LENGTHS, 5);
      MissingKernelException missing =
          catchThrowableOfType(
              MissingKernelException.class,
              () -> mate.attention(config, Backend.AUTO, c.tensors, SCALE));
      assertThat(missing.kernel()).isEqualTo(config.names().forward());
      assertThat(missing.folders()).hasSize(2);
      assertThat(missing)
          .hasMessageContainingAll(
              config.names().forward() + ".so",
              "mate version: 0.2.2",
              "mate/data/aot: ",
              "mp31/cached_ops: 2 kernels",
              "no level of python -m mate.aot builds this kernel");
    }
    assertThat(mate.missing(decode().build(), Backend.AUTO)).isEmpty();
    assertThat(mate.missing(prefill().build(), Backend.AUTO)).isEmpty();
    check(decode(), ONES, LENGTHS);
  }

  @Test
  void shouldBeOpenedByTheTarget() {
    Target target = TestTarget.open();
    assertThat(target.mate()).isSameAs(target.mate());
    // Found in the Python environment and the home folder that this JVM's environment names.
    assertThat(target.mate().installation().folders())
        .isEqualTo(MateDouble.installation().folders());
    try (KernelFixture f = new KernelFixture(3)) {
      FmhaConfig config = decode().batch(4).build();
      Case c = new Case(f, config, ONES, LENGTHS, 5);
      try (FmhaAttention attention =
          target.mate().attention(config, Backend.AUTO, c.tensors, SCALE)) {
        f.stream.synchronize();
        assertThat(attention.backend()).isEqualTo(Backend.MUTLASS);
        c.check();
      }
    }
    assertThat(target.libraries())
        .anyMatch(
            library ->
                library.path().endsWith(decode().batch(4).build().names().forward() + ".so"));
  }

  @Test
  void shouldSayWhatIsWrongWithAFile() throws Exception {
    FmhaConfig config = decode().batch(4).metadata(false).build();
    String name = config.names().forward();
    Path file = folder.resolve(name).resolve(name + ".so");
    Files.createDirectories(file.getParent());
    Files.writeString(file, "no library");
    assertMissing(config, "it did not load: kernels " + file);
    Files.copy(
        MateDouble.installation().file("mla_ops").orElseThrow(),
        Files.createDirectories(folder.resolve("other")).resolve("x.so"));
    Files.delete(file);
    Files.move(folder.resolve("other/x.so"), file);
    assertMissing(config, name + ".so does not export it");
  }

  private void assertMissing(FmhaConfig config, String text) {
    Mate other = new Mate(mate.ffi(), MateInstallation.find(folder.toString(), Map.of()));
    try (KernelFixture f = new KernelFixture(3)) {
      Case c = new Case(f, config, ONES, LENGTHS, 5);
      assertThatThrownBy(() -> other.attention(config, Backend.AUTO, c.tensors, SCALE))
          .isInstanceOf(MissingKernelException.class)
          .hasMessageContaining(text)
          .hasMessageContaining(folder.toString());
    }
  }
}
