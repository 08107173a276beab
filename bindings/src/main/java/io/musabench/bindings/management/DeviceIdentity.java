package io.musabench.bindings.management;

import java.util.Optional;

/**
 * What does not change about a device.
 *
 * @param name the library's name of the device
 * @param uuid its universal number, by which the same card is found again
 * @param pciBusId for example {@code 00000000:3b:00.0}
 * @param firmware version of the device's firmware
 * @param driverVersion version of the kernel driver
 * @param libraryVersion version of the management library
 */
public record DeviceIdentity(
    Optional<String> name,
    Optional<String> uuid,
    Optional<String> pciBusId,
    Optional<String> firmware,
    Optional<String> driverVersion,
    Optional<String> libraryVersion) {
  /** Nothing is known. */
  public static final DeviceIdentity UNKNOWN =
      new DeviceIdentity(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());
}
