package io.musabench.results.tpot.kernels;

import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Provenance;

/** What is assumed about a kernel that nobody measured: that it reaches its roof. */
final class Fallback {
  /** A kernel rarely runs above two thirds of its roof; the true time may well be twice this. */
  static final double RELATIVE_ERROR = 0.5;

  private Fallback() {}

  static KernelTime time(DeviceRoofs roofs, KernelCall call, Precision precision) {
    double seconds = roofs.seconds(call, precision);
    if (!(seconds > 0)) {
      throw new IllegalArgumentException(
          "No time of the kernel "
              + call.key()
              + " is known, and no roof to assume one from: "
              + (call.communicates()
                  ? "add a run of AllReduce on as many devices to --kernels, or describe the link"
                      + " between the ranks by --link and --link-us"
                  : "give kernel times that contain it, or roofs (ReadBandwidth and PeakFlops in a"
                      + " run directory, a system file beside aiconfigurator's tables)"));
    }
    return new KernelTime(seconds, RELATIVE_ERROR, Provenance.ASSUMED, "its roof");
  }
}
