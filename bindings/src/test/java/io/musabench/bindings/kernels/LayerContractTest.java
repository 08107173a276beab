package io.musabench.bindings.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.bindings.TestTarget;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.FfiException;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.KernelFixture.Input;
import io.musabench.bindings.kernels.reference.LayerReference;
import io.musabench.bindings.kernels.reference.RandomFill;
import java.util.Arrays;
import java.util.function.Function;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the kernels of a layer, attention excepted, must compute; one subclass a library. */
@AddLifecycleHook(
    value = TestTarget.SkipElsewhere.class,
    propagateTo = PropagationMode.ALL_DESCENDANTS)
abstract class LayerContractTest {
  private static final int[] ODD_LENGTHS = {1, 257, 8190};

  @BeforeEach
  void requireTarget() {
    TestTarget.require(getClass());
    kernels();
  }

  /** The kernels to test: the target's own, unless a subclass has others. */
  PortableKernels kernels() {
    return TestTarget.open().kernels();
  }

  private KernelFixture fixture(long seed) {
    return new KernelFixture(kernels(), seed);
  }

  @Provide
  Arbitrary<DType> x() {
    return Arbitraries.of(DType.BF16, DType.F16);
  }

  // Any length up to 300, and often one at a boundary of vectors and tiles.
  @Provide
  Arbitrary<Integer> extent() {
    return Arbitraries.oneOf(
        Arbitraries.integers().between(1, 300),
        Arbitraries.of(1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257));
  }

  // ---- gemm

  @Property(tries = 150)
  void gemmShouldMultiply(
      @ForAll("x") DType dtype,
      @ForAll @IntRange(min = 0, max = 48) int m,
      @ForAll("extent") int n,
      @ForAll("extent") int k,
      @ForAll boolean floatOut,
      @ForAll boolean biased,
      @ForAll boolean gaps,
      @ForAll @IntRange(max = 1000) int seed) {
    checkGemm(dtype, m, n, k, floatOut, biased, gaps, seed);
  }

  @Test
  void gemmShouldMultiplyOddLengths() {
    for (int odd : ODD_LENGTHS) {
      checkGemm(DType.BF16, 3, 5, odd, true, false, false, odd);
      checkGemm(DType.BF16, 3, odd, 65, false, true, true, odd);
      checkGemm(DType.F16, odd, 3, 33, false, true, false, odd);
    }
  }

  private void checkGemm(
      DType dtype, int m, int n, int k, boolean floatOut, boolean biased, boolean gaps, int seed) {
    try (KernelFixture f = fixture(seed)) {
      Input a = f.random(dtype, 1, m, k);
      Input b = f.random(dtype, 1 / Math.sqrt(k), n, k);
      Input bias = biased ? f.random(dtype, 2, n) : null;
      DType outType = floatOut ? DType.F32 : dtype;
      Tensor out = gaps ? f.outputWithGaps(outType, m, n, 3) : f.output(outType, m, n);
      f.run(f.kernels.gemm(a.tensor(), b.tensor(), out, biased ? bias.tensor() : null));
      double[] expected =
          LayerReference.gemm(a.values(), b.values(), biased ? bias.values() : null, m, n, k);
      if (floatOut) {
        KernelFixture.assertClose("out", out.toFloats(), expected, 1e-4, 1e-4);
      } else {
        KernelFixture.assertClose("out", out, expected);
      }
    }
  }

  @Test
  void gemmShouldLeaveTheGapBetweenRowsAlone() {
    try (KernelFixture f = fixture(1)) {
      Input a = f.random(DType.BF16, 1, 5, 64);
      Input b = f.random(DType.BF16, 1, 33, 64);
      Tensor whole = f.output(DType.BF16, 5, 40);
      f.run(f.kernels.gemm(a.tensor(), b.tensor(), whole.slice(1, 0, 33), null));
      for (float value : whole.slice(1, 33, 40).toFloats()) {
        assertThat(value).isNaN();
      }
    }
  }

