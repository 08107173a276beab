package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.jmh.TinyModel;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.GraphCosts;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whole runs on the host device, with and without injected faults. */
class RunOnHostTest {
  private static final String FAULTS = "MUSART_HOST_FAULTS";

  private static final String TINY = TinyModel.config(64);

  @TempDir private Path folder;

  @BeforeAll
  static void requireNativeLibraries() {
    MusabenchProcess.requireNativeLibraries();
  }

  private MusabenchProcess start(Map<String, String> environment, String... arguments)
      throws IOException {
    List<String> given = List.of(arguments);
    List<String> all =
        new ArrayList<>(List.of("run", "--no-roofs", "--output=" + folder.resolve("runs")));
    for (String option : List.of("--iterations=1", "--seconds=0.02")) {
      String name = option.substring(0, option.indexOf('=') + 1);
      if (given.stream().noneMatch(argument -> argument.startsWith(name))) {
        all.add(option);
      }
    }
    all.addAll(given);
    return MusabenchProcess.start(folder, environment, all.toArray(String[]::new));
  }

  private RunDirectory latest() {
    return RunDirectory.open(folder.resolve("runs").resolve(RunDirectory.LATEST));
  }

  private List<CaseResult> cases() {
    return latest().read().cases();
  }

  private JsonNode json() throws IOException {
    return new ObjectMapper().readTree(Files.readAllBytes(latest().path().resolve("jmh.json")));
  }

  @Test
  void shouldWriteDeviceTimeAsThePrimaryScoreOfJmhJson() throws Exception {
    MusabenchProcess run = start(Map.of(), "^elementwise.RmsNorm$", "--forks=2", "--label=a=b");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);

    JsonNode benchmark = json().get(0);
    assertThat(benchmark.get("benchmark").asText()).endsWith("elementwise.RmsNorm.time");
    assertThat(benchmark.get("forks").asInt()).isEqualTo(2);
    JsonNode primary = benchmark.get("primaryMetric");
    assertThat(primary.get("scoreUnit").asText()).isEqualTo("ns/op");
    assertThat(primary.get("rawData")).hasSize(2);
    CaseResult result = cases().get(0);
    assertThat(primary.get("scorePercentiles").get("50.0").asDouble())
        .isCloseTo(
            result.deviceTimeMedianUs() * 1e3, org.assertj.core.data.Percentage.withPercentage(5));
    assertThat(benchmark.get("secondaryMetrics").fieldNames())
        .toIterable()
        .contains("host.time", "host.submit");
    readableByJmhTools(benchmark);
    assertThat(run.text()).contains("Report  " + latest().path().resolve("report.html"));
    assertThat(Files.readString(latest().path().resolve("report.html"))).contains("RmsNorm");

