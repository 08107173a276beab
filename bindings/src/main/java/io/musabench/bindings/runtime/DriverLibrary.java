package io.musabench.bindings.runtime;

import com.sun.jna.Memory;
import io.musabench.bindings.load.LibraryLoader;
import io.musabench.bindings.load.LoadedLibrary;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The driver API's library, {@code libmusa} or {@code libcuda}, which the runtime stands on.
 *
 * <p>Loaded before the runtime, its symbols global: a runtime in a folder that the system's loader
 * does not search then finds it, because what is loaded already is found by its SONAME.
 */
public final class DriverLibrary {
  // What a C header renames and dlsym does not. The plain symbols of these take 32-bit addresses
  // and sizes, so they are no substitute. For MUSA seen in use: CtxCreate, MemAlloc, MemFree,
  // MemcpyDtoH,
  // MemcpyHtoD and ModuleGetGlobal; the others are assumed to be as CUDA's.
  private static final Set<String> SECOND_VERSIONS =
      Set.of(
          "CtxCreate",
          "DeviceTotalMem",
          "MemAlloc",
          "MemFree",
          "MemGetInfo",
          "MemcpyDtoD",
          "MemcpyDtoH",
          "MemcpyHtoD",
          "ModuleGetGlobal");

  private final Vendor vendor;
  private final LoadedLibrary library;

  private DriverLibrary(Vendor vendor, LoadedLibrary library) {
    this.vendor = vendor;
    this.library = library;
  }

  /** Loads the first candidate that loads; empty if none does, which is no error by itself. */
  public static Optional<DriverLibrary> load(
      LibraryLoader loader, Vendor vendor, List<String> candidates) {
    return loader.load("driver", candidates).map(library -> new DriverLibrary(vendor, library));
  }

  /** The library and where it was loaded from. */
  public LoadedLibrary library() {
    return library;
  }

  /**
   * The address of a function.
   *
   * @param name without the vendor's prefix and without {@code _v2}, for example {@code MemAlloc}
   */
  public OptionalLong find(String name) {
    String symbol = vendor.driverPrefix() + name;
    return library.find(SECOND_VERSIONS.contains(name) ? symbol + "_v2" : symbol);
  }

  /** The highest runtime version that the driver serves, as {@link Vendor#versionText} reads it. */
  public OptionalInt version() {
    return number("DriverGetVersion");
  }

  /** How many devices the driver counts; empty if it does not start. */
  public OptionalInt deviceCount() {
    OptionalLong init = find("Init");
    if (init.isEmpty() || LoadedLibrary.call(init.getAsLong(), 0) != 0) {
      return OptionalInt.empty();
    }
    return number("DeviceGetCount");
  }

  private OptionalInt number(String name) {
    OptionalLong function = find(name);
    if (function.isEmpty()) {
      return OptionalInt.empty();
    }
    try (Memory out = new Memory(4)) {
      out.setInt(0, 0);
      return LoadedLibrary.call(function.getAsLong(), out) == 0
          ? OptionalInt.of(out.getInt(0))
          : OptionalInt.empty();
    }
  }
}
