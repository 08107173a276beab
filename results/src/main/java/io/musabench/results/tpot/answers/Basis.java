package io.musabench.results.tpot.answers;

import io.musabench.results.devices.DataSheet;
import io.musabench.results.devices.Figure;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.kernels.DeviceRoofs;

/**
 * Roofs of which kernels reach a share.
 *
 * @param roofs the figures
 * @param sheet the data sheet that they are from; null if they are from elsewhere
 */
record Basis(DeviceRoofs roofs, DataSheet sheet) {
  static Basis of(DataSheet sheet) {
    return new Basis(Setup.roofs(sheet), sheet);
  }

  /** How the roof of a call was got: a data sheet may have figures that are only assumed. */
  Provenance provenance(KernelCall call, Precision precision) {
    if (sheet == null) {
      return roofs.provenance();
    }
    double byBytes = call.work(precision).bytes() / (roofs.readGbPerS() * 1e9);
    String name =
        call.communicates()
            ? DataSheet.LINK_GB_PER_S
            : roofs.seconds(call, precision) > byBytes
                ? Setup.RATES.get(call.arithmetic(precision))
                : DataSheet.MEMORY_GB_PER_S;
    Figure figure = sheet.figures().get(name);
    return figure != null && figure.confidence() == Figure.Confidence.ASSUMED
        ? Provenance.ASSUMED
        : Provenance.DATA_SHEET;
  }
}
