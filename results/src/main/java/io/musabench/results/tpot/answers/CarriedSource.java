package io.musabench.results.tpot.answers;

import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.kernels.DeviceRoofs;
import io.musabench.results.tpot.kernels.KernelSource;
import io.musabench.results.tpot.kernels.KernelTime;
import io.musabench.results.tpot.kernels.KernelTimes;
import io.musabench.results.tpot.kernels.LaunchCosts;
import io.musabench.results.tpot.kernels.LookupError;
import java.util.List;
import java.util.Optional;

/**
 * Kernel times of one device carried over to another: each kernel is taken to reach the same share
 * of its roof there, and the roof is that of the other device. What launching costs the host stays.
 */
final class CarriedSource implements KernelSource {
  /** How far off a share of the roof is that was measured on another device, one sigma. */
  static final double CARRY_ERROR = 0.25;

  private final KernelTimes measured;
  private final DeviceRoofs to;
  private final String name;
  private final Provenance provenance;

  /**
   * Times for another device.
   *
   * @param measured times on the device that was measured
   * @param to roofs of the other
   * @param name of the other
   * @param provenance of its roofs
   */
  CarriedSource(KernelTimes measured, DeviceRoofs to, String name, Provenance provenance) {
    this.measured = measured;
    this.to = to;
    this.name = name;
    this.provenance = provenance;
  }

  /** Share of its roof that a kernel reaches where it was measured, at most 1. */
  double utilisation(KernelCall call, Precision precision) {
    double seconds = measured.of(call, precision).seconds();
    double roof = measured.source().roofs().seconds(call, precision);
    return seconds == 0 ? 1 : Math.min(1, roof / seconds);
  }

  @Override
  public String name() {
    return name + " by utilisation of " + measured.source().name();
  }

  @Override
  public Optional<KernelTime> time(KernelCall call, Precision precision) {
    KernelTime time = measured.of(call, precision);
    if (time.seconds() == 0) {
      return Optional.of(time);
    }
    double seconds = to.seconds(call, precision) / utilisation(call, precision);
    if (!(seconds > 0)) {
      throw new IllegalArgumentException(
          "The time of "
              + call.kernel()
              + " cannot be carried over to "
              + name
              + ": a roof that it needs ("
              + (call.communicates() ? "link" : "bandwidth or " + call.arithmetic(precision).text())
              + ") is not known there, or not where it was measured");
    }
    double error = Math.hypot(time.relativeError(), CARRY_ERROR);
    return Optional.of(
        new KernelTime(
            seconds, error, time.provenance().worse(provenance), "utilisation of " + time.from()));
  }

  @Override
  public DeviceRoofs roofs() {
    return to;
  }

  @Override
  public Optional<LaunchCosts> launch() {
    return measured.source().launch();
  }

  @Override
  public List<LookupError> leaveOneOut() {
    return measured.source().leaveOneOut();
  }

  @Override
  public List<String> remarks() {
    return measured.source().remarks();
  }
}
