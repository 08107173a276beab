package io.musabench.bindings.management;

import com.sun.jna.Memory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * NVIDIA's management library. Initialised once a process; handles need no release.
 *
 * <p>Functions whose name ends in a version are asked for by that name first, and by an older one
 * where the library is older.
 */
final class Nvml implements ManagementInterface {
  private static final int SM_CLOCK = 1; // NVML_CLOCK_SM
  private static final int MEMORY_CLOCK = 2; // NVML_CLOCK_MEM
  private static final int GPU_SENSOR = 0; // NVML_TEMPERATURE_GPU
  private static final int UNCORRECTED = 1; // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
  private static final int SINCE_LOADED = 0; // NVML_VOLATILE_ECC
  private static final int INSUFFICIENT_SIZE = 7; // NVML_ERROR_INSUFFICIENT_SIZE
  private static final int MAX_LINKS = 18; // NVML_NVLINK_MAX_LINKS
  private static final int MAX_PROCESSES = 256;

  // nvmlPciInfo_t: the bus id as text is its last member.
  private static final int PCI_INFO_BYTES = 256;
  private static final int PCI_BUS_ID = 36;

  // nvmlProcessInfo_t: pid at 0, bytes at 8; the second form has the instances' numbers behind.
  private static final int PROCESS_BYTES = 24;
  private static final int OLD_PROCESS_BYTES = 16;

  // nvmlClocksEventReasons. Being idle is no reason of interest: a device is read between spans.
  private static final Map<Long, String> REASONS = new LinkedHashMap<>();

  static {
    REASONS.put(0x2L, "application clocks");
    REASONS.put(0x4L, "software power cap");
    REASONS.put(0x8L, "hardware slowdown");
    REASONS.put(0x10L, "sync boost");
    REASONS.put(0x20L, "software thermal slowdown");
    REASONS.put(0x40L, "hardware thermal slowdown");
    REASONS.put(0x80L, "hardware power brake");
    REASONS.put(0x100L, "display clocks");
  }

  private final ManagementLibrary calls;

  private Nvml(ManagementLibrary calls) {
    this.calls = calls;
  }

  /** Initialises the library; throws {@link IllegalStateException} with the reason if it fails. */
  static Nvml init(ManagementLibrary calls) {
    int code = calls.call("nvmlInit_v2");
    if (code != 0) {
      throw new IllegalStateException(failure(calls, "nvmlInit_v2", code));
    }
    return new Nvml(calls);
  }

  private static String failure(ManagementLibrary calls, String function, int code) {
    if (code == ManagementLibrary.MISSING) {
      return "it has no " + function;
    }
    String text = calls.text("nvmlErrorString", code).orElse("unknown code");
    return function + " returned " + code + " (" + text + ")";
  }

  @Override
  public DeviceMonitor device(int ordinal, Optional<String> busId) {
    long device = 0;
    if (busId.isPresent()) {
      device = calls.handle("nvmlDeviceGetHandleByPciBusId_v2", busId.get());
    }
    if (device == 0) {
      String name = "nvmlDeviceGetHandleByIndex_v2";
      device =
          calls.requireHandle(
              name, code -> "device " + ordinal + ": " + failure(calls, name, code), ordinal);
    }
    return new Monitor(device);
  }

  /** One device. */
  private final class Monitor implements DeviceMonitor {
    private final long device;

    Monitor(long device) {
      this.device = device;
    }

    @Override
    public DeviceState read() {
      OptionalLong total = OptionalLong.empty();
      OptionalLong used = OptionalLong.empty();
      try (Memory memory = new Memory(24)) { // nvmlMemory_t: total, free, used
        memory.clear();
        if (calls.call("nvmlDeviceGetMemoryInfo", device, memory) == 0) {
          total = OptionalLong.of(memory.getLong(0));
          used = OptionalLong.of(memory.getLong(16));
        }
      }
      return new DeviceState(
          calls.number("nvmlDeviceGetClockInfo", device, SM_CLOCK),
          calls.number("nvmlDeviceGetClockInfo", device, MEMORY_CLOCK),
          calls.number("nvmlDeviceGetMaxClockInfo", device, SM_CLOCK),
          calls.number("nvmlDeviceGetTemperature", device, GPU_SENSOR),
          ManagementLibrary.thousandths(calls.number("nvmlDeviceGetPowerUsage", device)),
          ManagementLibrary.thousandths(calls.number("nvmlDeviceGetEnforcedPowerLimit", device)),
          used,
          total,
          calls.bytes("nvmlDeviceGetTotalEccErrors", device, UNCORRECTED, SINCE_LOADED),
          throttleReasons());
    }

