package io.musabench.bindings.blas;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.runtime.Vendor;
import java.util.List;
import java.util.stream.Stream;

/**
 * Names and values of one vendor's BLAS.
 *
 * <p>cuBLAS: {@code cublas_api.h} and {@code library_types.h} of CUDA 12. muBLAS: version 1.10 of
 * MUSA 5.1, as FlagOS's notes on moving from one to the other write its values down; its operations
 * are not cuBLAS's. Assumed, because no header of muBLAS was at hand: that {@code mublasGemmEx}
 * takes cuBLAS's arguments in cuBLAS's order, and that {@code MUSA_R_16BF} is CUDA's 14, as the
 * other data types are CUDA's. {@link Blas}'s result is checked before anything is timed.
 *
 * @param libraries names and paths of the library, in the order in which they are tried
 * @param prefix of every function
 * @param suffix of the functions that have a second version
 * @param asIs operation: the operand as it is stored
 * @param transposed operation: its transpose
 * @param algorithm the library's own choice
 */
record BlasApi(
    List<String> libraries, String prefix, String suffix, int asIs, int transposed, int algorithm) {
  /** Products and sums in FP32: {@code CUBLAS_COMPUTE_32F} and {@code MUBLAS_COMPUTE_32F}. */
  static final int COMPUTE_32F = 68;

  private static final int R_32F = 0;
  private static final int R_16F = 2;
  private static final int R_16BF = 14;

  static BlasApi of(Vendor vendor) {
    return switch (vendor) {
      case MUSA ->
          new BlasApi(
              libraries("/usr/local/musa/lib/", "libmublas.so", "", ".1"),
              "mublas",
              "",
              111,
              112,
              0);
      case CUDA ->
          new BlasApi(
              libraries("/usr/local/cuda/lib64/", "libcublas.so", "", ".13", ".12", ".11"),
              "cublas",
              "_v2",
              0,
              1,
              -1);
    };
  }

  private static List<String> libraries(String folder, String name, String... versions) {
    return Stream.of("", folder)
        .flatMap(place -> Stream.of(versions).map(version -> place + name + version))
        .toList();
  }

  /** The exported name of a function that exists in two versions. */
  String versioned(String name) {
    return prefix + name + suffix;
  }

  /** The library's value for a type. */
  static int type(DType type) {
    return switch (type) {
      case F32 -> R_32F;
      case F16 -> R_16F;
      case BF16 -> R_16BF;
      default -> throw new IllegalArgumentException("BLAS multiplies no " + type);
    };
  }
}
