package io.musabench.bindings.blas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.bindings.Target;
import io.musabench.bindings.TestTarget;
import io.musabench.bindings.TestTarget.On;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.FfiException;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.KernelFixture;
import io.musabench.bindings.kernels.KernelFixture.Input;
import io.musabench.bindings.kernels.reference.LayerReference;
import io.musabench.bindings.load.LibraryLoader;
import io.musabench.bindings.runtime.Graph;
import io.musabench.bindings.runtime.GraphExec;
import io.musabench.bindings.runtime.Vendor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opentest4j.TestAbortedException;

/**
 * Calls of muBLAS and cuBLAS through a test double that has the exported names and the values of
 * either, checks every argument and computes.
 */
@On(Target.Kind.HOST)
class BlasTest {
  private KernelFixture f;
  private String before;

  @BeforeEach
  void open() {
    TestTarget.require(getClass());
    before = System.getProperty(Blas.LIBRARY_PROPERTY);
    f = new KernelFixture(7);
  }

  @AfterEach
  void close() {
    if (before == null) {
      System.clearProperty(Blas.LIBRARY_PROPERTY);
    } else {
      System.setProperty(Blas.LIBRARY_PROPERTY, before);
    }
    if (f != null) {
      f.close();
    }
  }

  private Blas blas(Vendor vendor) {
    Path folder = Target.nativeFolder().orElseThrow().resolveSibling("blas");
    Path library = folder.resolve(vendor == Vendor.MUSA ? "libmublas.so" : "libcublas.so");
    if (!Files.exists(library)) {
      throw new TestAbortedException("skipped: no " + library + "; build native with its tests");
    }
    System.setProperty(Blas.LIBRARY_PROPERTY, library.toString());
    return Blas.open(new LibraryLoader(), f.ffi, vendor, f.stream).orElseThrow();
  }

  private static double[] product(Input a, Input b, int m, int n, int k) {
    double[] expected = new double[m * n];
    for (int i = 0; i < m; i++) {
      float[] row = Arrays.copyOfRange(a.values(), i * k, (i + 1) * k);
      for (int j = 0; j < n; j++) {
        float[] column = Arrays.copyOfRange(b.values(), j * k, (j + 1) * k);
        expected[i * n + j] = LayerReference.dot(row, column);
      }
    }
    return expected;
  }

  @ParameterizedTest
  @CsvSource({
    "MUSA, BF16, BF16", "MUSA, F16, F16", "MUSA, BF16, F32",
    "CUDA, BF16, BF16", "CUDA, F16, F16", "CUDA, F16, F32",
  })
  void multipliesRowMajorMatricesOfDifferentSides(Vendor vendor, DType in, DType out) {
    try (Blas blas = blas(vendor)) {
      Input a = f.random(in, 1, 3, 40);
      Input b = f.random(in, 0.2, 5, 40);
      Tensor c = f.output(out, 3, 5);
      f.run(blas.gemm(a.tensor(), b.tensor(), c));
      double[] expected = product(a, b, 3, 5, 40);
      KernelFixture.assertClose(
          "c", c.toFloats(), expected, KernelFixture.atol(in), KernelFixture.rtol(in));
    }
  }

  @Test
  void leavesGapsBetweenRowsAlone() {
    try (Blas blas = blas(Vendor.MUSA)) {
      Input a = f.random(DType.BF16, 1, 4, 16);
      Input b = f.random(DType.BF16, 1, 6, 16);
      Tensor c = f.outputWithGaps(DType.F32, 4, 6, 3);
      f.run(blas.gemm(a.tensor(), b.tensor(), c));
      KernelFixture.assertClose("c", c.toFloats(), product(a, b, 4, 6, 16), 1e-3, 1e-3);
    }
  }

  @Test
  void canBeCapturedAndReplayed() {
    try (Blas blas = blas(Vendor.MUSA)) {
      Input a = f.random(DType.F16, 1, 2, 8);
      Input b = f.random(DType.F16, 1, 2, 8);
      Tensor c = f.output(DType.F16, 2, 2);
      var call = blas.gemm(a.tensor(), b.tensor(), c);
      try (Graph graph = f.ffi.runtime().capture(f.stream, call::launch);
          GraphExec exec = graph.instantiate()) {
        f.stream.synchronize();
        assertThat(c.toFloats()).containsOnly(Float.NaN);
        exec.launch(f.stream);
        f.stream.synchronize();
      }
      KernelFixture.assertClose("c", c, product(a, b, 2, 2, 8));
    }
  }

  @Test
  void refusesShapesThatDoNotFitAndTypesItHasNot() {
    try (Blas blas = blas(Vendor.CUDA)) {
      Tensor a = f.random(DType.BF16, 1, 2, 8).tensor();
      Tensor b = f.random(DType.BF16, 1, 3, 9).tensor();
      Tensor c = f.output(DType.BF16, 2, 3);
      assertThatThrownBy(() -> blas.gemm(a, b, c).launch())
          .isInstanceOf(FfiException.class)
          .hasMessageContaining("cublasGemmEx: ValueError")
          .hasMessageContaining("[M, K], b [N, K]");
      Tensor half = f.random(DType.F16, 1, 3, 8).tensor();
      assertThatThrownBy(() -> blas.gemm(a, half, c))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("a is BF16 and b F16");
    }
  }

  @Test
  void saysWhatTheLibraryReturned() {
    try (Blas blas = blas(Vendor.MUSA)) {
      Tensor a = f.random(DType.BF16, 1, 2, 8).tensor();
      Tensor b = f.random(DType.BF16, 1, 3, 8).tensor();
      var call = blas.gemm(a, b, f.output(DType.BF16, 2, 3));
      call.setInteger(9, 64); // The compute type of FP16, which the double does not have.
      assertThatThrownBy(call::launch)
          .isInstanceOf(FfiException.class)
          .hasMessageContaining("mublasGemmEx: RuntimeError: returned status 15");
    }
  }

  @Test
  void aLibraryThatIsNotThereIsNoError() {
    System.setProperty(Blas.LIBRARY_PROPERTY, "/nowhere/libmublas.so");
    LibraryLoader loader = new LibraryLoader();
    assertThat(Blas.open(loader, f.ffi, Vendor.MUSA, f.stream)).isEmpty();
    assertThat(loader.attempts()).hasSize(1);
  }
}
