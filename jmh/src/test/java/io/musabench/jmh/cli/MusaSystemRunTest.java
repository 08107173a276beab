package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.bindings.Target;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.RunData;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Status;
import io.musabench.results.run.Versions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

/**
 * The whole program on the MUSA target, device type 12: the host's libraries under the names and
 * SONAMEs of a real installation, a Python environment, and a management library.
 */
class MusaSystemRunTest {
  @TempDir private Path folder;
  private Path build;
  private Map<String, String> environment;
  private Map<String, String> properties;

  @BeforeEach
  void useTree() throws IOException {
    MusabenchProcess.requireNativeLibraries();
    build = Target.nativeFolder().orElseThrow().toRealPath().getParent();
    Path local = build.resolve("musa-double/usr/local");
    if (!Files.isDirectory(local)) {
      throw new TestAbortedException("skipped: no " + local + "; build native with its tests");
    }
    environment = new LinkedHashMap<>();
    environment.put("MUSA_HOME", local.resolve("musa").toString());
    environment.put("VIRTUAL_ENV", build.resolve("mate-double").toString());
    environment.put("MUSART_HOST_DEVICES", "2");
    properties = new LinkedHashMap<>();
    properties.put(Target.TARGET_PROPERTY, "musa");
    properties.put(Target.FFI_PROPERTY, "");
    properties.put(
        Target.KERNELS_PROPERTY, build.resolve("lib/libmusabench_kernels_host.so").toString());
    properties.put(
        "musabench.management.library", build.resolve("management/libmtml.so").toString());
  }

  @Test
  void doctorShowsLibrariesCardsSoftwareAndMate() throws Exception {
    MusabenchProcess doctor = MusabenchProcess.start(folder, environment, properties, "doctor");
    assertThat(doctor.exitCode()).as(doctor.text()).isZero();
    assertThat(doctor.text())
        .contains("musa  can be used, devices: 2")
        .contains("taken " + build + "/musa-double/usr/local/musa-5.1.0/lib/libmusart.so.5.1.0")
        .contains("the system's loader found none; the first that loaded of the installations")
        .contains("not   " + build + "/musa-double/usr/local/musa-4.3.6/lib/libmusart.so.4.3.6")
        .contains("driver   " + build + "/musa-double/usr/local/musa-5.1.0/lib/libmusa.so.5.1.0")
        .contains("driver's library serves runtimes up to 5.1.0")
        .contains("Used      musa")
        .contains("clock 1450 MHz, of 1500 MHz, memory clock 10000 MHz, 61 °C, 313 W, of 450 W")
        .contains("uncorrected memory errors 2")
        .contains("links 1 down, 1 downgraded, 1 up, 112 GB/s each")
        .contains("torch_musa 2.9.0, vllm-musa 0.1.0 commit 0123456789ab, mate 0.2.2")
        .contains("driver 3.3.5-server")
        .contains("mate      0.2.2 in " + build + "/mate-double/lib/python3.10/site-packages/mate")
        .containsPattern("data/aot: \\d+ kernels \\(flash_attention_ops 1, fmha_get_metadata \\d+")
        .contains("python -m mate.aot");
  }

  @Test
  void runMeasuresEagerAndGraphAndRecordsTheCard() throws Exception {
    MusabenchProcess run =
        MusabenchProcess.start(
            folder,
            environment,
            properties,
            "run",
            "--no-roofs",
            "--output=" + folder.resolve("runs"),
            "--iterations=1",
            "--seconds=0.02",
            "--label=musa_sdk=5.1.0",
            "^elementwise.RmsNorm$",
            "GraphReplay");
    assertThat(run.exitCode()).as(run.text()).isZero();
    assertThat(run.text()).contains("MUSA SDK 5.1.0, driver 3.3.5-server, torch_musa 2.9.0");

    RunData data = RunDirectory.open(folder.resolve("runs").resolve(RunDirectory.LATEST)).read();
    assertThat(data.cases()).hasSize(2).extracting(CaseResult::status).containsOnly(Status.OK);
    Environment recorded = data.environment();
    assertThat(recorded.target()).isEqualTo("musa");
    assertThat(recorded.clocks().coreMhz()).isEqualTo(1450);
    assertThat(recorded.clocksAtEnd().temperatureCelsius()).isEqualTo(61);
    assertThat(recorded.clocksAtEnd().source()).endsWith("libmtml.so");
    assertThat(recorded.versions())
        .containsEntry(Versions.MUSA_SDK, "5.1.0")
        .containsEntry(Versions.DRIVER, "3.3.5-server")
        .containsEntry(Versions.MATE, "0.2.2")
        .containsEntry("links", "1 down, 1 downgraded, 1 up, 112 GB/s each")
        .containsKey("gpu_uuid")
        .containsKey(Versions.GPU_MODEL);
    assertThat(recorded.warnings())
        .contains("the device's link 1 is downgraded")
        .anyMatch(warning -> warning.startsWith("2 runtimes on this machine: measured with "));
    assertThat(recorded.libraries())
        .anySatisfy(library -> assertThat(library.path()).endsWith("libmusart.so.5.1.0"))
        .anySatisfy(library -> assertThat(library.path()).endsWith("libmusa.so.5.1.0"))
        .anySatisfy(library -> assertThat(library.path()).endsWith("libtvm_ffi.so"));
  }
}