    private List<String> throttleReasons() {
      OptionalLong mask = calls.bytes("nvmlDeviceGetCurrentClocksThrottleReasons", device);
      if (mask.isEmpty()) { // The name of newer releases, which keep the older one so far.
        mask = calls.bytes("nvmlDeviceGetCurrentClocksEventReasons", device);
      }
      long bits = mask.orElse(0);
      return REASONS.entrySet().stream()
          .filter(reason -> (bits & reason.getKey()) != 0)
          .map(Map.Entry::getValue)
          .toList();
    }

    @Override
    public List<DeviceProcess> processes() {
      List<DeviceProcess> found =
          processes("nvmlDeviceGetComputeRunningProcesses_v3", PROCESS_BYTES);
      return found != null
          ? found
          : Optional.ofNullable(
                  processes("nvmlDeviceGetComputeRunningProcesses", OLD_PROCESS_BYTES))
              .orElse(List.of());
    }

    /** Null if the library has no such function or it fails. */
    private List<DeviceProcess> processes(String function, int stride) {
      int room = 16;
      while (room <= MAX_PROCESSES) {
        try (Memory count = new Memory(4);
            Memory infos = new Memory((long) room * PROCESS_BYTES)) {
          count.setInt(0, room);
          infos.clear();
          int code = calls.call(function, device, count, infos);
          if (code == 0) {
            List<DeviceProcess> found = new ArrayList<>();
            for (int i = 0; i < Math.min(count.getInt(0), room); i++) {
              found.add(process(infos, (long) i * stride));
            }
            return found;
          }
          if (code != INSUFFICIENT_SIZE) {
            return null;
          }
        }
        room *= 4;
      }
      return null;
    }

    private DeviceProcess process(Memory infos, long offset) {
      long pid = Integer.toUnsignedLong(infos.getInt(offset));
      long used = infos.getLong(offset + 8);
      return new DeviceProcess(
          pid,
          calls.string("nvmlSystemGetProcessName", (int) pid).orElse("unknown"),
          used == -1 ? OptionalLong.empty() : OptionalLong.of(used)); // NVML_VALUE_NOT_AVAILABLE
    }

    @Override
    public DeviceIdentity identity() {
      return new DeviceIdentity(
          calls.string("nvmlDeviceGetName", device),
          calls.string("nvmlDeviceGetUUID", device),
          busId(),
          calls.string("nvmlDeviceGetVbiosVersion", device),
          calls.string("nvmlSystemGetDriverVersion"),
          calls.string("nvmlSystemGetNVMLVersion"));
    }

    private Optional<String> busId() {
      try (Memory info = new Memory(PCI_INFO_BYTES)) {
        info.clear();
        return calls.call("nvmlDeviceGetPciInfo_v3", device, info) == 0
            ? Optional.of(info.getString(PCI_BUS_ID)).filter(text -> !text.isEmpty())
            : Optional.empty();
      }
    }

    @Override
    public List<DeviceLink> links() {
      List<DeviceLink> links = new ArrayList<>();
      for (int link = 0; link < MAX_LINKS; link++) {
        OptionalDouble active = calls.number("nvmlDeviceGetNvLinkState", device, link);
        if (active.isEmpty()) {
          break; // The device has no more.
        }
        links.add(
            new DeviceLink(
                link, active.getAsDouble() == 0 ? "down" : "up", OptionalDouble.empty()));
      }
      return links;
    }

    @Override
    public String library() {
      return calls.path();
    }

    @Override
    public void close() {}
  }
}
