package io.musabench.results.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.results.run.Environment.Git;
import io.musabench.results.run.Environment.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineProbeTest {
  @TempDir private Path root;

  private void file(String path, String content) throws IOException {
    Path file = root.resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
  }

  private void fakeMachine() throws IOException {
    file(
        "proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\ncpu MHz\t\t: 2900.123\n"
            + "flags\t\t: fpu avx2 hypervisor\n\nprocessor\t: 1\nmodel name\t: Other\n");
    file("proc/meminfo", "MemTotal:  1024 kB\nMemFree: 1 kB\nMemAvailable:  512 kB\n");
    file("proc/loadavg", "0.25 1.50 2.00 1/100 42\n");
    file("proc/sys/kernel/osrelease", "6.1.0-test\n");
  }

  @Test
  void readsWhatLinuxTells() throws IOException {
    fakeMachine();
    Machine m = MachineProbe.machine(root);
    assertThat(m.cpu()).isEqualTo("Some CPU @ 3 GHz");
    assertThat(m.cpuMhz()).isEqualTo(2900.123);
    assertThat(m.hypervisor()).isTrue();
    assertThat(m.cpuGovernor()).isNull();
    assertThat(m.memoryBytes()).isEqualTo(1024 * 1024);
    assertThat(m.availableMemoryBytes()).isEqualTo(512 * 1024);
    assertThat(m.loadAverage()).containsExactly(0.25, 1.5, 2.0);
    assertThat(m.kernel()).isEqualTo("6.1.0-test");
    assertThat(m.logicalCpus()).isPositive();
  }

  @Test
  void theDriversOwnClockComesFirst() throws IOException {
    fakeMachine();
    file("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3100000\n");
    file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    file("proc/cpuinfo", "model name : X\nflags : fpu\n");
    Machine m = MachineProbe.machine(root);
    assertThat(m.cpuMhz()).isEqualTo(3100.0);
    assertThat(m.cpuGovernor()).isEqualTo("powersave");
    assertThat(m.hypervisor()).isFalse();
  }

  @Test
  void aSystemThatTellsNothingLeavesItUnknown() {
    Machine m = MachineProbe.machine(root);
    assertThat(m.cpu()).isNull();
    assertThat(m.cpuMhz()).isNull();
    assertThat(m.hypervisor()).isNull();
    assertThat(m.memoryBytes()).isNull();
    assertThat(m.loadAverage()).isNull();
    assertThat(m.kernel()).isNull();
    assertThat(MachineProbe.warnings(m)).isEmpty();
  }

  @Test
  void anArmMachineMayNameNoModel() throws IOException {
    file("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n");
    Machine m = MachineProbe.machine(root);
    assertThat(m.cpu()).isNull();
    assertThat(m.hypervisor()).isFalse();
  }

  private static Machine machine(double load, String governor) {
    return new Machine(
        null, 2, governor, null, null, null, null, List.of(load, 9.0, 9.0), null, null, null);
  }

  @Test
  void warnsOfOtherWorkAndOfAChangingClock() {
    assertThat(MachineProbe.warnings(machine(0.5, "performance"))).isEmpty();
    assertThat(MachineProbe.warnings(machine(0.51, null)))
        .singleElement()
        .asString()
        .contains("load average 0.51", "2 CPUs");
    assertThat(MachineProbe.warnings(machine(0, "schedutil")))
        .singleElement()
        .asString()
        .contains("schedutil");
  }

  @Test
  void keepsTheSettingsOfTheSuiteAndTheRuntimesOnly() {
    Properties properties = new Properties();
    properties.setProperty("musabench.ffi.library", "");
    properties.setProperty("musabench.target", "host");
    properties.setProperty("musabench.version.mate", "1");
    properties.setProperty("user.home", "/home/x");
    assertThat(
            MachineProbe.settings(
                Map.of(
                    "MUSABENCH_ISA", "scalar",
                    "MUSART_HOST_THREADS", "1",
                    "CUDA_VISIBLE_DEVICES", "0",
                    "HOME", "/home/x",
                    "MY_CUDA_X", "1"),
                properties))
        .containsOnlyKeys(
            "MUSABENCH_ISA", "MUSART_HOST_THREADS", "CUDA_VISIBLE_DEVICES", "musabench.target");
  }

  @Test
  void aFolderOutsideAnyCheckoutHasNoRevision() {
    assertThat(MachineProbe.git(root)).isEqualTo(Git.UNKNOWN);
    assertThat(MachineProbe.git(root.resolve("none"))).isEqualTo(Git.UNKNOWN);
  }

  @Test
  void aCheckoutHasARevisionABranchAndMayBeDirty() throws Exception {
    git("init", "-q", "-b", "trunk");
    Files.writeString(root.resolve("a"), "1");
    git("add", "a");
    git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "one");
    Git clean = MachineProbe.git(root);
    assertThat(clean.revision()).matches("[0-9a-f]{40}");
    assertThat(clean.branch()).isEqualTo("trunk");
    assertThat(clean.dirty()).isFalse();
    Files.writeString(root.resolve("untracked"), "1");
    assertThat(MachineProbe.git(root).dirty()).isFalse();
    Files.writeString(root.resolve("a"), "2");
    assertThat(MachineProbe.git(root).dirty()).isTrue();
  }

  private void git(String... arguments) throws Exception {
    List<String> line = new java.util.ArrayList<>(List.of("git"));
    line.addAll(List.of(arguments));
    Process process = new ProcessBuilder(line).directory(root.toFile()).inheritIO().start();
    assertThat(process.waitFor()).isZero();
  }

  @Test
  void propertiesSetTheVersionsOfOtherSoftware() {
    System.setProperty("musabench.version.torch_musa", "2.5");
    try {
      Environment e = Environment.collect("musa", java.time.Instant.EPOCH, root);
      assertThat(e.versions()).containsEntry("torch_musa", "2.5").containsEntry("mate", null);
      assertThat(e.createdUtc()).isEqualTo("1970-01-01T00:00:00Z");
      assertThat(e.target()).isEqualTo("musa");
      assertThat(e.jvm().version()).isNotBlank();
    } finally {
      System.clearProperty("musabench.version.torch_musa");
    }
  }
}
