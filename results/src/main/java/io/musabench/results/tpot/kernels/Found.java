package io.musabench.results.tpot.kernels;

import io.musabench.results.tpot.Provenance;

/**
 * What a look-up found.
 *
 * @param seconds the time
 * @param axes {@link Axis#bit}s along which the measured points were left; 0 for a measured point
 */
record Found(double seconds, int axes) {
  Found with(Axis axis) {
    return (axes & axis.bit()) != 0 ? this : new Found(seconds, axes | axis.bit());
  }

  boolean has(Axis axis) {
    return (axes & axis.bit()) != 0;
  }

  /** Times {@code factor}; the axes stay. */
  Found times(double factor) {
    return new Found(seconds * factor, axes);
  }

  /** {@code (1 - weight) * this + weight * other}, left along {@code axis}. */
  Found blend(Found other, double weight, Axis axis) {
    return new Found(seconds + (other.seconds - seconds) * weight, axes | other.axes | axis.bit());
  }

  Provenance provenance() {
    return axes == 0
        ? Provenance.MEASURED
        : has(Axis.BEYOND) ? Provenance.EXTRAPOLATED : Provenance.INTERPOLATED;
  }
}