  @Test
  void gemmShouldRefuseBadArguments() {
    try (KernelFixture f = fixture(2)) {
      Tensor a = f.random(DType.BF16, 1, 4, 64).tensor();
      Tensor b = f.random(DType.BF16, 1, 8, 64).tensor();
      Tensor out = f.output(DType.BF16, 4, 8);
      assertRefused(
          f.kernels.gemm(a, b.slice(1, 0, 32), out, null), "ValueError", "gemm", "b", "64");
      assertRefused(f.kernels.gemm(a, b, out.slice(0, 0, 3), null), "ValueError", "gemm", "out");
      assertRefused(
          f.kernels.gemm(a, b, f.output(DType.F16, 4, 8), null), "ValueError", "gemm", "out", "16");
      assertRefused(f.kernels.gemm(a.select(0, 0), b, out, null), "ValueError", "gemm", "a");
      assertRefused(
          f.kernels.gemm(a.view(0, new long[] {64, 4}, new long[] {1, 64}), b, out, null),
          "ValueError",
          "gemm",
          "a");
      assertRefused(
          f.kernels.gemm(a, b, out, f.random(DType.BF16, 1, 7).tensor()),
          "ValueError",
          "gemm",
          "bias",
          "7");
      assertRefused(
          f.kernels.gemm(a, b, out, f.random(DType.F16, 1, 8).tensor()),
          "ValueError",
          "gemm",
          "bias");
      assertRefused(
          f.kernels.library().function("gemm").arguments().tensor(a).tensor(b).prepare(),
          "TypeError",
          "gemm",
          "out");
      assertRefused(
          f.kernels.library().function("gemm").arguments().tensor(a).tensor(b).integer(1).prepare(),
          "TypeError",
          "gemm",
          "out");
      f.stream.synchronize();
      for (float value : out.toFloats()) {
        assertThat(value).isNaN(); // nothing was launched
      }
    }
  }

  private static void assertRefused(PreparedCall call, String kind, String... parts) {
    assertThatThrownBy(call::launch)
        .isInstanceOfSatisfying(
            FfiException.class, failure -> assertThat(failure.kind()).isEqualTo(kind))
        .hasMessageContainingAll(parts);
  }

  // ---- norms

  @Property(tries = 100)
  void rmsNormShouldNormalize(
      @ForAll("x") DType dtype,
      @ForAll @IntRange(min = 0, max = 9) int tokens,
      @ForAll("extent") int hidden,
      @ForAll boolean inPlace,
      @ForAll @IntRange(max = 1000) int seed) {
    checkRmsNorm(dtype, tokens, hidden, inPlace, seed);
  }

  @Test
  void rmsNormShouldNormalizeOddLengths() {
    for (int odd : ODD_LENGTHS) {
      checkRmsNorm(DType.BF16, 3, odd, false, odd);
      checkRmsNorm(DType.F16, odd, 65, true, odd);
    }
  }

  private void checkRmsNorm(DType dtype, int tokens, int hidden, boolean inPlace, int seed) {
    try (KernelFixture f = fixture(seed)) {
      Input x = f.random(dtype, 2, tokens, hidden);
      Input weight = f.random(dtype, 1, hidden);
      Tensor out = inPlace ? x.tensor() : f.outputWithGaps(dtype, tokens, hidden, 5);
      f.run(f.kernels.rmsNorm(x.tensor(), weight.tensor(), out, 1e-6));
      double[] expected =
          byRow(x.values(), tokens, hidden, r -> LayerReference.rmsNorm(r, weight.values(), 1e-6));
      KernelFixture.assertClose("out", out, expected);
    }
  }

  @Property(tries = 100)
  void fusedAddRmsNormShouldAddAndNormalize(
      @ForAll("x") DType dtype,
      @ForAll @IntRange(min = 0, max = 9) int tokens,
      @ForAll("extent") int hidden,
      @ForAll boolean inPlace,
      @ForAll @IntRange(max = 1000) int seed) {
    try (KernelFixture f = fixture(seed)) {
      Input x = f.random(dtype, 1, tokens, hidden);
      Input residual = f.random(dtype, 1, tokens, hidden);
      Input weight = f.random(dtype, 1, hidden);
      Tensor out = inPlace ? x.tensor() : f.output(dtype, tokens, hidden);
      Tensor sum = inPlace ? residual.tensor() : f.output(dtype, tokens, hidden);
      f.run(
          f.kernels.fusedAddRmsNorm(
              x.tensor(), residual.tensor(), weight.tensor(), out, sum, 1e-5));
      float[] added = LayerReference.addResidual(x.values(), residual.values(), dtype);
      assertThat(sum.toFloats()).isEqualTo(added);
      KernelFixture.assertClose(
          "out",
          out,
          byRow(added, tokens, hidden, r -> LayerReference.rmsNorm(r, weight.values(), 1e-5)));
    }
  }

