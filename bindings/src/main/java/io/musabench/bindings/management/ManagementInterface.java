package io.musabench.bindings.management;

import java.util.Optional;

/** A management library that has been initialised. */
interface ManagementInterface {
  /**
   * One device.
   *
   * @param ordinal its number, where the bus does not find it
   * @param busId its place on the bus as the runtime writes it
   * @throws IllegalStateException if there is no such device; the text says why
   */
  DeviceMonitor device(int ordinal, Optional<String> busId);
}
