package io.musabench.results.tpot;

import io.musabench.results.model.ElementType;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.kernels.DeviceRoofs;
import io.musabench.results.tpot.kernels.KernelSource;
import io.musabench.results.tpot.kernels.KernelTime;
import io.musabench.results.tpot.kernels.KernelTimes;
import java.util.Map;
import java.util.Optional;

/** Kernels of an imagined device: each takes a start and a constant times what its roof demands. */
public record AnalyticKernels(
    double overRoof, double relativeError, double memoryBytes, double start)
    implements KernelSource {
  /** Kernels that start in 1 µs. */
  public AnalyticKernels(double overRoof, double relativeError, double memoryBytes) {
    this(overRoof, relativeError, memoryBytes, 1e-6);
  }

  static KernelTimes times() {
    return new KernelTimes(new AnalyticKernels(1.25, 0.05, 80e9));
  }

  @Override
  public String name() {
    return "imagined";
  }

  @Override
  public Optional<KernelTime> time(KernelCall call, Precision precision) {
    double seconds = start + overRoof * roofs().seconds(call, precision);
    return Optional.of(new KernelTime(seconds, relativeError, Provenance.MEASURED, "formula"));
  }

  @Override
  public DeviceRoofs roofs() {
    return new DeviceRoofs(
        1600,
        Map.of(ElementType.BF16, 500.0, ElementType.FP8, 1000.0),
        392,
        memoryBytes,
        Provenance.DATA_SHEET);
  }
}