  private static double[] byRow(
      float[] x, int rows, int columns, Function<float[], double[]> function) {
    double[] all = new double[0];
    for (int i = 0; i < rows; i++) {
      double[] row = function.apply(Arrays.copyOfRange(x, i * columns, (i + 1) * columns));
      if (i == 0) {
        all = new double[rows * row.length];
      }
      System.arraycopy(row, 0, all, i * row.length, row.length);
    }
    return all;
  }

  // ---- rope and cache

  @Property(tries = 100)
  void qkNormRopeShouldNormalizeAndRotate(
      @ForAll("x") DType dtype,
      @ForAll @IntRange(min = 0, max = 7) int tokens,
      @ForAll @IntRange(min = 1, max = 6) int qHeads,
      @ForAll @IntRange(min = 1, max = 3) int kvHeads,
      @ForAll("headDims") int dim,
      @ForAll boolean norm,
      @ForAll @IntRange(max = 1000) int seed) {
    int heads = qHeads + 2 * kvHeads;
    int maxPosition = 300;
    try (KernelFixture f = fixture(seed)) {
      Input qkv = f.random(dtype, 1, tokens, (long) heads * dim);
      Input qWeight = f.random(dtype, 1, dim);
      Input kWeight = f.random(dtype, 1, dim);
      float[] table = LayerReference.cosSinTable(maxPosition, dim, 1e6);
      Tensor cosSin = f.keep(f.ffi.allocate(DType.F32, maxPosition, dim)).copyFrom(table);
      int[] positions = new int[tokens];
      Arrays.setAll(positions, i -> (i * 131 + seed) % maxPosition);
      Tensor qOut = f.output(dtype, tokens, qHeads, dim);
      Tensor kOut = f.output(dtype, tokens, kvHeads, dim);
      f.run(
          f.kernels.qkNormRope(
              qkv.tensor(),
              norm ? qWeight.tensor() : null,
              norm ? kWeight.tensor() : null,
              cosSin,
              f.ints(positions),
              qOut,
              kOut,
              1e-6));
      double[] q = new double[tokens * qHeads * dim];
      double[] k = new double[tokens * kvHeads * dim];
      for (int t = 0; t < tokens; t++) {
        float[] angles = Arrays.copyOfRange(table, positions[t] * dim, (positions[t] + 1) * dim);
        for (int h = 0; h < qHeads + kvHeads; h++) {
          int first = (t * heads + h) * dim;
          float[] head = Arrays.copyOfRange(qkv.values(), first, first + dim);
          boolean isQ = h < qHeads;
          float[] weight = norm ? (isQ ? qWeight : kWeight).values() : null;
          double[] row = LayerReference.normRope(head, weight, angles, 1e-6);
          int at = isQ ? (t * qHeads + h) * dim : (t * kvHeads + h - qHeads) * dim;
          System.arraycopy(row, 0, isQ ? q : k, at, dim);
        }
      }
      KernelFixture.assertClose("q_out", qOut, q);
      KernelFixture.assertClose("k_out", kOut, k);
    }
  }

  @Provide
  Arbitrary<Integer> headDims() {
    return Arbitraries.of(2, 6, 64, 80, 96, 128, 192, 256);
  }

