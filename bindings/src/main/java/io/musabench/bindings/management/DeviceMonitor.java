package io.musabench.bindings.management;

import java.util.List;

/**
 * Reads one device's state. Safe for several threads; no method throws because a value cannot be
 * read. Made by {@link DeviceMonitors}.
 */
public interface DeviceMonitor extends AutoCloseable {
  /** The state now. Takes from microseconds to some milliseconds, so never inside a timed span. */
  DeviceState read();

  /** The processes that use the device now, this one included; empty where nobody can tell. */
  List<DeviceProcess> processes();

  /** What does not change: names, numbers, versions. */
  DeviceIdentity identity();

  /** The links to other devices, one entry a link; empty if there are none or nobody can tell. */
  List<DeviceLink> links();

  /** Where the values come from: a library's path, or a folder of the system. */
  String library();

  /** Gives back the handles. The library stays initialised for the life of the process. */
  @Override
  void close();
}
