package io.musabench.results.tpot.answers;

import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.kernels.DeviceRoofs;
import io.musabench.results.tpot.kernels.KernelSource;
import io.musabench.results.tpot.kernels.KernelTime;
import java.util.Locale;
import java.util.Optional;

/** Where no kernel was measured: every kernel is assumed to reach one share of its roof. */
final class AssumedSource implements KernelSource {
  private static final double RELATIVE_ERROR = 0.3;

  private final DeviceRoofs roofs;
  private final double utilisation;
  private final String device;

  /**
   * Times from roofs alone.
   *
   * @param utilisation share of its roof that every kernel reaches, above 0 and at most 1
   * @throws IllegalArgumentException if it is not
   */
  AssumedSource(DeviceRoofs roofs, double utilisation, String device) {
    if (!(utilisation > 0 && utilisation <= 1)) {
      throw new IllegalArgumentException(
          "A utilisation lies above 0 and up to 1, not at " + utilisation);
    }
    this.roofs = roofs;
    this.utilisation = utilisation;
    this.device = device;
  }

  @Override
  public String name() {
    return String.format(
        Locale.ROOT, "roofs of %s, %.0f %% of them assumed", device, 100 * utilisation);
  }

  @Override
  public Optional<KernelTime> time(KernelCall call, Precision precision) {
    double seconds = roofs.seconds(call, precision) / utilisation;
    return seconds > 0
        ? Optional.of(
            new KernelTime(
                seconds, RELATIVE_ERROR, Provenance.ASSUMED, "an assumed share of its roof"))
        : Optional.empty();
  }

  @Override
  public DeviceRoofs roofs() {
    return roofs;
  }
}
