package io.musabench.jmh.device;

import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import java.util.List;

/** The matrix products of one library; operands as in {@link KernelCases#gemm}. */
public interface MatrixProducts {
  /**
   * {@code out[M, N] = a[M, K] · b[N, K]ᵀ + bias[N]}.
   *
   * @param bias null: none
   * @throws UnavailableException if the library does not compute that
   */
  PreparedCall gemm(Tensor a, Tensor b, Tensor out, Tensor bias);

  /** Whose they are, where that is not this project's; else empty. */
  default List<String> notes() {
    return List.of();
  }
}
