package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.jmh.TinyModel;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Sample;
import io.musabench.results.run.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Cases of one run that are measured side by side, in turns. */
class TogetherOnHostTest {
  @TempDir private Path folder;

  @BeforeAll
  static void requireNativeLibraries() {
    MusabenchProcess.requireNativeLibraries();
  }

  private MusabenchProcess run(Map<String, String> environment, String... arguments)
      throws Exception {
    List<String> all =
        new ArrayList<>(
            List.of(
                "run",
                "--together",
                "--no-roofs",
                "--iterations=1",
                "--output=" + folder.resolve("runs")));
    all.addAll(List.of(arguments));
    return MusabenchProcess.start(folder, environment, all.toArray(String[]::new));
  }

  private RunDirectory latest() {
    return RunDirectory.open(folder.resolve("runs").resolve(RunDirectory.LATEST));
  }

  @Test
  void shouldMeasureKernelsAndAStepInTurns() throws Exception {
    Path model = Files.writeString(folder.resolve("config.json"), TinyModel.config(64));
    MusabenchProcess run =
        run(
            Map.of(),
            "--seconds=0.3",
            "--ceiling=0.3",
            "^elementwise.RmsNorm$",
            "^step.DecodeStep$",
            "-p",
            "model=" + model,
            "-p",
            "tokens=4",
            "-p",
            "batch=2q1s40",
            "-p",
            "mode=eager,graph");
    assertThat(run.exitCode()).as(run.text()).isZero();
    assertThat(run.text()).contains("[3/3]");
    List<CaseResult> cases = latest().read().cases();
    assertThat(cases).extracting(CaseResult::status).containsOnly(Status.OK).hasSize(3);
    List<Sample> samples = new ArrayList<>();
    latest().eachSample(samples::add);
    for (CaseResult one : cases) {
      List<Sample> own = samples.stream().filter(s -> s.caseId().equals(one.id())).toList();
      assertThat(own.stream().filter(s -> s.metric().equals(Sample.TURN)))
          .isNotEmpty()
          .hasSameSizeAs(own.stream().filter(s -> s.metric().equals(Sample.DEVICE_TIME)).toList());
    }
    // The kernels of a step would be measured in the time of the others.
    assertThat(samples).extracting(Sample::metric).doesNotContain("eager.span");
  }

  @Test
  void shouldMeasureTheOthersWhereOneHangs() throws Exception {
    MusabenchProcess run =
        run(
            Map.of("MUSART_HOST_FAULTS", "kernel:silu_and_mul:1=hang"),
            "--seconds=0.02",
            "--time-limit=5",
            "^elementwise.RmsNorm$",
            "SiluAndMul");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(latest().read().cases())
        .extracting(CaseResult::status)
        .containsExactly(Status.OK, Status.TIMEOUT);
    assertThat(run.text()).contains("1 of 2 cases failed; JMH's output is in jmh-*.log");
    assertThat(latest().path().resolve("jmh-2.log")).content().contains("silu_and_mul");
  }
}
