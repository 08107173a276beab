package io.musabench.jmh.device;

import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.AttentionOptions;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;
import java.util.List;

/**
 * The attention kernels of one library. Benchmarks and steps call attention through this and do not
 * know whose it is. Operands are as in {@link io.musabench.bindings.kernels.PortableKernels}; a
 * library's own scratch is its own matter.
 */
public interface AttentionKernels {
  /**
   * Attention over contiguous keys and values.
   *
   * @throws UnavailableException if the library has no kernel for it here
   */
  Attention prefill(
      BatchSpec batch, HeadGeometry heads, AttentionOptions options, Contiguous operands);

  /**
   * Attention over a paged cache. Called again with another layer of the same cache, it may share
   * what depends on the lengths alone.
   *
   * @param q X [Tq, Hq, Dqk]
   * @param out X [Tq, Hq, Dv]
   * @throws UnavailableException if the library has no kernel for it here
   */
  Attention paged(
      PagedCache cache, HeadGeometry heads, AttentionOptions options, Tensor q, Tensor out);

  /**
   * Operands of attention over contiguous keys and values, requests laid end to end.
   *
   * @param q X [Tq, Hq, Dqk]
   * @param k X [Tk, Hkv, Dqk]
   * @param v X [Tk, Hkv, Dv]
   * @param out X [Tq, Hq, Dv]
   * @param cuQ I32 [B+1]
   * @param cuK I32 [B+1]
   */
  record Contiguous(Tensor q, Tensor k, Tensor v, Tensor out, Tensor cuQ, Tensor cuK) {}

  /**
   * A prepared attention.
   *
   * @param call computes out
   * @param schedule has to run before it whenever the lengths have changed; null if there is none
   * @param note which kernels these are, where the operation's name does not say it; else empty
   */
  record Attention(PreparedCall call, Schedule schedule, String note) {
    /** The notes of a case. */
    List<String> notes() {
      return note.isEmpty() ? List.of() : List.of(note);
    }
  }

  /**
   * What a library computes once for all layers of a step.
   *
   * @param call computes it from the lengths
   * @param written what it writes
   */
  record Schedule(PreparedCall call, List<Tensor> written) {}
}
