package io.musabench.results.tpot.kernels;

import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Precision;
import java.util.List;
import java.util.Optional;

/** Where kernel times come from. Implementations are immutable and safe for any thread. */
public interface KernelSource {
  /** What reports call it, for example {@code aiconfigurator h100_sxm vLLM 0.14.0}. */
  String name();

  /**
   * Time of one call.
   *
   * @return empty if the source knows nothing about this kernel
   */
  Optional<KernelTime> time(KernelCall call, Precision precision);

  /** The device that was measured, as its runtime names it; empty if that is not known. */
  default Optional<String> device() {
    return Optional.empty();
  }

  /** Roofs of the device that was measured. */
  DeviceRoofs roofs();

  /** What launching costs: measured in run directories, assumed from aiconfigurator's. */
  default Optional<LaunchCosts> launch() {
    return Optional.empty();
  }

  /**
   * How far a look-up is off when the point looked up is taken out of the table first: one entry an
   * operation; none where there is no table. Computed at the first call, which may take seconds.
   */
  default List<LookupError> leaveOneOut() {
    return List.of();
  }

  /** What a reader of the times must know, one sentence each. */
  default List<String> remarks() {
    return List.of();
  }
}
