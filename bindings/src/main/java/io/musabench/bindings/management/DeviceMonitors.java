package io.musabench.bindings.management;

import io.musabench.bindings.load.LibraryLoader;
import io.musabench.bindings.load.LoadAttempt;
import io.musabench.bindings.load.LoadedLibrary;
import io.musabench.bindings.runtime.Vendor;
import io.musabench.bindings.runtime.VendorLibraries;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Opens {@link DeviceMonitor}s. Never throws: where there is none, a note says why. */
public final class DeviceMonitors {
  /** Path of the management library, used instead of the search. */
  public static final String LIBRARY_PROPERTY = "musabench.management.library";

  // What was initialised, or why it could not be, by the library's file: once a process.
  private static final Map<Path, ManagementInterface> INITIALISED = new HashMap<>();
  private static final Map<Path, String> FAILED = new HashMap<>();

  private DeviceMonitors() {}

  /**
   * A monitor, or why there is none.
   *
   * @param monitor the caller's to close
   * @param note why there is none or what it cannot read, one line; empty if nothing is missing
   */
  public record Opened(Optional<DeviceMonitor> monitor, String note) {}

  /**
   * The monitor of a GPU.
   *
   * @param ordinal the device's number, used where the bus does not find it. The runtime counts
   *     only the devices that {@code *_VISIBLE_DEVICES} leaves, the management library all
   * @param busId the device's place on the bus as the runtime writes it
   */
  public static Opened open(Vendor vendor, int ordinal, Optional<String> busId) {
    return open(vendor, candidates(vendor), ordinal, busId);
  }

  /** The names and paths that are tried. */
  static List<String> candidates(Vendor vendor) {
    return VendorLibraries.candidates(vendor, LIBRARY_PROPERTY, Api.of(vendor).libraries());
  }

  /**
   * One vendor's management library.
   *
   * @param libraries its names and paths, in the order in which they are tried
   * @param init initialises it
   */
  private record Api(
      List<String> libraries, Function<ManagementLibrary, ManagementInterface> init) {
    static Api of(Vendor vendor) {
      return switch (vendor) {
        case MUSA ->
            new Api(
                List.of(
                    "libmtml.so",
                    "libmtml.so.2",
                    "libmtml.so.1",
                    "/usr/lib/x86_64-linux-gnu/libmtml.so",
                    "/usr/local/musa/lib/libmtml.so"),
                Mtml::init);
        case CUDA -> new Api(List.of("libnvidia-ml.so.1", "libnvidia-ml.so"), Nvml::init);
      };
    }
  }

  static Opened open(Vendor vendor, List<String> candidates, int ordinal, Optional<String> busId) {
    LibraryLoader loader = new LibraryLoader();
    Optional<LoadedLibrary> library =
        loader.load("management", candidates, LibraryLoader.LOCAL_SYMBOLS);
    if (library.isEmpty()) {
      String tried =
          loader.attempts().stream().map(LoadAttempt::name).collect(Collectors.joining(", "));
      return none(
          tried.isEmpty()
              ? "no management library is known for " + vendor.prefix()
              : "no management library; tried " + tried);
    }
    try {
      return new Opened(Optional.of(initialised(vendor, library.get()).device(ordinal, busId)), "");
    } catch (IllegalStateException failure) {
      return none(library.get().path() + ": " + failure.getMessage());
    }
  }

  private static synchronized ManagementInterface initialised(
      Vendor vendor, LoadedLibrary library) {
    Path path = library.path();
    if (FAILED.containsKey(path)) {
      throw new IllegalStateException(FAILED.get(path));
    }
    return INITIALISED.computeIfAbsent(
        path,
        file -> {
          ManagementLibrary calls = new ManagementLibrary(library);
          try {
            return Api.of(vendor).init().apply(calls);
          } catch (IllegalStateException failure) {
            FAILED.put(path, failure.getMessage());
            throw failure;
          }
        });
  }

  private static Opened none(String note) {
    return new Opened(Optional.empty(), note);
  }

  /** The monitor of the CPU as a device. */
  public static Opened host() {
    HostMonitor monitor = new HostMonitor(Path.of("/"));
    return new Opened(Optional.of(monitor), monitor.note().orElse(""));
  }
}
