package io.musabench.jmh.device;

import io.musabench.bindings.management.DeviceIdentity;
import io.musabench.bindings.management.DeviceLink;
import io.musabench.bindings.management.DeviceMonitor;
import io.musabench.bindings.management.DeviceProcess;
import io.musabench.bindings.management.DeviceState;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntToDoubleFunction;

/** A device whose clock a test chooses by the number of the reading. */
final class FakeMonitor implements DeviceMonitor {
  private static final double MAX_MHZ = 1750;

  /** No process has it: Linux's numbers end below 2^22. */
  private static final long TRAINER = 5_000_000;

  private final IntToDoubleFunction clock;
  private final AtomicInteger readings = new AtomicInteger();

  FakeMonitor(IntToDoubleFunction clock) {
    this.clock = clock;
  }

  @Override
  public DeviceState read() {
    double mhz = clock.applyAsDouble(readings.getAndIncrement());
    return new DeviceState(
        OptionalDouble.of(mhz),
        OptionalDouble.empty(),
        OptionalDouble.of(MAX_MHZ),
        OptionalDouble.of(60),
        OptionalDouble.of(300),
        OptionalDouble.empty(),
        OptionalLong.empty(),
        OptionalLong.empty(),
        OptionalLong.empty(),
        mhz < 1000 ? List.of("power cap") : List.of());
  }

  @Override
  public List<DeviceProcess> processes() {
    return List.of(
        new DeviceProcess(ProcessHandle.current().pid(), "java", OptionalLong.empty()),
        new DeviceProcess(TRAINER, "trainer", OptionalLong.of(1)));
  }

  @Override
  public DeviceIdentity identity() {
    throw new UnsupportedOperationException("nobody asks");
  }

  @Override
  public List<DeviceLink> links() {
    return List.of();
  }

  @Override
  public String library() {
    return "fake";
  }

  @Override
  public void close() {}

  /** A watch that drops what is under 75 % of the highest clock. */
  static DeviceWatch watch(IntToDoubleFunction clock) {
    return new DeviceWatch(Optional.of(new FakeMonitor(clock)), true, 0.75, false);
  }
}
