package io.musabench.jmh.device;

import java.util.Locale;

/** The device was throttled during all of a session: there is no time of the device as it is. */
public final class ThrottledException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ThrottledException(int samples, DeviceWatch.Reading reading) {
    super(
        String.format(
            Locale.ROOT,
            "all %d samples were taken under a throttled clock, the last at %.0f of %.0f MHz%s; let"
                + " the device cool down (--cool-down), fix a clock that it can hold, or accept it:"
                + " -D%s=0",
            samples,
            reading.coreMhz().orElse(Double.NaN),
            reading.highestMhz().orElse(Double.NaN),
            reading.reasons().isEmpty() ? "" : " (" + String.join(", ", reading.reasons()) + ")",
            DeviceContext.THROTTLE));
  }
}
