package io.musabench.results.tpot.answers;

import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.kernels.DeviceRoofs;
import io.musabench.results.tpot.kernels.KernelSource;
import io.musabench.results.tpot.kernels.KernelTime;
import io.musabench.results.tpot.kernels.LaunchCosts;
import io.musabench.results.tpot.kernels.LookupError;
import java.util.List;
import java.util.Optional;

/**
 * Kernel times of one device carried over to another: each kernel is taken to reach the same share
 * of its roof there, and the roof is that of the other device. What launching costs the host stays.
 * Where both have the same roofs, the times stay too.
 *
 * <p>A carried time has the error of the measured one: how far a share of the roof is another one
 * on another device is not known, so it is in no number here, and the answer says so.
 */
final class CarriedSource implements KernelSource {
  private final KernelSource measured;
  private final Basis base;
  private final Basis to;
  private final String name;

  /**
   * Times for another device.
   *
   * @param measured times on the device that was measured
   * @param base its roofs
   * @param to roofs of the other
   * @param name of the other
   */
  CarriedSource(KernelSource measured, Basis base, Basis to, String name) {
    this.measured = measured;
    this.base = base;
    this.to = to;
    this.name = name;
  }

  /** Whether these are the times of this very device. */
  boolean own() {
    return base.roofs().equals(to.roofs());
  }

  @Override
  public String name() {
    return own() ? measured.name() : name + " by utilisation of " + measured.name();
  }

  @Override
  public Optional<KernelTime> time(KernelCall call, Precision precision) {
    KernelTime time = measured.time(call, precision).orElse(null);
    if (time == null || own()) {
      return Optional.ofNullable(time);
    }
    Provenance provenance =
        time.provenance()
            .worse(base.provenance(call, precision))
            .worse(to.provenance(call, precision));
    if (time.seconds() == 0) {
      // Contained in another operation there too, which nobody measured there.
      return Optional.of(new KernelTime(0, time.relativeError(), provenance, time.from()));
    }
    double share = Math.min(1, base.roofs().seconds(call, precision) / time.seconds());
    double seconds = to.roofs().seconds(call, precision) / share;
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
    return Optional.of(
        new KernelTime(
            seconds,
            time.relativeError(),
            provenance,
            "utilisation of " + time.from(),
            time.otherTypes()));
  }

  @Override
  public DeviceRoofs roofs() {
    return to.roofs();
  }

  @Override
  public Optional<LaunchCosts> launch() {
    return measured.launch();
  }

  @Override
  public List<LookupError> leaveOneOut() {
    return measured.leaveOneOut();
  }

  @Override
  public List<String> remarks() {
    return measured.remarks();
  }
}
