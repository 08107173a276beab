package io.musabench.results.tpot.kernels;

import io.musabench.results.model.ElementType;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Precision;
import io.musabench.results.model.Work;
import io.musabench.results.tpot.Provenance;
import java.util.Map;

/**
 * What a device can do at most. A figure that is not known is NaN.
 *
 * @param readGbPerS read bandwidth of the memory, 10<sup>9</sup> bytes a second
 * @param tflopPerS arithmetic rate by type of the operands, 10<sup>12</sup> FLOPs a second
 * @param linkGbPerS bandwidth between two devices in one direction, 10<sup>9</sup> bytes a second
 * @param memoryBytes memory of the device; NaN if not known
 * @param provenance measured or data sheet; assumed where only kernel times tell what the device
 *     reaches at least
 */
public record DeviceRoofs(
    double readGbPerS,
    Map<ElementType, Double> tflopPerS,
    double linkGbPerS,
    double memoryBytes,
    Provenance provenance) {
  /** Nothing known. */
  public static final DeviceRoofs UNKNOWN =
      new DeviceRoofs(Double.NaN, Map.of(), Double.NaN, Double.NaN, Provenance.ASSUMED);

  /** Copies the map. */
  public DeviceRoofs {
    tflopPerS = Map.copyOf(tflopPerS);
  }

  /** Arithmetic rate for operands of a type, in TFLOP/s; NaN if not known. */
  public double tflopPerS(ElementType type) {
    return tflopPerS.getOrDefault(type, Double.NaN);
  }

  /**
   * The least time that a call can take: that of its bytes or that of its FLOPs, whichever is
   * longer; over the link for communication. NaN if a roof that it needs is not known.
   */
  public double seconds(KernelCall call, Precision precision) {
    Work work = call.work(precision);
    if (call.communicates()) {
      return work.bytes() / (linkGbPerS * 1e9);
    }
    double byBytes = work.bytes() == 0 ? 0 : work.bytes() / (readGbPerS * 1e9);
    double byFlops =
        work.flops() == 0 ? 0 : work.flops() / (tflopPerS(call.arithmetic(precision)) * 1e12);
    return Math.max(byBytes, byFlops);
  }
}