    assertThat(result.status()).isEqualTo(Status.OK);
    assertThat(result.forks()).isEqualTo(2);
    assertThat(result.launches()).isGreaterThan(1);
    assertThat(result.kernel()).isEqualTo("rms_norm");
    assertThat(result.check()).contains("values, worst error", "equal bit for bit");
    assertThat(result.note()).isEmpty();
    assertThat(result.hostTimeMedianUs()).isPositive();
    assertThat(latest().readSamples())
        .filteredOn(s -> s.metric().equals("device.time"))
        .hasSize(result.samples());
    assertThat(latest().read().environment().versions()).containsEntry("a", "b");
    assertThat(latest().read().environment().libraries()).isNotEmpty();
    assertThat(latest().read().environment().device().runtimeVersion())
        .matches("\\d+\\.\\d+\\.\\d+");
  }

  /** The fields that JMH Visualizer and jmh-result readers take, and their types in JMH 1.37. */
  private static void readableByJmhTools(JsonNode benchmark) {
    for (String text :
        List.of(
            "jmhVersion",
            "benchmark",
            "mode",
            "jvm",
            "vmName",
            "vmVersion",
            "warmupTime",
            "measurementTime")) {
      assertThat(benchmark.path(text).isTextual()).as(text).isTrue();
    }
    for (String number :
        List.of(
            "threads",
            "forks",
            "warmupIterations",
            "warmupBatchSize",
            "measurementIterations",
            "measurementBatchSize")) {
      assertThat(benchmark.path(number).isInt()).as(number).isTrue();
    }
    assertThat(benchmark.path("jvmArgs").isArray()).isTrue();
    assertThat(benchmark.path("params").isObject()).isTrue();
    metric(benchmark.path("primaryMetric"));
    benchmark.path("secondaryMetrics").forEach(RunOnHostTest::metric);
  }

  private static void metric(JsonNode metric) {
    assertThat(metric.path("score").isNumber()).isTrue();
    // Of a single value JMH writes the text NaN, which its readers know.
    assertThat(metric.path("scoreError").isNumber() || metric.path("scoreError").isTextual())
        .isTrue();
    assertThat(metric.path("scoreConfidence")).hasSize(2);
    assertThat(metric.path("scoreUnit").isTextual()).isTrue();
    for (String percentile : List.of("0.0", "50.0", "90.0", "99.0", "100.0")) {
      assertThat(metric.path("scorePercentiles").path(percentile).isNumber()).isTrue();
    }
    boolean raw = metric.path("rawData").isArray() || metric.path("rawDataHistogram").isArray();
    assertThat(raw).isTrue();
  }

  @Test
  void shouldNameTheStoppingConditionThatTheCeilingLeftUnmet() throws Exception {
    MusabenchProcess run =
        start(Map.of(), "^elementwise.RmsNorm$", "--stop=stdrel:0.00001%", "--ceiling=1");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
    String unmet = cases().get(0).conditions().unmet();
    assertThat(unmet)
        .startsWith("1 of 1 sessions stopped at the time ceiling of 1 s, relative standard")
        .endsWith("> 0.00001 %");
    assertThat(run.text()).contains("\nStopped at the time ceiling\n  RmsNorm").contains(unmet);
    assertThat(cases().get(0).firstRunUs()).isPositive();
  }

  @Test
  void shouldTakeExactlySoManySamples() throws Exception {
    MusabenchProcess run =
        start(
            Map.of(),
            "^elementwise.RmsNorm$",
            "--stop=samples:7",
            "--iterations=2",
            "--ceiling=30");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
    assertThat(cases().get(0).samples()).isEqualTo(14);
    assertThat(cases().get(0).conditions().unmet()).isEmpty();
  }

  @Test
  void shouldStopTimesOfTheHostByTheCriterionToo() throws Exception {
    MusabenchProcess run =
        start(
            Map.of(),
            "^launch.Graph(Capture|Instantiate)$",
            "BindingFloor",
            "-p",
            "nodes=3",
            "--stop=samples:7",
            "--ceiling=30");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
    assertThat(cases()).hasSize(3).allMatch(c -> c.conditions().unmet().isEmpty());
    assertThat(cases()).extracting(CaseResult::samples).containsOnly(7);
    assertThat(latest().readSamples())
        .filteredOn(sample -> sample.metric().equals("host.time"))
        .hasSize(3 * 7);
  }

  @Test
  void shouldTimeABatchAsOneLongRowOfLaunches() throws Exception {
    MusabenchProcess run =
        start(Map.of(), "^elementwise.RmsNorm$", "-p", "cache=batch,hot", "--iterations=2");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
    CaseResult batch = cases().get(0);
    assertThat(batch.samples()).isEqualTo(2);
    assertThat(batch.launches()).isGreaterThan(100);
    assertThat(cases().get(1).launches()).isBetween(2, 100);
  }

  @Test
  void shouldFreeAStreamWhoseQueueIsFullWhileItIsHeld() throws Exception {
    MusabenchProcess run =
        start(Map.of("MUSART_HOST_QUEUE", "16"), "^launch.EmptyLaunch$", "^elementwise.RmsNorm$");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
    assertThat(cases())
        .allSatisfy(
            c -> {
              assertThat(c.note()).contains("the queue took no more before 1000 ms had passed");
              assertThat(c.deviceTimeMedianUs()).isBetween(0.0, 1e5);
            });
  }

  @ParameterizedTest
  @CsvSource({"batch", "cold"})
  void shouldMeasureASessionThatWasHeldTooLongAgain(String cache) throws Exception {
    // Room for the launches that estimate the time, but not for a session's; the hold is longer
    // than the session's ceiling.
    MusabenchProcess run =
        start(
            Map.of("MUSART_HOST_QUEUE", "8"),
            "^gemm",
            "-p",
            "projection=4096x1024",
            "-p",
            "tokens=1",
            "-p",
            "cache=" + cache);
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
    assertThat(cases().get(0).note()).contains("not held any more");
    assertThat(cases().get(0).samples()).isPositive();
  }

  @Test
  void shouldMeasureWhereAStreamCannotBeHeld() throws Exception {
    MusabenchProcess run =
        start(Map.of(FAULTS, "musaLaunchHostFunc:1+=801"), "^elementwise.RmsNorm$");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
    assertThat(cases().get(0).note()).startsWith("this runtime cannot hold a stream");
  }

  @Test
  void shouldMeasureInARandomOrderThatItsSeedRepeats() throws Exception {
    String[] arguments = {
      "^launch.EmptyLaunch$",
      "^elementwise.RmsNorm$",
      "^elementwise.SiluAndMul$",
      "--order=random",
      "--seed=5",
      "--clock-mode=fixed-power",
      "--cool-down=0.2"
    };
    List<List<String>> orders = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      MusabenchProcess run = start(Map.of(), arguments);
      assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
      orders.add(cases().stream().map(CaseResult::benchmark).toList());
    }
    assertThat(orders.get(0)).isEqualTo(orders.get(1)).hasSize(3);
    assertThat(latest().read().environment().versions())
        .containsEntry("measure.order", "random")
        .containsEntry("measure.seed", "5")
        .containsEntry("measure.stop", "stdrel:1%")
        .containsEntry("measure.cool_down_seconds", "0.2");
    assertThat(latest().read().environment().clocks().mode()).isEqualTo("fixed-power");
    assertThat(cases()).allMatch(c -> c.conditions().otherCpuPercent() >= 0);
  }

  @ParameterizedTest
  @CsvSource({
    "--order=shuffled, as-listed",
    "--seed=1, --order=random",
    "--clock-mode=fixed, fixed-power",
    "--cool-down=-1, from 0 to 3600",
    "--stop=stdrel:x, stdrel:0.5%"
  })
  void shouldRefuseWaysToMeasureThatThereAreNot(String option, String told) throws Exception {
    MusabenchProcess run = start(Map.of(), "^elementwise.RmsNorm$", option);
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.USAGE);
    assertThat(run.text()).contains(told);
  }

  @Test
  void shouldSayOnceThatAnotherRunIsGoingOn() throws Exception {
    SoleRun other = SoleRun.claim();
    try {
      MusabenchProcess run = start(Map.of(), "^elementwise.RmsNorm$");
      assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
      assertThat(run.text()).contains("Warning " + SoleRun.WARNING);
      assertThat(latest().read().environment().warnings()).contains(SoleRun.WARNING);
    } finally {
      other.close();
    }
  }

  @Test
  void shouldFailACaseWithAWrongResultAndWriteNoNumber() throws Exception {
    MusabenchProcess run =
        start(Map.of(FAULTS, "kernel:rms_norm:1+=wrong"), "^elementwise.RmsNorm$");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    CaseResult result = cases().get(0);
    assertThat(result.status()).isEqualTo(Status.FAILED);
    assertThat(result.reason()).startsWith("wrong result: rms_norm");
    assertThat(run.text())
        .contains("Faults were injected below this run, by " + FAULTS + ": kernel:rms_norm");
    assertThat(result.deviceTimeMedianUs()).isNaN();
    assertThat(json()).isEmpty();
  }

  @Test
  void shouldFailACaseWhoseResultGoesWrongWhileItIsTimed() throws Exception {
    // The first two runs are checked before timing.
    MusabenchProcess run =
        start(Map.of(FAULTS, "kernel:rms_norm:3+=wrong"), "^elementwise.RmsNorm$");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(cases().get(0).reason()).startsWith("wrong result: rms_norm");
    assertThat(json()).isEmpty();
  }

  @Test
  void shouldFailACaseWithOneWrongRunAmongItsTimedOnes() throws Exception {
    // Five samples on copies of their own; before them three checked runs, two that estimate the
    // time, one on each copy and one that warms up. The second session is right again.
    MusabenchProcess run =
        start(
            Map.of(FAULTS, "kernel:gemm:14=wrong"),
            "^gemm",
            "--iterations=2",
            "--stop=samples:5",
            "-p",
            "projection=4096x4096");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(cases().get(0).reason()).startsWith("wrong result: gemm");
    assertThat(json()).isEmpty();
  }

  @Test
  void shouldFailAStepWithOneWrongRunAmongItsTimedOnes() throws Exception {
    Path model = Files.createDirectory(folder.resolve("tiny")).resolve("config.json");
    Files.writeString(model, TINY);
    // 13 GEMMs a pass: one pass kernel by kernel, one whole, one for each of three other inputs,
    // one padded, one each eager, replayed, with other inputs and padded, one round, then rounds of
    // two passes. The third GEMM of the step in the third of some hundred rounds:
    int third = 13 + 13 + 3 * 13 + 13 + 4 * 13 + 26 + 2 * 26 + 3;
    MusabenchProcess run =
        start(
            Map.of(FAULTS, "kernel:gemm:" + third + "=wrong"),
            "DecodeStep",
            "-p",
            "model=" + model,
            "-p",
            "batch=3q1s40",
            "-p",
            "mode=graph");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(cases().get(0).reason()).startsWith("wrong result: logit");
    assertThat(json()).isEmpty();
  }

  @Test
  void shouldStopAHangingKernelAndGoOn() throws Exception {
    MusabenchProcess run =
        start(
            Map.of(FAULTS, "kernel:rms_norm:1=hang"),
            "--time-limit=10",
            "^elementwise.RmsNorm$",
            "SiluAndMul");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(cases()).extracting(CaseResult::status).containsExactly(Status.TIMEOUT, Status.OK);
  }

  @Test
  void shouldLoseOnlyTheCaseThatCrashes() throws Exception {
    MusabenchProcess run =
        start(Map.of(FAULTS, "kernel:rms_norm:1=crash"), "^elementwise.RmsNorm$", "SiluAndMul");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(cases()).extracting(CaseResult::status).containsExactly(Status.FAILED, Status.OK);
    assertThat(cases().get(0).reason()).contains("crashed");
  }

  @Test
  void shouldReportADeviceErrorInOneLine() throws Exception {
    MusabenchProcess run = start(Map.of(FAULTS, "kernel:rms_norm:1=700"), "^elementwise.RmsNorm$");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(cases().get(0).reason()).contains("DeviceException", "700");
  }

  @ParameterizedTest
  @CsvSource({"INT, " + ExitCode.INTERRUPTED, "TERM, " + ExitCode.TERMINATED})
  void shouldKeepFinishedCasesAndKillTheForkWhenStopped(String signal, int exitCode)
      throws Exception {
    MusabenchProcess run =
        start(Map.of(FAULTS, "kernel:silu_and_mul:1=hang"), "^elementwise.RmsNorm$", "SiluAndMul");
    run.awaitOutput("[1/2]");
    run.awaitText(latest().path().resolve("jmh.log"), " hangs, by " + FAULTS);
    List<ProcessHandle> forks = run.descendants();
    run.signal(signal);
    assertThat(run.exitCode()).as(run.text()).isEqualTo(exitCode);
    assertThat(run.text()).contains("Stopped. The finished cases are in");
    assertThat(forks).isNotEmpty().noneMatch(ProcessHandle::isAlive);
    assertThat(cases()).extracting(CaseResult::status).containsExactly(Status.OK);
    assertThat(json()).hasSize(1);
  }

  @Test
  void shouldLeaveNoForkBehindWhenItIsKilled() throws Exception {
    MusabenchProcess run = start(Map.of(FAULTS, "kernel:rms_norm:1=hang"), "^elementwise.RmsNorm$");
    run.awaitOutput("Run     ");
    run.awaitText(latest().path().resolve("jmh.log"), " hangs, by " + FAULTS);
    List<ProcessHandle> forks = run.descendants();
    run.kill();
    assertThat(forks).isNotEmpty();
    try {
      for (ProcessHandle fork : forks) {
        fork.onExit().get(20, TimeUnit.SECONDS);
      }
    } finally {
      forks.forEach(ProcessHandle::destroyForcibly);
    }
  }

  @Test
  void shouldSayInOneLineThatItCannotWrite() throws Exception {
    Path file = Files.createFile(folder.resolve("runs"));
    MusabenchProcess run = start(Map.of(), "^elementwise.RmsNorm$");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CANNOT_WRITE);
    assertThat(run.text()).contains(file.toString()).doesNotContain("\tat ");
  }

  @Test
  void shouldShowFinishedCasesWhenTheRunDirectoryIsGone() throws Exception {
    MusabenchProcess run = start(Map.of(), "^elementwise.RmsNorm$", "SiluAndMul");
    run.awaitOutput("[1/2]");
    try (Stream<Path> files = Files.list(latest().path())) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(latest().path());
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CANNOT_WRITE);
    assertThat(run.text())
        .containsPattern("Kernels, device time")
        .containsPattern("(?m)^  RmsNorm .* us ")
        .contains("musabench: Cannot write", "its folder is gone")
        .doesNotContain("\tat ");
  }

  @ParameterizedTest
  @CsvSource({
    "/proc/nowhere, Cannot make /proc/nowhere",
    "/dev/null/runs, Not a directory",
    "'', --output is empty"
  })
  void shouldSayInOneLineWhyAFolderCannotBeUsed(String output, String reason) throws Exception {
    MusabenchProcess run =
        MusabenchProcess.start(
            folder, Map.of(), "run", "--no-roofs", "^elementwise.RmsNorm$", "--output=" + output);
    assertThat(run.exitCode())
        .as(run.text())
        .isEqualTo(output.isEmpty() ? ExitCode.USAGE : ExitCode.CANNOT_WRITE);
    assertThat(run.text()).contains(reason).doesNotContain("\tat ", "java.nio");
  }

  @Test
  void shouldRefuseASystemPropertyThatNobodyReads() throws Exception {
    MusabenchProcess run =
        MusabenchProcess.start(
            folder, Map.of("JDK_JAVA_OPTIONS", "-Dmusabench.traget=musa"), "list");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.USAGE);
    assertThat(run.text())
        .contains("unknown system property \"musabench.traget\" (did you mean musabench.target?)");
  }

  @ParameterizedTest
  @CsvSource({"hold.seconds, abc", "hold.seconds, -1", "throttle, NaN", "session.seconds, 1s"})
  void shouldRefuseASystemPropertyThatIsNoNumber(String name, String value) throws Exception {
    MusabenchProcess run =
        MusabenchProcess.start(folder, Map.of(), Map.of("musabench." + name, value), "list");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.USAGE);
    assertThat(run.text()).contains("-Dmusabench." + name + " takes a number", value);
  }

  @Test
  void shouldDiagnoseTheHostDevice() throws Exception {
    MusabenchProcess doctor = MusabenchProcess.start(folder, Map.of(), "doctor");
    assertThat(doctor.exitCode()).as(doctor.text()).isEqualTo(ExitCode.OK);
    assertThat(doctor.text())
        .contains("host  can be used", "libmusart_host.so", "sha256", "All benchmarks can run.");
  }

  @Test
  void shouldSayWhatWasTriedWhenThereIsNoDevice() throws Exception {
    MusabenchProcess run =
        MusabenchProcess.start(
            folder, Map.of("JDK_JAVA_OPTIONS", "-Dmusabench.runtime.library=/none.so"), "run");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.NO_TARGET);
    assertThat(run.text()).contains("/none.so: no such file").doesNotContain("\tat ");
  }

  @Test
  void shouldMeasureAStepWithItsKernels() throws Exception {
    Path model = Files.createDirectory(folder.resolve("tiny")).resolve("config.json");
    Files.writeString(model, TINY);
    MusabenchProcess run =
        start(
            Map.of(),
            "DecodeStep",
            "-p",
            "model=" + model,
            "-p",
            "batch=3q1s40",
            "-p",
            "mode=eager,graph");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
    assertThat(cases()).hasSize(2);
    for (CaseResult step : cases()) {
      assertThat(step.kernels()).isEqualTo(1 + 3 * 10 + 3);
      assertThat(step.parts().stream().mapToInt(p -> p.count()).sum()).isEqualTo(step.kernels());
      assertThat(step.parts()).allMatch(p -> p.deviceTimeMedianUs() > 0);
      assertThat(step.overKernels().medianUs())
          .isBetween(step.overKernels().lowUs(), step.overKernels().highUs());
    }
    assertThat(cases().get(0).graphCosts().known()).isFalse();
    GraphCosts costs = cases().get(1).graphCosts();
    assertThat(costs.capturedRequests()).isEqualTo(4);
    assertThat(costs.updated().spanUs()).isGreaterThan(costs.updateUs());
    assertThat(costs.graph().spanUs()).isEqualTo(cases().get(1).hostTimeMedianUs());
    assertThat(costs.setUpUs()).isPositive();
    assertThat(run.text()).contains("Eager against graph", "pays after", "padded to");
  }

  @Test
  void shouldFailAStepWhoseReplayWithOtherInputsIsWrong() throws Exception {
    Path model = Files.createDirectory(folder.resolve("tiny")).resolve("config.json");
    Files.writeString(model, TINY);
    // Attention runs three times a pass, and once more where other inputs are checked. Kernel by
    // kernel, whole, with three other inputs, eager, replayed, and replayed with other inputs:
    int last = 3 + 3 + 3 * (3 + 1) + 3 * 3;
    MusabenchProcess run =
        start(
            Map.of(FAULTS, "kernel:paged_attention:" + last + "=wrong"),
            "DecodeStep",
            "-p",
            "model=" + model,
            "-p",
            "batch=4q1s40",
            "-p",
            "mode=graph");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(cases().get(0).reason())
        .startsWith("wrong result: a timed step gave other logits")
        .endsWith("with the same inputs");
  }

  @Test
  void shouldMeasureAModelWithBiases() throws Exception {
    Path model = Files.createDirectory(folder.resolve("biased")).resolve("config.json");
    Files.writeString(
        model,
        """
        {"architectures": ["Qwen2ForCausalLM"], "hidden_size": 128, "num_hidden_layers": 2,
         "num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 256,
         "vocab_size": 512, "max_position_embeddings": 4096, "tie_word_embeddings": true,
         "rms_norm_eps": 1e-6, "rope_theta": 1000000, "hidden_act": "silu"}
        """);
    MusabenchProcess run =
        start(
            Map.of(),
            "DecodeStep",
            "^gemm",
            "-p",
            "model=" + model,
            "-p",
            "batch=q1s16",
            "-p",
            "mode=graph",
            "-p",
            "projection=qkv,o");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
    List<CaseResult> cases = cases();
    assertThat(cases).extracting(CaseResult::benchmark).contains("step.DecodeStep", "gemm.Gemm");
    for (CaseResult result : cases) {
      List<String> biased =
          result.group().equals("step")
              ? result.parts().stream()
                  .filter(part -> part.shape().contains("bias=true"))
                  .map(part -> part.role())
                  .toList()
              : result.shape().contains("bias=true") ? List.of(result.param("projection")) : null;
      assertThat(biased)
          .as(result.id())
          .isEqualTo(result.param("projection").equals("o") ? null : List.of("qkv"));
    }
  }

  @Test
  void shouldNameTheKernelOfAStepThatIsWrong() throws Exception {
    MusabenchProcess run =
        start(
            Map.of(FAULTS, "kernel:silu_and_mul:2=wrong"),
            "DecodeStep",
            "-p",
            "batch=q1s16",
            "-p",
            "mode=graph",
            "-p",
            "sharedWeights=true");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(cases().get(0).reason()).contains("silu_and_mul").startsWith("wrong result");
  }

  @Test
  void shouldMeasurePagesThatAreLargerThanTheContext() throws Exception {
    MusabenchProcess run = start(Map.of(), "PagedDecode", "-p", "batch=q1s65", "-p", "page=64,256");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
    assertThat(cases()).hasSize(2).allMatch(result -> result.status() == Status.OK);
  }

  @Test
  void shouldRefuseAModelThatDoesNotFit() throws Exception {
    MusabenchProcess run =
        start(
            Map.of(),
            "DecodeStep",
            "-p",
            "model=Llama-3.1-70B",
            "-p",
            "batch=q1s1k_200000q1s100k",
            "-p",
            "mode=eager");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(cases().get(0).reason()).contains("GB for weights and KV cache", "set tp");
  }
}
