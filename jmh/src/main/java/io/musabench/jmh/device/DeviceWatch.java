package io.musabench.jmh.device;

import io.musabench.bindings.management.DeviceMonitor;
import io.musabench.bindings.management.DeviceProcess;
import io.musabench.bindings.management.DeviceState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Reads clock, power and temperature of the device while a batch of samples runs.
 *
 * <p>A management library tells the clock of a moment and takes up to milliseconds for it, so it is
 * read beside the samples by a thread, not between them, and a batch is the finest unit that a
 * clock is known for. Where the device is the CPU, such a thread would disturb the batch: there the
 * state is read once, right after it, and says nothing about throttling.
 */
final class DeviceWatch {
  // NVBench's threshold, there of the default clock.
  private static final String DEFAULT_THROTTLE = "0.75";

  // Management libraries refresh their values every 10 to 100 ms.
  private static final long PERIOD_MILLIS = 20;

  private final Optional<DeviceMonitor> monitor;
  private final boolean beside;
  private final double share;
  private final boolean fixed;
  private final List<DeviceState> states = new ArrayList<>(); // guarded by itself
  private double highestMhz;
  private Thread reader;

  /**
   * @param monitor what to read; empty where nothing can
   * @param beside whether to read while samples run, and to drop throttled ones
   * @param share below which share of the highest clock a device counts as throttled
   * @param fixed whether the clock is locked: the highest is then the highest that was seen, not
   *     the highest that the device could have
   */
  DeviceWatch(Optional<DeviceMonitor> monitor, boolean beside, double share, boolean fixed) {
    this.monitor = monitor;
    this.beside = beside;
    this.share = share;
    this.fixed = fixed;
  }

  /** The share that the properties ask for. */
  static double throttleShare() {
    return Double.parseDouble(System.getProperty(DeviceContext.THROTTLE, DEFAULT_THROTTLE));
  }

  /**
   * The state over one batch: mean of the readings, of the temperature the highest.
   *
   * @param throttled whether the clock was too low for the samples to count
   * @param reasons what the library says about it
   */
  record Reading(
      OptionalDouble coreMhz,
      OptionalDouble powerWatts,
      OptionalDouble temperatureC,
      OptionalDouble highestMhz,
      boolean throttled,
      List<String> reasons) {}

  /** Whether samples can be dropped because of what is read. */
  boolean mayDrop() {
    return monitor.isPresent() && beside && share > 0;
  }

  /** Before a batch is queued. */
  void begin() {
    synchronized (states) {
      states.clear();
    }
    if (monitor.isEmpty() || !beside) {
      return;
    }
    reader = new Thread(this::readUntilInterrupted, "musabench device watch");
    reader.setDaemon(true);
    reader.start();
  }

  private void readUntilInterrupted() {
    try {
      // The first reading comes late, so that it is not one of an idle device.
      while (true) {
        Thread.sleep(PERIOD_MILLIS);
        read();
      }
    } catch (InterruptedException end) {
      // As intended.
    }
  }

  private void read() {
    DeviceState state = monitor.orElseThrow().read();
    synchronized (states) {
      states.add(state);
    }
  }

  /** When the batch has ended. */
  Reading end() {
    if (monitor.isEmpty()) {
      return reading(List.of());
    }
    if (reader != null) {
      reader.interrupt();
      try {
        reader.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      reader = null;
    }
    List<DeviceState> taken;
    synchronized (states) {
      if (states.isEmpty()) {
        // Too short a batch: its clock is still there for some milliseconds.
        states.add(monitor.orElseThrow().read());
      }
      taken = List.copyOf(states);
    }
    return reading(taken);
  }

  private Reading reading(List<DeviceState> taken) {
    OptionalDouble core = mean(taken, DeviceState::coreClockMhz);
    for (DeviceState state : taken) {
      // Of a device that does not tell its highest clock, the highest that was seen.
      highestMhz = Math.max(highestMhz, fixed ? 0 : state.maxCoreClockMhz().orElse(0));
      highestMhz = Math.max(highestMhz, state.coreClockMhz().orElse(0));
    }
    TreeSet<String> reasons = new TreeSet<>();
    taken.forEach(state -> reasons.addAll(state.throttleReasons()));
    boolean throttled = beside && core.isPresent() && core.getAsDouble() < share * highestMhz;
    return new Reading(
        core,
        mean(taken, DeviceState::powerWatts),
        taken.stream()
            .map(DeviceState::temperatureC)
            .filter(OptionalDouble::isPresent)
            .mapToDouble(OptionalDouble::getAsDouble)
            .max(),
        highestMhz > 0 ? OptionalDouble.of(highestMhz) : OptionalDouble.empty(),
        throttled,
        List.copyOf(reasons));
  }

  // A clock of 0 MHz is a library's way of not knowing.
  private static OptionalDouble mean(
      List<DeviceState> states, Function<DeviceState, OptionalDouble> value) {
    return states.stream()
        .map(value)
        .filter(OptionalDouble::isPresent)
        .mapToDouble(OptionalDouble::getAsDouble)
        .filter(v -> v > 0)
        .average();
  }

  /**
   * Other processes on the device, as {@code pid name}. The fork that this one takes turns with is
   * none. In a container the driver may know this process by another number; then one entry is
   * taken for it.
   */
  List<String> otherProcesses() {
    if (monitor.isEmpty()) {
      return List.of();
    }
    ProcessHandle own = ProcessHandle.current();
    Set<Long> siblings = new HashSet<>();
    own.parent().ifPresent(p -> p.children().forEach(child -> siblings.add(child.pid())));
    siblings.remove(own.pid());
    List<DeviceProcess> processes = new ArrayList<>(monitor.get().processes());
    processes.removeIf(process -> siblings.contains(process.pid()));
    return others(processes, own.pid());
  }

  static List<String> others(List<DeviceProcess> processes, long own) {
    List<DeviceProcess> others = new ArrayList<>(processes);
    if (!others.removeIf(process -> process.pid() == own)) {
      others.stream()
          .filter(process -> process.name().equals("unknown"))
          .findFirst()
          .ifPresent(others::remove);
    }
    return others.stream().map(process -> process.pid() + " " + process.name()).toList();
  }
}