  @Property(tries = 100)
  void kvCacheWriteShouldWriteItsSlotsOnly(
      @ForAll("x") DType dtype,
      @ForAll @IntRange(min = 0, max = 20) int tokens,
      @ForAll @IntRange(min = 1, max = 4) int kvHeads,
      @ForAll("headDims") int dim,
      @ForAll("pageSizes") int pageSize,
      @ForAll @IntRange(max = 1000) int seed) {
    int pages = 32 / pageSize + 3;
    int slots = pages * pageSize;
    int row = kvHeads * dim;
    try (KernelFixture f = fixture(seed)) {
      // k and v as they are in a layer: views of the rows of one projection
      Input qkv = f.random(dtype, 1, tokens, 3L * row);
      long[] shape = {tokens, kvHeads, dim};
      long[] strides = {3L * row, dim, 1};
      Tensor k = qkv.tensor().view(tokens == 0 ? 0 : row, shape, strides);
      Tensor v = qkv.tensor().view(tokens == 0 ? 0 : 2L * row, shape, strides);
      Tensor kCache = f.output(dtype, pages, pageSize, kvHeads, dim);
      Tensor vCache = f.output(dtype, pages, pageSize, kvHeads, dim);
      long[] mapping = new long[tokens];
      for (int t = 0; t < tokens; t++) {
        mapping[t] = t % 5 == 4 ? -1 - t : (t * 7L + seed) % slots;
      }
      for (int t = 0; t < tokens; t++) { // no slot twice: the order would not be defined
        for (int s = 0; s < t; s++) {
          mapping[t] = mapping[t] >= 0 && mapping[t] == mapping[s] ? -1 : mapping[t];
        }
      }
      f.run(f.kernels.kvCacheWrite(k, v, kCache, vCache, f.longs(mapping)));
      float[] expectedK = new float[slots * row];
      float[] expectedV = new float[slots * row];
      Arrays.fill(expectedK, Float.NaN);
      Arrays.fill(expectedV, Float.NaN);
      for (int t = 0; t < tokens; t++) {
        if (mapping[t] >= 0) {
          int to = (int) mapping[t] * row;
          System.arraycopy(qkv.values(), (3 * t + 1) * row, expectedK, to, row);
          System.arraycopy(qkv.values(), (3 * t + 2) * row, expectedV, to, row);
        }
      }
      assertThat(kCache.toFloats()).isEqualTo(expectedK);
      assertThat(vCache.toFloats()).isEqualTo(expectedV);
    }
  }

  @Provide
  Arbitrary<Integer> pageSizes() {
    return Arbitraries.of(1, 7, 16, 64);
  }

  // ---- the rest

  @Property(tries = 100)
  void siluAndMulShouldGate(
      @ForAll("x") DType dtype,
      @ForAll @IntRange(min = 0, max = 9) int tokens,
      @ForAll("extent") int features,
      @ForAll @IntRange(max = 1000) int seed) {
    checkSiluAndMul(dtype, tokens, features, seed);
  }

  @Test
  void siluAndMulShouldGateOddLengths() {
    for (int odd : ODD_LENGTHS) {
      checkSiluAndMul(DType.BF16, 2, odd, odd);
      checkSiluAndMul(DType.F16, odd, 9, odd);
    }
  }

  private void checkSiluAndMul(DType dtype, int tokens, int features, int seed) {
    try (KernelFixture f = fixture(seed)) {
      Input x = f.random(dtype, 3, tokens, 2L * features);
      Tensor out = f.outputWithGaps(dtype, tokens, features, 2);
      f.run(f.kernels.siluAndMul(x.tensor(), out));
      KernelFixture.assertClose(
          "out", out, byRow(x.values(), tokens, 2 * features, LayerReference::siluAndMul));
    }
  }

  @Property(tries = 80)
  void embeddingShouldGatherRows(
      @ForAll("x") DType dtype,
      @ForAll @IntRange(min = 0, max = 40) int tokens,
      @ForAll("extent") int hidden,
      @ForAll @IntRange(max = 1000) int seed) {
    int vocabulary = 50;
    try (KernelFixture f = fixture(seed)) {
      Input table = f.random(dtype, 1, vocabulary, hidden);
      int[] ids = new int[tokens];
      Arrays.setAll(ids, i -> (i * 17 + seed) % vocabulary);
      Tensor out = f.output(dtype, tokens, hidden);
      f.run(f.kernels.embedding(f.ints(ids), table.tensor(), out));
      float[] expected = new float[tokens * hidden];
      for (int t = 0; t < tokens; t++) {
        System.arraycopy(table.values(), ids[t] * hidden, expected, t * hidden, hidden);
      }
      assertThat(out.toFloats()).isEqualTo(expected);
    }
  }

