package io.musabench.bindings.management;

import io.musabench.bindings.runtime.Vendor;
import java.nio.file.Path;
import java.util.Optional;

/** Opens {@link DeviceMonitor}s. Never throws: where there is none, a note says why. */
public final class DeviceMonitors {
  private DeviceMonitors() {}

  /**
   * A monitor, or why there is none.
   *
   * @param monitor the caller's to close
   * @param note why there is none or what it cannot read, one line; empty if nothing is missing
   */
  public record Opened(Optional<DeviceMonitor> monitor, String note) {}

  /**
   * The monitor of a GPU by the management library's own number, which is the runtime's where no
   * {@code *_VISIBLE_DEVICES} hides devices. {@code Target.monitor} finds the device by its bus.
   */
  public static Opened open(Vendor vendor, int ordinal) {
    return new Opened(
        Optional.empty(), "device management of " + vendor + " is not bound; device " + ordinal);
  }

  /** The monitor of the CPU as a device. */
  public static Opened host() {
    HostMonitor monitor = new HostMonitor(Path.of("/"));
    return new Opened(Optional.of(monitor), monitor.note().orElse(""));
  }
}
