package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.jmh.TinyModel;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whole runs on the host device, with and without injected faults. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RunOnHostTest {
  private static final String FAULTS = "MUSART_HOST_FAULTS";

  private static final String TINY = TinyModel.config(64);

  @TempDir private static Path besideTheOthers;

  private static MusabenchProcess hanging;

  @TempDir private Path folder;

  /** A kernel that hangs needs no CPU, only its time: it hangs while the other tests run. */
  @BeforeAll
  static void startTheOneThatHangs() throws IOException {
    MusabenchProcess.requireNativeLibraries();
    hanging =
        MusabenchProcess.start(
            besideTheOthers,
            Map.of(FAULTS, "kernel:rms_norm:1=hang"),
            // Where a run says that it goes on: the others are to know nothing of this one.
            Map.of("java.io.tmpdir", besideTheOthers.toString()),
            run(besideTheOthers, "--time-limit=30", "^elementwise.RmsNorm$", "SiluAndMul"));
  }

  @AfterAll
  static void endTheOneThatHangs() throws InterruptedException {
    if (hanging != null) {
      hanging.kill();
    }
  }

  private MusabenchProcess start(Map<String, String> environment, String... arguments)
      throws IOException {
    return MusabenchProcess.start(folder, environment, run(folder, arguments));
  }

  private static String[] run(Path folder, String... arguments) {
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
    return all.toArray(String[]::new);
  }

  private RunDirectory latest() {
    return latest(folder);
  }

  private static RunDirectory latest(Path folder) {
    return RunDirectory.open(folder.resolve("runs").resolve(RunDirectory.LATEST));
  }

  /** The tiny model, and five rounds of its step. */
  private String[] steps(String... arguments) throws IOException {
    Path model = Files.createDirectory(folder.resolve("tiny")).resolve("config.json");
    Files.writeString(model, TINY);
    List<String> all =
        new ArrayList<>(
            List.of("DecodeStep", "-p", "model=" + model, "--stop=samples:5", "--ceiling=30"));
    all.addAll(List.of(arguments));
    return all.toArray(String[]::new);
  }

  private List<CaseResult> cases() {
    return latest().read().cases();
  }

  private JsonNode json() throws IOException {
    return new ObjectMapper().readTree(Files.readAllBytes(latest().path().resolve("jmh.json")));
  }

  @Test
  void shouldWriteDeviceTimeAsThePrimaryScoreOfJmhJson() throws Exception {
    MusabenchProcess run =
        start(
            Map.of(),
            "^elementwise.RmsNorm$",
            "--forks=2",
            "--label=a=b",
            "--order=random",
            "--seed=5",
            "--clock-mode=fixed-power",
            "--cool-down=0.1");
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
    assertThat(result.launches()).isPositive();
    assertThat(result.kernel()).isEqualTo("rms_norm");
    assertThat(result.check()).contains("values, worst error", "equal bit for bit");
    assertThat(result.note()).isEmpty();
    assertThat(result.hostTimeMedianUs()).isPositive();
    assertThat(latest().readSamples())
        .filteredOn(s -> s.metric().equals("device.time"))
        .hasSize(result.samples());
    assertThat(result.conditions().otherCpuPercent()).isNotNegative();
    Environment environment = latest().read().environment();
    assertThat(environment.versions())
        .containsEntry("a", "b")
        .containsEntry("measure.order", "random")
        .containsEntry("measure.seed", "5")
        .containsEntry("measure.stop", "stdrel:1%")
        .containsEntry("measure.cool_down_seconds", "0.1");
    assertThat(environment.clocks().mode()).isEqualTo("fixed-power");
    assertThat(environment.libraries()).isNotEmpty();
    assertThat(environment.device().runtimeVersion()).matches("\\d+\\.\\d+\\.\\d+");
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
  void shouldWarnOfAnotherRunAndOfAStoppingConditionThatTheCeilingLeftUnmet() throws Exception {
    SoleRun other = SoleRun.claim();
    MusabenchProcess run;
    try {
      // Hot: of samples as short as these the ceiling leaves room for as many as there must be.
      run =
          start(
              Map.of(),
              "^elementwise.RmsNorm$",
              "-p",
              "cache=hot",
              "--stop=stdrel:0.00001%",
              "--ceiling=0.3");
      assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
    } finally {
      other.close();
    }
    String unmet = cases().get(0).conditions().unmet();
    assertThat(unmet)
        .startsWith("1 of 1 sessions stopped at the time ceiling of 0.3 s, relative standard")
        .endsWith("> 0.00001 %");
    assertThat(run.text()).contains("\nStopped at the time ceiling\n  RmsNorm").contains(unmet);
    assertThat(cases().get(0).firstRunUs()).isPositive();
    assertThat(run.text()).contains("Warning " + SoleRun.WARNING);
    assertThat(latest().read().environment().warnings()).contains(SoleRun.WARNING);
  }

  @Test
  void shouldTakeExactlySoManySamplesOfTheDeviceAndOfTheHost() throws Exception {
    MusabenchProcess run =
        start(
            Map.of(),
            "^elementwise.RmsNorm$",
            "^launch.Graph(Capture|Instantiate)$",
            "BindingFloor",
            "-p",
            "cache=batch,hot",
            "-p",
            "nodes=3",
            "--stop=samples:7",
            "--iterations=2",
            "--seconds=0.2",
            "--ceiling=30");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
    assertThat(cases()).hasSize(5).allMatch(c -> c.conditions().unmet().isEmpty());
    // One long row of launches is the only sample of its session.
    CaseResult batch = cases().get(0);
    assertThat(batch.samples()).isEqualTo(2);
    assertThat(batch.launches()).isGreaterThan(1);
    CaseResult hot = cases().get(1);
    assertThat(hot.samples()).isEqualTo(2 * 7);
    assertThat(hot.launches()).isBetween(1, 100);
    assertThat(cases().subList(2, 5))
        .allMatch(c -> c.group().equals("launch"))
        .extracting(CaseResult::samples)
        .containsOnly(2 * 7);
    assertThat(latest().readSamples())
        .filteredOn(s -> s.metric().equals("host.time") && s.caseId().startsWith("launch."))
        .hasSize(3 * 2 * 7);
  }

  @Test
  void shouldFreeAStreamWhoseQueueIsFullWhileItIsHeldAndMeasureTheSessionAgain() throws Exception {
    // Room for the launches that estimate the time of a product, but not for a session's; the hold
    // is longer than the session's ceiling.
    MusabenchProcess run =
        MusabenchProcess.start(
            folder,
            Map.of("MUSART_HOST_QUEUE", "8"),
            Map.of("musabench.hold.seconds", "0.5"),
            run(
                folder,
                "^launch.EmptyLaunch$",
                "^gemm",
                "-p",
                "projection=4096x1024",
                "-p",
                "tokens=1",
                "-p",
                "cache=batch,cold",
                "--seconds=0.3",
                "--ceiling=0.3"));
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
    assertThat(cases())
        .hasSize(3)
        .allSatisfy(
            c -> {
              assertThat(c.note())
                  .contains("the queue took no more before 500 ms had passed: not held any more");
              assertThat(c.samples()).isPositive();
              assertThat(c.deviceTimeMedianUs()).isBetween(0.0, 1e5);
            });
  }

  @Test
  void shouldFailCasesThatAreWrongOrCrashAndMeasureTheRest() throws Exception {
    List<String> faults =
        List.of(
            "kernel:rms_norm:1+=wrong",
            // Goes wrong after it was compared with the reference.
            "kernel:silu_and_mul:3+=wrong",
            // One of five samples on copies of their own: before them are three checked runs, two
            // that estimate the time, one on each copy and one that warms up. The second session is
            // right again.
            "kernel:gemm:14=wrong",
            "kernel:fused_add_rms_norm:1=crash",
            "kernel:qk_norm_rope:1=700",
            // Nor can a stream be held.
            "musaLaunchHostFunc:1+=801");
    MusabenchProcess run =
        start(
            Map.of(FAULTS, String.join(";", faults)),
            "PagedDecode",
            "^elementwise.(RmsNorm|SiluAndMul|FusedAddRmsNorm|QkNormRope)$",
            "^gemm",
            "-p",
            "batch=q1s65",
            "-p",
            "page=256", // Larger than the context.
            "-p",
            "projection=4096x4096",
            "--iterations=2",
            "--stop=samples:5",
            "--ceiling=30");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(cases()).hasSize(6);
    CaseResult right = the("attention.PagedDecode");
    assertThat(right.status()).as(right.reason()).isEqualTo(Status.OK);
    assertThat(right.note()).contains("this runtime cannot hold a stream");
    assertThat(json()).hasSize(1);
    assertThat(cases())
        .filteredOn(c -> !c.benchmark().equals(right.benchmark()))
        .hasSize(5)
        .allMatch(c -> c.status() == Status.FAILED && Double.isNaN(c.deviceTimeMedianUs()));
    assertThat(the("elementwise.RmsNorm").reason()).startsWith("wrong result: rms_norm");
    assertThat(the("elementwise.SiluAndMul").reason()).startsWith("wrong result: silu_and_mul");
    assertThat(the("gemm.Gemm").reason()).startsWith("wrong result: gemm");
    assertThat(the("elementwise.FusedAddRmsNorm").reason()).contains("crashed");
    assertThat(the("elementwise.QkNormRope").reason()).contains("DeviceException", "700");
    assertThat(run.text())
        .contains("Faults were injected below this run, by " + FAULTS + ": kernel:rms_norm");
  }

  private CaseResult the(String benchmark) {
    return cases().stream().filter(c -> c.benchmark().equals(benchmark)).findFirst().orElseThrow();
  }

  @Test
  void shouldFailAStepWithOneWrongRunAmongItsTimedOnes() throws Exception {
    // 13 GEMMs a pass: one pass kernel by kernel, one whole, one for each of three other inputs,
    // one padded, one each eager, replayed, with other inputs and padded, one round, then rounds of
    // two passes. The third GEMM of the step in the third of five rounds:
    int third = 13 + 13 + 3 * 13 + 13 + 4 * 13 + 26 + 2 * 26 + 3;
    MusabenchProcess run =
        start(
            Map.of(FAULTS, "kernel:gemm:" + third + "=wrong"),
            steps("-p", "batch=3q1s40", "-p", "mode=graph"));
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(cases().get(0).reason()).startsWith("wrong result: logit");
    assertThat(json()).isEmpty();
  }

  @Test
  @Order(Integer.MAX_VALUE)
  void shouldStopAHangingKernelAndGoOn() throws Exception {
    assertThat(hanging.exitCode()).as(hanging.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(latest(besideTheOthers).read().cases())
        .extracting(CaseResult::status)
        .containsExactly(Status.TIMEOUT, Status.OK);
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
    assertThat(latest().read().partial()).isEqualTo("partial: 1 of its 2 cases");
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
        fork.onExit().get(60, TimeUnit.SECONDS);
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
    MusabenchProcess run =
        start(Map.of(FAULTS, "kernel:silu_and_mul:1=hang"), "^elementwise.RmsNorm$", "SiluAndMul");
    run.awaitOutput("[1/2]");
    // Nothing is written while the second hangs; after that it ends.
    Path gone = latest().path();
    run.awaitText(gone.resolve("jmh.log"), " hangs, by " + FAULTS);
    try (Stream<Path> files = Files.list(gone)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(gone);
    run.descendants().forEach(ProcessHandle::destroyForcibly);
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CANNOT_WRITE);
    assertThat(run.text())
        .containsPattern("Kernels, device time")
        .containsPattern("(?m)^  RmsNorm .* [num]s ")
        .contains("musabench: Cannot write", "its folder is gone")
        .doesNotContain("\tat ");
  }

  @ParameterizedTest
  @CsvSource({"/proc/nowhere, Cannot make /proc/nowhere", "/dev/null/runs, Not a directory"})
  void shouldSayInOneLineWhyAFolderCannotBeUsed(String output, String reason) throws Exception {
    MusabenchProcess run =
        MusabenchProcess.start(
            folder, Map.of(), "run", "--no-roofs", "^elementwise.RmsNorm$", "--output=" + output);
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CANNOT_WRITE);
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
    MusabenchProcess run = start(Map.of(), steps("-p", "batch=3q1s40", "-p", "mode=eager,graph"));
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
    // Attention runs three times a pass, and once more where other inputs are checked. Kernel by
    // kernel, whole, with three other inputs, eager, replayed, and replayed with other inputs:
    int last = 3 + 3 + 3 * (3 + 1) + 3 * 3;
    MusabenchProcess run =
        start(
            Map.of(FAULTS, "kernel:paged_attention:" + last + "=wrong"),
            steps("-p", "batch=4q1s40", "-p", "mode=graph"));
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
            "projection=qkv,o",
            "--stop=samples:5",
            "--ceiling=30");
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
            steps("-p", "batch=q1s16", "-p", "mode=graph", "-p", "sharedWeights=true"));
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(cases().get(0).reason()).contains("silu_and_mul").startsWith("wrong result");
  }
}
