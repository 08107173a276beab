package io.musabench.bindings.management;

import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * A device's state at one moment. What could not be read is empty, never zero.
 *
 * @param coreClockMhz clock of the cores now
 * @param memoryClockMhz clock of the memory now
 * @param maxCoreClockMhz the highest clock that the cores can have
 * @param temperatureC temperature in degrees Celsius
 * @param powerWatts power drawn now
 * @param powerLimitWatts the power at which the device slows down
 * @param usedBytes device memory in use, by anyone
 * @param totalBytes device memory
 * @param eccErrors uncorrected memory errors since the driver was loaded
 * @param throttleReasons why the clock is below what the load asks for, in the library's words;
 *     empty if it is not, or if the library does not tell
 */
public record DeviceState(
    OptionalDouble coreClockMhz,
    OptionalDouble memoryClockMhz,
    OptionalDouble maxCoreClockMhz,
    OptionalDouble temperatureC,
    OptionalDouble powerWatts,
    OptionalDouble powerLimitWatts,
    OptionalLong usedBytes,
    OptionalLong totalBytes,
    OptionalLong eccErrors,
    List<String> throttleReasons) {
  /** Nothing could be read. */
  public static final DeviceState UNKNOWN =
      new DeviceState(
          OptionalDouble.empty(),
          OptionalDouble.empty(),
          OptionalDouble.empty(),
          OptionalDouble.empty(),
          OptionalDouble.empty(),
          OptionalDouble.empty(),
          OptionalLong.empty(),
          OptionalLong.empty(),
          OptionalLong.empty(),
          List.of());

  /** Copies the list; no component may be null. */
  public DeviceState {
    Objects.requireNonNull(coreClockMhz);
    Objects.requireNonNull(memoryClockMhz);
    Objects.requireNonNull(maxCoreClockMhz);
    Objects.requireNonNull(temperatureC);
    Objects.requireNonNull(powerWatts);
    Objects.requireNonNull(powerLimitWatts);
    Objects.requireNonNull(usedBytes);
    Objects.requireNonNull(totalBytes);
    Objects.requireNonNull(eccErrors);
    throttleReasons = List.copyOf(throttleReasons);
  }
}
