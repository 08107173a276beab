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

class NvmlTest {
  private static final List<DeviceProcess> PROCESSES =
      List.of(
          new DeviceProcess(4242, "python3", OptionalLong.of(8L << 30)),
          new DeviceProcess(4343, "unknown", OptionalLong.empty()));

  @TempDir private Path folder;
  private ManagementDouble nvml;

  @BeforeEach
  void copy() throws IOException {
    nvml = new ManagementDouble(Vendor.CUDA, "nvml", folder);
  }

  @AfterEach
  void everyCallWasRight() {
    assertThat(nvml.misuse()).isEmpty();
  }

  @Test
  void readsClocksTemperaturePowerMemoryErrorsAndWhyTheClockIsLow() {
    try (DeviceMonitor monitor = nvml.monitor()) {
      assertThat(monitor.read())
          .isEqualTo(
              new DeviceState(
                  OptionalDouble.of(1755),
                  OptionalDouble.of(2619),
                  OptionalDouble.of(1980),
                  OptionalDouble.of(57),
                  OptionalDouble.of(402.75),
                  OptionalDouble.of(700),
                  OptionalLong.of(1024L << 20),
                  OptionalLong.of(81559L << 20),
                  OptionalLong.of(1),
                  List.of("software power cap", "hardware thermal slowdown")));
    }
  }

  @Test
  void tellsTheDeviceItsProcessesAndItsLinks() {
    try (DeviceMonitor monitor = nvml.open(0, "0000:65:00.0").monitor().orElseThrow()) {
      assertThat(monitor.identity())
          .isEqualTo(
              new DeviceIdentity(
                  Optional.of("NVIDIA H100 80GB HBM3"),
                  Optional.of("GPU-0000000b"),
                  Optional.of("00000000:65:00.0"),
                  Optional.of("96.00.89.00.01"),
                  Optional.of("580.95.05"),
                  Optional.of("13.580.95.05")));
      assertThat(monitor.processes()).isEqualTo(PROCESSES);
      assertThat(monitor.links())
          .extracting(DeviceLink::state)
          .containsExactly("up", "up", "up", "down");
    }
  }

  @Test
  void leavesEmptyWhatTheDeviceDoesNotSupport() {
    try (DeviceMonitor monitor = nvml.monitor()) {
      nvml.fail("nvmlDeviceGetClockInfo", 3);
      nvml.fail("nvmlDeviceGetMemoryInfo", 3);
      nvml.fail("nvmlDeviceGetCurrentClocksThrottleReasons", 3);
      nvml.fail("nvmlDeviceGetComputeRunningProcesses_v3", 4);
      nvml.fail("nvmlDeviceGetComputeRunningProcesses", 4);
      DeviceState state = monitor.read();
      assertThat(state.coreClockMhz()).isEmpty();
      assertThat(state.totalBytes()).isEmpty();
      assertThat(state.throttleReasons()).isEmpty();
      assertThat(state.powerWatts()).isPresent();
      assertThat(monitor.processes()).isEmpty();
    }
  }

  @Test
  void readsProcessesInTheOldFormWhereThereIsNoOther() throws IOException {
    ManagementDouble old = new ManagementDouble(Vendor.CUDA, "nvml_old", folder);
    try (DeviceMonitor monitor = old.monitor()) {
      assertThat(monitor.processes()).isEqualTo(PROCESSES);
      assertThat(monitor.links()).isEmpty();
    }
    assertThat(old.misuse()).isEmpty();
  }

  @Test
  void saysWhyTheLibraryDoesNotStart() {
    nvml.fail("nvmlInit_v2", 9);
    assertThat(nvml.open(0, null).note())
        .isEqualTo(nvml.file() + ": nvmlInit_v2 returned 9 (Driver Not Loaded)");
    assertThat(nvml.inits()).isEqualTo(1);
  }

  @Test
  void saysWhatWasTriedWhereThereIsNoLibrary() {
    DeviceMonitors.Opened opened =
        DeviceMonitors.open(Vendor.MUSA, List.of("/no/such/libmtml.so"), 0, Optional.empty());
    assertThat(opened.monitor()).isEmpty();
    assertThat(opened.note()).isEqualTo("no management library; tried /no/such/libmtml.so");
  }

  @Test
  void saysThatALibraryIsNotAManagementLibrary() throws IOException {
    ManagementDouble wrong = new ManagementDouble(Vendor.MUSA, "nvml_old", folder);
    assertThat(wrong.open(0, null).note()).endsWith("libnvml_old.so: it has no mtmlLibraryInit");
  }
}
