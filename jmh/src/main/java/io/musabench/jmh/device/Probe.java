package io.musabench.jmh.device;

import io.musabench.bindings.Target;
import io.musabench.bindings.TargetException;
import io.musabench.bindings.load.LoadedLibrary;
import io.musabench.bindings.runtime.Attribute;
import io.musabench.bindings.runtime.Device;
import io.musabench.bindings.runtime.DeviceException;
import io.musabench.bindings.runtime.Vendor;
import java.io.IOException;
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

  private Probe() {}

  /** Takes no arguments. */
  public static void main(String[] arguments) throws IOException {
    ParentWatch.start();
    try (Target target = Target.open()) {
      describe(target).store(System.out, null);
    } catch (TargetException | DeviceException | IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(NO_TARGET);
    }
  }

  private static Properties describe(Target target) {
    Properties found = new Properties();
    Device device = target.runtime().currentDevice();
    found.setProperty("target", target.kind().id());
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
    target.kernels(); // Throws when the kernel library is missing: without it nothing can run.
    return found;
  }
}
