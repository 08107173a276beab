package io.musabench.bindings.management;

import com.sun.jna.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * Moore Threads' libmtml, by its public interface of release 2.2. Initialised once a process and
 * never shut down: a second initialisation after a shutdown does not work.
 *
 * <p>It has no function that lists processes, none that says why a clock is low, and none that
 * fixes a clock. The limit of power is read through a function that its header does not have but
 * its releases export; where it is missing there is no limit.
 */
final class Mtml implements ManagementInterface {
  // The codes of MtmlReturn.
  private static final Map<Integer, String> CODES =
      Map.ofEntries(
          Map.entry(1, "driver not loaded"),
          Map.entry(2, "driver failure"),
          Map.entry(3, "invalid argument"),
          Map.entry(4, "not supported"),
          Map.entry(5, "no permission"),
          Map.entry(6, "insufficient size"),
          Map.entry(7, "not found"),
          Map.entry(8, "insufficient memory"),
          Map.entry(9, "driver too old"),
          Map.entry(10, "driver too new"),
          Map.entry(11, "timeout"),
          Map.entry(12, "resource is busy"),
          Map.entry(999, "unknown error"));

  private static final int UNCORRECTED = 1; // MTML_MEMORY_ERROR_TYPE_UNCORRECTED
  private static final int SINCE_LOADED = 0; // MTML_VOLATILE_ECC
  private static final int DRAM = 1; // MTML_MEMORY_LOCATION_DRAM

  // MtmlMtLinkSpec: version, gigabytes a second and link, links, and four reserved, all 32 bits.
  private static final int LINK_SPEC_BYTES = 28;
  private static final List<String> LINK_STATES = List.of("down", "up", DeviceLink.DOWNGRADED);

  // MtmlPciInfo begins with the address as text and is 104 bytes long.
  private static final int PCI_INFO_BYTES = 256;

  private final ManagementLibrary calls;
  private final long library;
  private final Optional<String> driverVersion;

  private Mtml(ManagementLibrary calls, long library) {
    this.calls = calls;
    this.library = library;
    long system = calls.handle("mtmlLibraryInitSystem", library);
    driverVersion =
        system == 0 ? Optional.empty() : calls.string("mtmlSystemGetDriverVersion", system);
  }

  /** Initialises the library; throws {@link IllegalStateException} with the reason if it fails. */
  static Mtml init(ManagementLibrary calls) {
    String name = "mtmlLibraryInit";
    return new Mtml(calls, calls.requireHandle(name, code -> failure(name, code)));
  }

  private static String failure(String function, int code) {
    return code == ManagementLibrary.MISSING
        ? "it has no " + function
        : function + " returned " + code + " (" + CODES.getOrDefault(code, "unknown code") + ")";
  }

  @Override
  public DeviceMonitor device(int ordinal, Optional<String> busId) {
    long device = 0;
    if (busId.isPresent()) {
      device = calls.handle("mtmlLibraryInitDeviceByPciSbdf", library, fullBusId(busId.get()));
    }
    if (device == 0) {
      String name = "mtmlLibraryInitDeviceByIndex";
      device =
          calls.requireHandle(
              name, code -> "device " + ordinal + ": " + failure(name, code), library, ordinal);
    }
    return new Monitor(device);
  }

  /** The library's own form: eight digits of domain, upper case. The runtime's has four. */
  static String fullBusId(String busId) {
    String upper = busId.toUpperCase(Locale.ROOT);
    int colon = upper.indexOf(':');
    return colon < 0 || colon >= 8 ? upper : "0".repeat(8 - colon) + upper;
  }

  /** One device. Its handles are released by the close; the library's is not. */
  private final class Monitor implements DeviceMonitor {
    private final long device;
    private final long gpu;
    private final long memory;
    private boolean closed; // guarded by this

    Monitor(long device) {
      this.device = device;
      gpu = calls.handle("mtmlDeviceInitGpu", device);
      memory = calls.handle("mtmlDeviceInitMemory", device);
    }

    @Override
    public synchronized DeviceState read() {
      if (closed) {
        return DeviceState.UNKNOWN;
      }
      return new DeviceState(
          ofGpu("mtmlGpuGetClock"),
          memory == 0 ? OptionalDouble.empty() : calls.number("mtmlMemoryGetClock", memory),
          ofGpu("mtmlGpuGetMaxClock"),
          ofGpu("mtmlGpuGetTemperature"),
          ManagementLibrary.thousandths(calls.number("mtmlDeviceGetPowerUsage", device)),
          powerLimit(),
          ofMemory("mtmlMemoryGetUsed"),
          ofMemory("mtmlMemoryGetTotal"),
          ofMemory("mtmlMemoryGetEccErrorCounter", UNCORRECTED, SINCE_LOADED, DRAM),
          List.of());
    }

    // 0 where the library has the function and knows of no limit.
    private OptionalDouble powerLimit() {
      OptionalDouble milliwatts = ofGpu("mtmlGpuGetEnforcedPowerLimit");
      return milliwatts.orElse(0) == 0
          ? OptionalDouble.empty()
          : ManagementLibrary.thousandths(milliwatts);
    }

    private OptionalDouble ofGpu(String name) {
      return gpu == 0 ? OptionalDouble.empty() : calls.number(name, gpu);
    }

    private OptionalLong ofMemory(String name, Object... more) {
      if (memory == 0) {
        return OptionalLong.empty();
      }
      return calls.bytes(name, ManagementLibrary.with(new Object[] {memory}, more));
    }

    @Override
    public List<DeviceProcess> processes() {
      return List.of();
    }

    @Override
    public synchronized DeviceIdentity identity() {
      if (closed) {
        return DeviceIdentity.UNKNOWN;
      }
      return new DeviceIdentity(
          calls.string("mtmlDeviceGetName", device),
          calls.string("mtmlDeviceGetUUID", device),
          busId(),
          calls.string("mtmlDeviceGetMtBiosVersion", device),
          driverVersion,
          calls.string("mtmlLibraryGetVersion", library));
    }

    private Optional<String> busId() {
      try (Memory info = new Memory(PCI_INFO_BYTES)) {
        info.clear();
        return calls.call("mtmlDeviceGetPciInfo", device, info) == 0
            ? Optional.of(info.getString(0)).filter(text -> !text.isEmpty())
            : Optional.empty();
      }
    }

    @Override
    public synchronized List<DeviceLink> links() {
      if (closed) {
        return List.of();
      }
      try (Memory spec = new Memory(LINK_SPEC_BYTES)) {
        spec.clear();
        if (calls.call("mtmlDeviceGetMtLinkSpec", device, spec) != 0) {
          return List.of();
        }
        List<DeviceLink> links = new ArrayList<>();
        for (int link = 0; link < spec.getInt(8); link++) {
          OptionalDouble state = calls.number("mtmlDeviceGetMtLinkState", device, link);
          int number = (int) state.orElse(-1);
          boolean known = number >= 0 && number < LINK_STATES.size();
          links.add(
              new DeviceLink(
                  link,
                  known ? LINK_STATES.get(number) : "unknown",
                  OptionalDouble.of(Integer.toUnsignedLong(spec.getInt(4)))));
        }
        return links;
      }
    }

    @Override
    public String library() {
      return calls.path();
    }

    @Override
    public synchronized void close() {
      if (closed) {
        return;
      }
      closed = true;
      if (memory != 0) {
        calls.call("mtmlDeviceFreeMemory", memory);
      }
      if (gpu != 0) {
        calls.call("mtmlDeviceFreeGpu", gpu);
      }
      calls.call("mtmlLibraryFreeDevice", device);
    }
  }
}
