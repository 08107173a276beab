package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.musabench.bindings.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The self-test on the host device, with and without injected faults. */
class SelftestOnHostTest {
  private static final String FAULTS = "MUSART_HOST_FAULTS";

  @TempDir private Path folder;

  @BeforeAll
  static void requireNativeLibraries() {
    MusabenchProcess.requireNativeLibraries();
  }

  private MusabenchProcess start(Map<String, String> environment, String... expressions)
      throws Exception {
    String[] arguments = new String[expressions.length + 1];
    arguments[0] = "selftest";
    System.arraycopy(expressions, 0, arguments, 1, expressions.length);
    return MusabenchProcess.start(folder, environment, arguments);
  }

  @Test
  void shouldFindEveryKernelRight() throws Exception {
    MusabenchProcess run =
        start(
            Map.of(),
            "random_fill.*=8190",
            "projection=70x257",
            "^elementwise",
            "^roof.Peak",
            "Prefill.*batch=q65 ",
            "PagedDecode.*batch=5q1s300.*splits=3");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
    assertThat(run.text())
        .contains("Target host", "random_fill", "gemm.Gemm", "elementwise.Sampler")
        .contains(
            "attention.FmhaPrefill", "attention.PagedDecode", "roof.PeakFlops", "checks right")
        .doesNotContain("WRONG");
  }

  /**
   * The device kernels by the emulation: every kernel, at the smallest shapes that have an edge.
   */
  @Test
  void shouldFindTheEmulatedDeviceKernelsRight() throws Exception {
    Path library = Target.nativeFolder().orElseThrow().resolve("libmusabench_kernels_emulated.so");
    assumeTrue(Files.exists(library), "skipped: no " + library + "; build native with its tests");
    MusabenchProcess run =
        MusabenchProcess.start(
            folder,
            Map.of(),
            Map.of(Target.KERNELS_PROPERTY, library.toString()),
            "selftest",
            "random_fill.*=8190",
            "gemm.*projection=70x257.*tokens=3$",
            "^elementwise.*tokens=3?3$",
            "Prefill.*batch=q1 ",
            "PagedDecode.*batch=5q1s300.*splits=3",
            "^roof.Peak");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
    assertThat(run.text())
        .contains("libmusabench_kernels_emulated.so", "random_fill", "gemm.Gemm")
        .contains("elementwise.RmsNorm", "attention.FmhaPrefill", "attention.PagedDecode")
        .contains("checks right")
        .doesNotContain("WRONG");
  }

  @Test
  void shouldNameTheWrongResult() throws Exception {
    MusabenchProcess run =
        start(Map.of(FAULTS, "kernel:gemm:3=wrong"), "^gemm.*projection=70x257", "RmsNorm");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(run.text())
        .contains("WRONG  gemm.Gemm", "where the reference has", "elementwise.RmsNorm")
        .doesNotContain("WRONG  elementwise");
  }

  @Test
  void shouldFindARandomFillThatIsWrong() throws Exception {
    MusabenchProcess run = start(Map.of(FAULTS, "kernel:random_fill:1=wrong"), "^random_fill");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(run.text()).contains("WRONG  random_fill");
  }

  @Test
  void shouldEndWhenTheDeviceIsInError() throws Exception {
    MusabenchProcess run =
        start(Map.of(FAULTS, "kernel:embedding:1=700"), "^elementwise.(Embedding|Sampler)");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(run.text()).contains("WRONG  elementwise.Embedding", "the rest was not checked");
  }

  @Test
  void shouldRefuseToCheckNothing() throws Exception {
    MusabenchProcess run = start(Map.of(), "gem,");
    assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(run.text()).contains("nothing to check");
  }
}
