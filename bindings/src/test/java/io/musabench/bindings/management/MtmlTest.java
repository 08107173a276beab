package io.musabench.bindings.management;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.bindings.runtime.Vendor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MtmlTest {
  @TempDir private Path folder;
  private ManagementDouble mtml;

  @BeforeEach
  void copy() throws IOException {
    mtml = new ManagementDouble(Vendor.MUSA, "mtml", folder);
  }

  @AfterEach
  void everyCallWasRight() {
    assertThat(mtml.misuse()).isEmpty();
  }

  @Test
  void readsClocksTemperaturePowerMemoryAndErrors() {
    try (DeviceMonitor monitor = mtml.monitor()) {
      assertThat(monitor.read())
          .isEqualTo(
              new DeviceState(
                  OptionalDouble.of(1450),
                  OptionalDouble.of(10000),
                  OptionalDouble.of(1500),
                  OptionalDouble.of(61),
                  OptionalDouble.of(312.5),
                  OptionalDouble.of(450),
                  OptionalLong.of(604L << 20),
                  OptionalLong.of(81920L << 20),
                  OptionalLong.of(2),
                  List.of()));
      assertThat(monitor.library()).isEqualTo(mtml.file().toString());
    }
  }

  @Test
  void tellsTheDeviceTheDriverAndTheLinks() {
    try (DeviceMonitor monitor = mtml.monitor()) {
      assertThat(monitor.identity())
          .isEqualTo(
              new DeviceIdentity(
                  Optional.of("MTT S5000"),
                  Optional.of("2c1e6a52-0000-4b0c-9d5e-00000000000a"),
                  Optional.of("00000000:3B:00.0"),
                  Optional.of("3.4.3"),
                  Optional.of("3.3.5-server"),
                  Optional.of("2.2.0")));
      assertThat(monitor.links())
          .containsExactly(
              new DeviceLink(0, "up", OptionalDouble.of(112)),
              new DeviceLink(1, "downgraded", OptionalDouble.of(112)),
              new DeviceLink(2, "down", OptionalDouble.of(112)));
    }
  }

  @Test
  void findsTheDeviceByTheBusAndNotByItsNumber() {
    // MUSA_VISIBLE_DEVICES=1: the runtime's first device is the library's second.
    try (DeviceMonitor monitor = mtml.open(0, "0000:af:00.0").monitor().orElseThrow()) {
      assertThat(monitor.identity().pciBusId()).hasValue("00000000:AF:00.0");
      // Of which the library says 0.
      assertThat(monitor.read().powerLimitWatts()).isEmpty();
    }
    assertThat(Mtml.fullBusId("0000:3b:00.0")).isEqualTo("00000000:3B:00.0");
    assertThat(Mtml.fullBusId("00000000:3B:00.0")).isEqualTo("00000000:3B:00.0");
  }

  @Test
  void initialisesOnceAProcessWhateverIsOpenedAndClosed() {
    for (int i = 0; i < 3; i++) {
      try (DeviceMonitor monitor = mtml.monitor()) {
        assertThat(monitor.read().coreClockMhz()).isPresent();
      }
    }
    assertThat(mtml.inits()).isEqualTo(1);
  }

  @Test
  void leavesEmptyWhatTheDeviceDoesNotSupport() {
    try (DeviceMonitor monitor = mtml.monitor()) {
      mtml.fail("mtmlDeviceGetPowerUsage", 4);
      mtml.fail("mtmlGpuGetTemperature", 5);
      mtml.fail("mtmlMemoryGetEccErrorCounter", 4);
      mtml.fail("mtmlDeviceGetMtLinkSpec", 4);
      mtml.fail("mtmlDeviceGetUUID", 4);
      DeviceState state = monitor.read();
      assertThat(state.powerWatts()).isEmpty();
      assertThat(state.temperatureC()).isEmpty();
      assertThat(state.eccErrors()).isEmpty();
      assertThat(state.coreClockMhz()).isPresent();
      assertThat(monitor.links()).isEmpty();
      assertThat(monitor.identity().uuid()).isEmpty();
      assertThat(monitor.processes()).isEmpty();
    }
  }

  @Test
  void readsTheRestWhereTheGpuHasNoHandle() {
    mtml.fail("mtmlDeviceInitGpu", 4);
    try (DeviceMonitor monitor = mtml.monitor()) {
      assertThat(monitor.read().coreClockMhz()).isEmpty();
      assertThat(monitor.read().powerWatts()).isPresent();
      assertThat(monitor.read().totalBytes()).isPresent();
    }
  }

  @Test
  void readsNothingAfterTheClose() {
    DeviceMonitor monitor = mtml.monitor();
    monitor.close();
    monitor.close(); // no double free
    assertThat(monitor.read()).isEqualTo(DeviceState.UNKNOWN);
    assertThat(monitor.links()).isEmpty();
    assertThat(monitor.identity()).isEqualTo(DeviceIdentity.UNKNOWN);
  }

  @Test
  void saysWhyTheLibraryDoesNotStartAndDoesNotTryAgain() {
    mtml.fail("mtmlLibraryInit", 1);
    for (int i = 0; i < 2; i++) {
      DeviceMonitors.Opened opened = mtml.open(0, null);
      assertThat(opened.monitor()).isEmpty();
      assertThat(opened.note())
          .isEqualTo(mtml.file() + ": mtmlLibraryInit returned 1 (driver not loaded)");
    }
    assertThat(mtml.inits()).isEqualTo(1);
  }

  @Test
  void saysThatThereIsNoSuchDevice() {
    assertThat(mtml.open(7, null).note())
        .contains("device 7", "mtmlLibraryInitDeviceByIndex returned 7 (not found)");
  }

  @Test
  void readsWhatAnOlderLibraryHas() throws IOException {
    ManagementDouble old = new ManagementDouble(Vendor.MUSA, "mtml_old", folder);
    try (DeviceMonitor monitor = old.monitor()) {
      DeviceState state = monitor.read();
      assertThat(state.powerLimitWatts()).isEmpty();
      assertThat(state.eccErrors()).isEmpty();
      assertThat(state.coreClockMhz()).isEqualTo(OptionalDouble.of(1450));
      assertThat(monitor.links()).isEmpty();
    }
    assertThat(old.misuse()).isEmpty();
  }
}
