package io.musabench.bindings.management;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostMonitorTest {
  @TempDir private Path root;

  @Test
  void readsTheMeanClockOfAllCpusFromCpufreq() throws IOException {
    write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
    write("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n");
    write("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3700000\n");
    write("sys/devices/system/cpu/cpufreq/scaling_cur_freq", "1\n"); // no CPU
    write("proc/cpuinfo", "cpu MHz\t\t: 1.000\n");

    DeviceState state = new HostMonitor(root).read();

    assertThat(state.coreClockMhz()).isEqualTo(OptionalDouble.of(2500));
    assertThat(state.maxCoreClockMhz()).isEqualTo(OptionalDouble.of(3700));
    assertThat(new HostMonitor(root).note()).isEmpty();
  }

  @Test
  void takesTheClockOfCpuinfoOnlyWhereTheKernelMeasuresIt() throws IOException {
    write("proc/cpuinfo", "flags : fpu avx2\ncpu MHz : 2400.0\n\ncpu MHz : 2600.0\n");
    assertThat(new HostMonitor(root).read().coreClockMhz()).isEqualTo(OptionalDouble.of(2500));

    write("proc/cpuinfo", "flags : fpu hypervisor avx2\ncpu MHz : 2400.0\n");
    HostMonitor virtual = new HostMonitor(root);
    assertThat(virtual.read().coreClockMhz()).isEmpty();
    assertThat(virtual.note()).hasValueSatisfying(n -> assertThat(n).contains("virtual machine"));
  }

  @Test
  void readsTemperatureOfTheProcessorAndMemory() throws IOException {
    write("sys/class/hwmon/hwmon0/name", "nvme\n");
    write("sys/class/hwmon/hwmon0/temp1_input", "99000\n");
    write("sys/class/hwmon/hwmon1/name", "k10temp\n");
    write("sys/class/hwmon/hwmon1/temp1_input", "54250\n");
    write("proc/meminfo", "MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:   250 kB\n");

    DeviceState state = new HostMonitor(root).read();

    assertThat(state.temperatureC()).isEqualTo(OptionalDouble.of(54.25));
    assertThat(state.usedBytes()).isEqualTo(OptionalLong.of(750 * 1024));
    assertThat(state.totalBytes()).isEqualTo(OptionalLong.of(1000 * 1024));
  }

  @Test
  void leavesEverythingEmptyWhereThereAreNoFiles() {
    HostMonitor monitor = new HostMonitor(root);
    assertThat(monitor.read()).isEqualTo(DeviceState.UNKNOWN);
    assertThat(monitor.identity()).isEqualTo(DeviceIdentity.UNKNOWN);
    assertThat(monitor.note()).isPresent();
  }

  @Test
  void neverThrowsOnThisMachine() {
    try (DeviceMonitor monitor = DeviceMonitors.host().monitor().orElseThrow()) {
      DeviceState state = monitor.read();
      assertThat(state.totalBytes()).isPresent();
      assertThat(state.usedBytes().orElseThrow()).isBetween(1L, state.totalBytes().orElseThrow());
    }
  }

  private void write(String file, String content) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, content);
  }
}
