package io.musabench.jmh.device;

import io.musabench.bindings.RuntimeChoice;
import io.musabench.bindings.Target;
import io.musabench.bindings.TargetException;
import io.musabench.bindings.load.LoadedLibrary;
import io.musabench.bindings.management.DeviceIdentity;
import io.musabench.bindings.management.DeviceLink;
import io.musabench.bindings.management.DeviceMonitor;
import io.musabench.bindings.management.DeviceMonitors;
import io.musabench.bindings.management.DeviceProcess;
import io.musabench.bindings.management.DeviceState;
import io.musabench.bindings.runtime.Attribute;
import io.musabench.bindings.runtime.Device;
import io.musabench.bindings.runtime.DeviceException;
import io.musabench.bindings.runtime.Vendor;
import java.io.IOException;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Properties;

/**
 * Opens the device, writes what it finds to standard output as a properties file, and exits.
 *
 * <p>A program of its own, so that the JVM that runs a suite never loads a native library: what
 * crashes or hangs there must not take the finished results with it.
 */
public final class Probe {
  /** Exit code when there is no usable device; the reason is on standard error. */
  public static final int NO_TARGET = 69;

  /** Prefix of the keys that hold a library's path, followed by what the library is for. */
  public static final String LIBRARY = "library.";

  /** Prefix of the keys that hold a version, followed by whose. */
  public static final String VERSION = "version.";

  /** Prefix of the keys that hold the device's state. */
  public static final String STATE = "state.";

  /** Prefix of the keys that hold what may disturb a measurement. */
  public static final String WARNING = "warning.";

  /** The argument that asks for the device's state alone. */
  public static final String STATE_ONLY = "--state";

  /** Key of the libraries of kernels that are here besides the portable ones, joined by commas. */
  public static final String PRESENT = "present";

  private Probe() {}

  /** Takes {@value #STATE_ONLY} or nothing. */
  public static void main(String[] arguments) throws IOException {
    ParentWatch.start();
    boolean stateOnly = arguments.length > 0 && arguments[0].equals(STATE_ONLY);
    try (Target target = Target.open()) {
      Properties found = new Properties();
      if (!stateOnly) {
        describe(target, found);
      }
      state(target, found);
      found.store(System.out, null);
    } catch (TargetException | DeviceException | IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(NO_TARGET);
    }
  }

  private static void describe(Target target, Properties found) {
    Device device = target.runtime().currentDevice();
    found.setProperty("target", target.kind().id());
    found.setProperty("devices", Integer.toString(target.runtime().deviceCount()));
    found.setProperty("name", device.name());
    found.setProperty("vendor", target.kind().vendor().name());
    found.setProperty("index", Integer.toString(device.index()));
    found.setProperty("memory", Long.toString(device.totalMemory()));
    Vendor vendor = target.runtime().vendor();
    found.setProperty("driver", vendor.versionText(target.runtime().driverVersion()));
    found.setProperty("runtime", vendor.versionText(target.runtime().version()));
    device
        .findAttribute(Attribute.MULTIPROCESSOR_COUNT)
        .ifPresent(units -> found.setProperty("units", Integer.toString(units)));
    for (LoadedLibrary library : target.libraries()) {
      found.setProperty(LIBRARY + library.role(), library.path().toString());
    }
    found.setProperty(PRESENT, String.join(",", Libraries.present(target)));
    Target.check(target.kind())
        .runtime()
        .map(RuntimeChoice::warning)
        .filter(warning -> !warning.isEmpty())
        .ifPresent(warning -> found.setProperty(WARNING + "runtime", warning));
    target.kernels(); // Throws when the kernel library is missing: without it nothing can run.
  }

  private static void state(Target target, Properties found) {
    int device = target.runtime().currentDeviceIndex();
    DeviceMonitors.Opened opened = target.monitor(device);
    if (!opened.note().isEmpty()) {
      found.setProperty(STATE + "source", opened.note());
    }
    if (opened.monitor().isEmpty()) {
      return;
    }
    try (DeviceMonitor monitor = opened.monitor().get()) {
      found.putIfAbsent(STATE + "source", monitor.library());
      DeviceState state = monitor.read();
      put(found, "core_mhz", state.coreClockMhz());
      put(found, "memory_mhz", state.memoryClockMhz());
      put(found, "max_core_mhz", state.maxCoreClockMhz());
      put(found, "temperature_c", state.temperatureC());
      put(found, "power_w", state.powerWatts());
      put(found, "power_limit_w", state.powerLimitWatts());
      put(found, "used_bytes", state.usedBytes());
      put(found, "ecc_errors", state.eccErrors());
      found.setProperty(STATE + "throttle", String.join(";", state.throttleReasons()));
      if (target.kind() != Target.Kind.HOST) {
        identity(monitor.identity(), found);
        links(monitor.links(), found);
      }
      for (DeviceProcess process : monitor.processes()) {
        // In a container this process has another number there; its name tells it then.
        if (process.pid() != ProcessHandle.current().pid() && !process.name().endsWith("java")) {
          found.setProperty(
              WARNING + "process." + process.pid(),
              "another process uses the device: " + process.name() + " (" + process.pid() + ")");
        }
      }
    }
  }

  private static void identity(DeviceIdentity identity, Properties found) {
    identity.driverVersion().ifPresent(v -> found.setProperty(VERSION + "driver", v));
    identity.firmware().ifPresent(v -> found.setProperty(VERSION + "firmware", v));
    identity.uuid().ifPresent(v -> found.setProperty(VERSION + "gpu_uuid", v));
  }

  private static void links(List<DeviceLink> links, Properties found) {
    if (!links.isEmpty()) {
      found.setProperty(VERSION + "links", DeviceLink.summary(links));
    }
    for (DeviceLink link : links) {
      if (link.state().equals(DeviceLink.DOWNGRADED)) {
        found.setProperty(
            WARNING + "link." + link.index(),
            "the device's link " + link.index() + " is downgraded");
      }
    }
  }

  private static void put(Properties found, String name, OptionalDouble value) {
    value.ifPresent(number -> found.setProperty(STATE + name, Double.toString(number)));
  }

  private static void put(Properties found, String name, OptionalLong value) {
    value.ifPresent(number -> found.setProperty(STATE + name, Long.toString(number)));
  }
}