  @Property(tries = 100)
  void argmaxShouldTakeTheLowestOfEqualIndices(
      @ForAll("x") DType dtype,
      @ForAll boolean floats,
      @ForAll @IntRange(min = 0, max = 9) int tokens,
      @ForAll("extent") int vocabulary,
      @ForAll @IntRange(max = 1000) int seed) {
    checkArgmax(floats ? DType.F32 : dtype, tokens, vocabulary, seed);
  }

  @Test
  void argmaxShouldSearchOddLengths() {
    for (int odd : ODD_LENGTHS) {
      checkArgmax(DType.BF16, 4, odd, odd);
      checkArgmax(DType.F32, odd, 5, odd);
    }
    checkArgmax(DType.BF16, 2, 151_936, 5);
  }

  private void checkArgmax(DType dtype, int tokens, int vocabulary, int seed) {
    try (KernelFixture f = fixture(seed)) {
      // bf16 has so few values that a row of this size holds its greatest several times
      Input logits = f.random(dtype, 1, tokens, vocabulary);
      Tensor out = f.output(DType.I32, tokens);
      f.run(f.kernels.argmax(logits.tensor(), out));
      int[] expected = new int[tokens];
      Arrays.setAll(
          expected,
          t ->
              LayerReference.argmax(
                  Arrays.copyOfRange(logits.values(), t * vocabulary, (t + 1) * vocabulary)));
      assertThat(out.toInts()).isEqualTo(expected);
    }
  }

  @Property(tries = 80)
  void randomFillShouldMatchTheReferenceBitForBit(
      @ForAll("fillTypes") DType dtype,
      @ForAll @IntRange(min = 0, max = 9000) int count,
      @ForAll int seed,
      @ForAll @IntRange(min = 1, max = 100) int percent) {
    checkRandomFill(dtype, count, seed & 0xffffffffL, percent / 100.0);
  }

  @Provide
  Arbitrary<DType> fillTypes() {
    return Arbitraries.of(DType.BF16, DType.F16, DType.F32);
  }

  @Test
  void randomFillShouldFillOddLengthsAndManyBlocks() {
    for (int odd : ODD_LENGTHS) {
      checkRandomFill(DType.BF16, odd, odd, 1);
    }
    checkRandomFill(DType.F32, 1_000_003, 42, 0.02);
  }

  private void checkRandomFill(DType dtype, int count, long seed, double scale) {
    try (KernelFixture f = fixture(0)) {
      Tensor out = f.output(dtype, count);
      f.run(f.kernels.randomFill(out, seed, scale));
      float[] expected = RandomFill.values(seed, 0, count, scale);
      for (int i = 0; i < count; i++) {
        expected[i] = dtype.round(expected[i]);
      }
      assertThat(out.toFloats()).isEqualTo(expected);
    }
  }

  // ---- roofs

  @Test
  void copyBandwidthShouldCopy() {
    for (int bytes : new int[] {1, 257, 8190, 3_000_001}) {
      try (KernelFixture f = fixture(bytes)) {
        byte[] data = new byte[bytes];
        new java.util.Random(bytes).nextBytes(data);
        Tensor from = f.keep(f.ffi.allocate(DType.U8, bytes)).copyFrom(data);
        Tensor to = f.output(DType.U8, bytes);
        f.run(f.kernels.copyBandwidth(from, to));
        assertThat(to.toBytes()).isEqualTo(data);
      }
    }
  }

  @Test
  void readBandwidthShouldReadForAnyNumberOfStreams() {
    try (KernelFixture f = fixture(1)) {
      Tensor source = f.keep(f.ffi.allocate(DType.U8, 3_000_001));
      source.fillBytes((byte) 1);
      for (int streams : new int[] {1, 2, 3, 8}) {
        Tensor out = f.output(DType.F32, 1);
        f.run(f.kernels.readBandwidth(source, streams, out));
        assertThat(out.toFloats()[0]).isFinite();
      }
    }
  }

  @Test
  void peakFlopsShouldCountItsWork() {
    try (KernelFixture f = fixture(1)) {
      Tensor out = f.output(DType.F32, 1);
      f.run(f.kernels.peakFlops(1000, out));
      assertThat(out.toFloats()[0]).isFinite();
      assertThat(f.kernels.peakFlopsPerIteration()).isPositive();
    }
  }

  @Test
  void emptyShouldRun() {
    try (KernelFixture f = fixture(1)) {
      f.run(f.kernels.empty());
    }
  }
}
