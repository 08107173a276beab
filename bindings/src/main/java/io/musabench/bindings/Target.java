package io.musabench.bindings;

import com.sun.jna.Native;
import io.musabench.bindings.ffi.Ffi;
import io.musabench.bindings.ffi.KernelLibrary;
import io.musabench.bindings.kernels.PortableKernels;
import io.musabench.bindings.load.LibraryLoader;
import io.musabench.bindings.load.LoadAttempt;
import io.musabench.bindings.load.LoadedLibrary;
import io.musabench.bindings.load.PythonPackages;
import io.musabench.bindings.management.DeviceMonitors;
import io.musabench.bindings.mate.Mate;
import io.musabench.bindings.mate.MateInstallation;
import io.musabench.bindings.runtime.DeviceException;
import io.musabench.bindings.runtime.DeviceRuntime;
import io.musabench.bindings.runtime.DriverLibrary;
import io.musabench.bindings.runtime.Vendor;
import io.musabench.bindings.runtime.VendorLibraries;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The device this JVM uses: a runtime library, an FFI library, kernel libraries and a DLPack device
 * type.
 *
 * <p>{@link #open()} takes MUSA if its runtime loads and counts a device, else CUDA on the same
 * terms, else the host. System properties override:
 *
 * <ul>
 *   <li>{@code musabench.target}: {@code musa}, {@code cuda}, {@code host}, or {@code auto}
 *   <li>{@code musabench.runtime.library}, {@code musabench.driver.library}, {@code
 *       musabench.ffi.library}, {@code musabench.kernels.library}: a path, used instead of the
 *       search
 *   <li>{@code musabench.musa.home}: a MUSA installation, the only place where its runtime and its
 *       driver's library are then looked for, and the first for its other libraries
 *   <li>{@code musabench.device}: the number of the device that becomes current, 0 if not set
 *   <li>{@code musabench.native.dir} (or the environment variable {@code MUSABENCH_NATIVE_DIR}):
 *       where our own libraries are; otherwise {@code native/target/build/lib} is looked for upward
 *       from this class's own location, then from the working directory
 * </ul>
 *
 * <p>Libraries stay loaded for the life of the JVM, so one JVM can use one kind of target only;
 * opening the same kind again is cheap.
 */
public final class Target implements AutoCloseable {
  /** Selects the target. */
  public static final String TARGET_PROPERTY = "musabench.target";

  /** Path of the runtime library. */
  public static final String RUNTIME_PROPERTY = "musabench.runtime.library";

  /** Path of the driver API's library. */
  public static final String DRIVER_PROPERTY = "musabench.driver.library";

  /** Folder of a MUSA installation. */
  public static final String MUSA_HOME_PROPERTY = VendorLibraries.MUSA_HOME_PROPERTY;

  /** Path of the FFI library. */
  public static final String FFI_PROPERTY = "musabench.ffi.library";

  /** Path of the kernel library. */
  public static final String KERNELS_PROPERTY = "musabench.kernels.library";

  /** Number of the device that becomes current; 0 if not set. */
  public static final String DEVICE_PROPERTY = "musabench.device";

  /** Folder of our own libraries. */
  public static final String NATIVE_DIR_PROPERTY = "musabench.native.dir";

  /** Folder of our own libraries, if the property is not set. */
  public static final String NATIVE_DIR_VARIABLE = "MUSABENCH_NATIVE_DIR";

  private static final String INCOMPLETE_ADVICE =
      "The library is of another version, or its build is stale: build the native libraries again"
          + " (mvn jmh does), or name another with -Dmusabench.{runtime,ffi}.library.";

  private static final String BUILD_LIB = "native/target/build/lib";

  /** The kinds of target, in the order in which they are tried. */
  public enum Kind {
    MUSA(Vendor.MUSA, 12),
    CUDA(Vendor.CUDA, 2),
    /** The CPU as a device; tensors are DLPack CPU tensors. */
    HOST(Vendor.MUSA, 1);

    private final Vendor vendor;
    private final int deviceType;

    Kind(Vendor vendor, int deviceType) {
      this.vendor = vendor;
      this.deviceType = deviceType;
    }

    /** Whose function names the runtime exports. */
    public Vendor vendor() {
      return vendor;
    }

    /** DLPack's device type code. */
    public int deviceType() {
      return deviceType;
    }

    /** The name used on the command line: lower case. */
    public String id() {
      return name().toLowerCase(Locale.ROOT);
    }

    private static String ids(String separator) {
      return Arrays.stream(values()).map(Kind::id).collect(Collectors.joining(separator));
    }

    /** The kind with an {@link #id}; throws {@link IllegalArgumentException} if there is none. */
    public static Kind of(String id) {
      return Arrays.stream(values())
          .filter(kind -> kind.id().equals(id.toLowerCase(Locale.ROOT)))
          .findFirst()
          .orElseThrow(
              () ->
                  new IllegalArgumentException(
                      "no target '" + id + "': use " + ids(", ") + " or auto"));
    }
  }

  /**
   * Whether a kind of target can be used here.
   *
   * @param devices the number of devices its runtime counts; 0 if it did not load
   * @param reason why it cannot be used; empty if it can
   * @param attempts what was tried to load its runtime and its driver's library
   * @param runtime which runtime loaded and why; empty if none did
   * @param driver the driver API's library; empty if it did not load or the kind has none
   */
  public record Availability(
      Kind kind,
      boolean available,
      int devices,
      String reason,
      List<LoadAttempt> attempts,
      Optional<RuntimeChoice> runtime,
      Optional<DriverLibrary> driver) {}

  private final Kind kind;
  private final DriverLibrary driver; // null if it did not load or there is none
  private final DeviceRuntime runtime;
  private final Ffi ffi;
  private final KernelLibrary kernelLibrary; // null if it did not load
  private final List<LoadAttempt> attempts;
  private Mate mate; // null until it is asked for

  private Target(
      Kind kind,
      DriverLibrary driver,
      DeviceRuntime runtime,
      Ffi ffi,
      KernelLibrary kernelLibrary,
      List<LoadAttempt> attempts) {
    this.kind = kind;
    this.driver = driver;
    this.runtime = runtime;
    this.ffi = ffi;
    this.kernelLibrary = kernelLibrary;
    this.attempts = attempts;
  }

  /** Opens the target, and the device of it, that the properties or the detection select. */
  public static Target open() {
    String wanted = System.getProperty(TARGET_PROPERTY, "auto").strip();
    if (!wanted.isEmpty() && !wanted.equalsIgnoreCase("auto")) {
      return open(Kind.of(wanted));
    }
    return open(detect());
  }

  /** The first kind that is available; HOST if none is, so that its error tells what to do. */
  public static Kind detect() {
    for (Kind kind : Kind.values()) {
      if (kind != Kind.HOST && check(kind).available()) {
        return kind;
      }
    }
    return Kind.HOST;
  }

  /** Every kind of target and whether it can be used here. Loads runtimes, opens none. */
  public static List<Availability> survey() {
    return Arrays.stream(Kind.values()).map(Target::check).toList();
  }

  /** Whether one kind of target can be used here: its runtime loads and counts a device. */
  public static Availability check(Kind kind) {
    requireJna(kind);
    LibraryLoader loader = new LibraryLoader();
    Optional<DriverLibrary> driver = loadDriver(loader, kind);
    Optional<LoadedLibrary> library = loader.load("runtime", runtimeCandidates(kind));
    if (library.isEmpty()) {
      return new Availability(
          kind, false, 0, "its runtime did not load", loader.attempts(), Optional.empty(), driver);
    }
    // Not through DeviceRuntime: that would tie this JVM to this library.
    RuntimeCheck check = new RuntimeCheck(kind.vendor(), library.get());
    RuntimeChoice choice =
        new RuntimeChoice(
            library.get(),
            check.version(),
            reasonOfChoice(kind, library.get()),
            others(kind, library.get()));
    return new Availability(
        kind,
        check.devices() > 0,
        check.devices(),
        check.reason(),
        loader.attempts(),
        Optional.of(choice),
        driver);
  }

  // JNA unpacks its own library when it is first used, into a folder that may be full or closed.
  private static void requireJna(Kind kind) {
    try {
      if (Native.POINTER_SIZE != Long.BYTES) {
        throw new TargetException(kind, "this JVM is not one of 64 bits", List.of(), "", null);
      }
    } catch (LinkageError failure) {
      String reason = String.valueOf(failure.getMessage()).strip().replaceAll("\\s*\\R\\s*", " ");
      throw new TargetException(
          kind,
          "JNA, which calls all libraries, does not start: " + reason,
          List.of(),
          "Name a folder that programs can be written to and run from: -Djna.tmpdir=FOLDER.",
          failure);
    }
  }

  private static Optional<DriverLibrary> loadDriver(LibraryLoader loader, Kind kind) {
    return kind == Kind.HOST
        ? Optional.empty()
        : DriverLibrary.load(loader, kind.vendor(), LibrarySearch.here().driver(kind.vendor()));
  }

  private static String reasonOfChoice(Kind kind, LoadedLibrary library) {
    if (property(RUNTIME_PROPERTY).isPresent()) {
      return "named by -D" + RUNTIME_PROPERTY;
    }
    if (kind == Kind.HOST) {
      return "our own";
    }
    if (kind == Kind.MUSA && property(MUSA_HOME_PROPERTY).isPresent()) {
      return "the first that loaded in -D" + MUSA_HOME_PROPERTY;
    }
    return library.name().indexOf(File.separatorChar) < 0
        ? "the system's loader found "
            + library.name()
            + ": LD_LIBRARY_PATH first, then its own configuration, as for kernel libraries"
        : "the system's loader found none; the first that loaded of the installations";
  }

  private static List<RuntimeChoice.Other> others(Kind kind, LoadedLibrary taken) {
    if (kind == Kind.HOST) {
      return List.of();
    }
    return LibrarySearch.here().installed(kind.vendor()).stream()
        .filter(one -> !one.file().equals(taken.path()))
        .map(one -> new RuntimeChoice.Other(one.file(), one.version()))
        .toList();
  }

  /**
   * Opens one kind of target; the device that a property names, or 0, becomes current. A kernel
   * library that does not load is no error here, see {@link #kernels}.
   *
   * @throws TargetException if the runtime, the FFI or the support library does not load, or there
   *     is no device; the text lists what was tried and says what to set
   */
  public static Target open(Kind kind) {
    requireJna(kind);
    LibraryLoader loader = new LibraryLoader();
    try {
      DriverLibrary driver = loadDriver(loader, kind).orElse(null);
      DeviceRuntime runtime =
          DeviceRuntime.load(loader, kind.vendor(), runtimeCandidates(kind))
              .orElseThrow(() -> cannotOpen(kind, "the runtime", loader, runtimeAdvice(kind)));
      int devices;
      try {
        devices = runtime.deviceCount();
      } catch (DeviceException failure) {
        throw new TargetException(
            kind, failure.getMessage(), loader.attempts(), deviceAdvice(kind), failure);
      }
      if (devices == 0) {
        throw new TargetException(
            kind, check(kind).reason(), loader.attempts(), deviceAdvice(kind), null);
      }
      runtime.setDevice(deviceNumber(kind, devices, loader));
      Ffi ffi =
          Ffi.load(
                  loader,
                  runtime,
                  kind.deviceType(),
                  ffiCandidates(kind),
                  ownCandidates("musabench_support"))
              .orElseThrow(() -> cannotOpen(kind, "the FFI", loader, ffiAdvice()));
      KernelLibrary kernels = ffi.loadKernels(loader, kernelCandidates(kind)).orElse(null);
      return new Target(kind, driver, runtime, ffi, kernels, loader.attempts());
    } catch (UnsatisfiedLinkError incomplete) {
      throw new TargetException(
          kind, incomplete.getMessage(), loader.attempts(), INCOMPLETE_ADVICE, incomplete);
    }
  }

  private static int deviceNumber(Kind kind, int devices, LibraryLoader loader) {
    String wanted = property(DEVICE_PROPERTY).orElse("0").strip();
    if (wanted.matches("\\d{1,4}") && Integer.parseInt(wanted) < devices) {
      return Integer.parseInt(wanted);
    }
    throw new TargetException(
        kind,
        "there is no device "
            + wanted
            + ", -D"
            + DEVICE_PROPERTY
            + " can be 0"
            + (devices > 1 ? " to " + (devices - 1) : ""),
        List.of(),
        "",
        null);
  }

  private static TargetException cannotOpen(
      Kind kind, String part, LibraryLoader loader, String advice) {
    return new TargetException(kind, part + " did not load", loader.attempts(), advice, null);
  }

  // ---- what was opened

  /** Which kind this is. */
  public Kind kind() {
    return kind;
  }

  /** The device runtime. */
  public DeviceRuntime runtime() {
    return runtime;
  }

  /** The FFI that kernels are called through. */
  public Ffi ffi() {
    return ffi;
  }

  /** The portable kernels' library; empty if it did not load. */
  public Optional<KernelLibrary> kernelLibrary() {
    return Optional.ofNullable(kernelLibrary);
  }

  /**
   * The portable kernels.
   *
   * @throws TargetException if their library did not load; the text lists what was tried
   */
  public PortableKernels kernels() {
    if (kernelLibrary == null) {
      throw new TargetException(
          kind,
          "the kernel library is not available",
          attempts.stream().filter(attempt -> attempt.role().equals("kernels")).toList(),
          kernelAdvice(),
          null);
    }
    return new PortableKernels(kernelLibrary);
  }

  /** mate's attention kernels, looked for on this machine; each is loaded when it is asked for. */
  public synchronized Mate mate() {
    if (mate == null) {
      mate = new Mate(ffi, MateInstallation.find());
    }
    return mate;
  }

  /**
   * What reads a device's clocks, temperature and so on, or why nothing does. Never throws.
   *
   * @param device the runtime's number of the device
   */
  public DeviceMonitors.Opened monitor(int device) {
    if (kind == Kind.HOST) {
      return DeviceMonitors.host();
    }
    Optional<String> busId;
    try {
      busId = runtime.device(device).pciBusId();
    } catch (DeviceException unknown) {
      busId = Optional.empty();
    }
    return DeviceMonitors.open(kind.vendor(), device, busId);
  }

  /** What was loaded, with paths and digests, for the record of a run. */
  public synchronized List<LoadedLibrary> libraries() {
    List<LoadedLibrary> all = new ArrayList<>();
    if (driver != null) {
      all.add(driver.library());
    }
    all.add(runtime.library());
    all.add(ffi.library());
    all.add(ffi.support());
    if (kernelLibrary != null) {
      all.add(kernelLibrary.library());
    }
    if (mate != null) {
      all.addAll(mate.libraries());
    }
    return List.copyOf(all);
  }

  /** Every attempt to load a library, oldest first. */
  public List<LoadAttempt> attempts() {
    return attempts;
  }

  /** Closes every pool, stream, event, block and graph that is still open. */
  @Override
  public void close() {
    try {
      ffi.closeAll();
    } finally {
      runtime.closeAll();
    }
  }

  // ---- where libraries are looked for

  static List<String> runtimeCandidates(Kind kind) {
    return kind == Kind.HOST
        ? property(RUNTIME_PROPERTY).map(List::of).orElseGet(() -> ownCandidates("musart_host"))
        : LibrarySearch.here().runtime(kind.vendor());
  }

  static List<String> ffiCandidates(Kind kind) {
    Optional<String> given = property(FFI_PROPERTY);
    if (given.isPresent()) {
      return List.of(given.get());
    }
    List<String> candidates = new ArrayList<>();
    if (kind != Kind.HOST) {
      // Where mate is installed, its kernels need the real one, which is a Python package's.
      candidates.add("libtvm_ffi.so");
      new PythonPackages(System.getenv())
          .find("tvm_ffi/lib/libtvm_ffi.so")
          .ifPresent(path -> candidates.add(path.toString()));
    }
    candidates.addAll(ownCandidates("tvm_ffi_host"));
    return candidates;
  }

  static List<String> kernelCandidates(Kind kind) {
    return property(KERNELS_PROPERTY)
        .map(List::of)
        .orElseGet(() -> ownCandidates("musabench_kernels_" + kind.id()));
  }

  // Only one folder: a mixture of two builds would be worse than an error.
  private static List<String> ownCandidates(String name) {
    String file = "lib" + name + ".so";
    return nativeFolder()
        .map(folder -> List.of(folder.resolve(file).toString()))
        .orElseGet(
            () ->
                List.of(Path.of("").toAbsolutePath().resolve(BUILD_LIB).resolve(file).toString()));
  }

  /** The folder of our own libraries; empty if none is set and none is found. */
  public static Optional<Path> nativeFolder() {
    Optional<String> given = property(NATIVE_DIR_PROPERTY);
    if (given.isEmpty()) {
      given = Optional.ofNullable(System.getenv(NATIVE_DIR_VARIABLE)).filter(s -> !s.isBlank());
    }
    if (given.isPresent()) {
      return Optional.of(Path.of(given.get()).toAbsolutePath());
    }
    // The build that these classes belong to, whatever checkout the caller stands in.
    Optional<Path> found = classLocation().flatMap(Target::upward);
    return found.isPresent() ? found : upward(Path.of("").toAbsolutePath());
  }

  private static Optional<Path> upward(Path start) {
    for (Path folder = start; folder != null; folder = folder.getParent()) {
      Path candidate = folder.resolve(BUILD_LIB);
      if (Files.isDirectory(candidate)) {
        return Optional.of(candidate);
      }
    }
    return Optional.empty();
  }

  private static Optional<Path> classLocation() {
    try {
      var source = Target.class.getProtectionDomain().getCodeSource();
      return source == null
          ? Optional.empty()
          : Optional.of(new File(source.getLocation().toURI()).toPath());
    } catch (URISyntaxException | IllegalArgumentException notAFile) {
      return Optional.empty();
    }
  }

  private static Optional<String> property(String name) {
    return Optional.ofNullable(System.getProperty(name)).filter(value -> !value.isBlank());
  }

  private static String runtimeAdvice(Kind kind) {
    return kind == Kind.HOST
        ? "Build the native libraries (mvn jmh does), or set -D"
            + NATIVE_DIR_PROPERTY
            + " or the environment variable "
            + NATIVE_DIR_VARIABLE
            + " to the folder that holds libmusart_host.so."
        : "Set -D"
            + RUNTIME_PROPERTY
            + " to the runtime library's path or put its folder on LD_LIBRARY_PATH, or choose"
            + " another target with -D"
            + TARGET_PROPERTY
            + "="
            + Kind.ids("|")
            + ".";
  }

  // The runtime loaded, so the device is what to look at first.
  private static String deviceAdvice(Kind kind) {
    return kind == Kind.HOST
        ? "The environment variables MUSART_HOST_* say what the host device is."
        : "%s must list the device: is its driver loaded, and, in a container, was it handed in? Or"
                .formatted(kind == Kind.MUSA ? "mthreads-gmi" : "nvidia-smi")
            + " name another runtime with -D"
            + RUNTIME_PROPERTY
            + ", another target with -D"
            + TARGET_PROPERTY
            + "=musa|cuda|host.";
  }

  private static String ffiAdvice() {
    return "Build the native libraries (mvn jmh does), set -D"
        + NATIVE_DIR_PROPERTY
        + " to their folder, or set -D"
        + FFI_PROPERTY
        + " to the path of libtvm_ffi.so.";
  }

  private static String kernelAdvice() {
    return "Set -D"
        + KERNELS_PROPERTY
        + " to the kernel library's path, or -D"
        + NATIVE_DIR_PROPERTY
        + " to the folder it is in.";
  }

  /** The attempts as one line each. */
  static String describe(List<LoadAttempt> attempts) {
    return attempts.stream().map(a -> "  " + a).collect(Collectors.joining("\n"));
  }

  @Override
  public String toString() {
    return kind.id();
  }
}
