package io.musabench.results.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.Models;
import io.musabench.results.model.Operation;
import io.musabench.results.model.StepOperations;
import io.musabench.results.model.Work;
import io.musabench.results.run.CasePart;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Conditions;
import io.musabench.results.run.Environment;
import io.musabench.results.run.Environment.DeviceInfo;
import io.musabench.results.run.Environment.Machine;
import io.musabench.results.run.GraphCosts;
import io.musabench.results.run.MedianInterval;
import io.musabench.results.run.OverKernels;
import io.musabench.results.run.RunData;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Status;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunReportTest {
  private static final Instant START = Instant.parse("2026-01-02T03:04:05Z");

  private static Environment environment(String target) {
    Environment e = Environment.collect(target, START, Path.of("/"));
    Machine machine =
        new Machine(
            "Example CPU @ 2.50GHz", 2, null, null, null, null, null, null, "Linux", null, "amd64");
    return new Environment(
        1,
        e.createdUtc(),
        target,
        new DeviceInfo("Example CPU", "host", 0, 2, 8L << 30, "1.0", "4.0"),
        e.clocks(),
        e.clocksAtEnd(),
        List.of(),
        Map.of(),
        Map.of(),
        e.git(),
        e.jvm(),
        machine,
        List.of("load average 1.2 before the run: other work on 2 CPUs disturbs the timings"));
  }

  private static CaseResult.Builder of(String benchmark, double medianUs, String... params) {
    Map<String, String> map = new TreeMap<>();
    for (String p : params) {
      map.put(p.substring(0, p.indexOf('=')), p.substring(p.indexOf('=') + 1));
    }
    return CaseResult.of(benchmark, map)
        .deviceTimesUs(new double[] {0.99 * medianUs, medianUs, 1.02 * medianUs});
  }

  /** A step on a device of 20 GB/s and 0.1 TFLOP/s whose kernels all reach 80 % of their roof. */
  private static CaseResult step(String name, String batch, String mode, double overUs) {
    StepOperations step =
        StepOperations.of(Models.find("Qwen3-0.6B").layout(1), BatchSpec.parse(batch), 16);
    List<CasePart> parts = new ArrayList<>();
    double sum = 0;
    for (Operation op : step.summary()) {
      Work work = op.call().work(2);
      double us = Math.max(work.bytes() / 20e3, work.flops() / 0.1e6) / 0.8;
      parts.add(
          new CasePart(op.role(), op.call().kernel(), op.call().shape(), op.count(), work, us));
      sum += op.count() * us;
    }
    return of(
            "step." + name,
            sum + overUs,
            "model=Qwen3-0.6B",
            "tp=1",
            "batch=" + batch,
            "mode=" + mode,
            "dtype=bf16")
        .kernels(step.kernels())
        .work(step.work(2))
        .submitTimeMedianUs(mode.equals("graph") ? 4 : 900)
        .overKernels(
            OverKernels.of(
                new double[] {overUs - 60, overUs - 20, overUs, overUs + 40, overUs + 90}))
        .graphCosts(mode.equals("graph") ? graphCosts(sum + overUs, batch) : GraphCosts.UNKNOWN)
        .parts(parts)
        .build();
  }

  /** Saves 3 ms for one request, nothing for eight, and perhaps something for a prompt. */
  private static GraphCosts graphCosts(double us, String batch) {
    MedianInterval saved =
        switch (batch) {
          case "q1s1k" -> new MedianInterval(3000, 2500, 3600);
          case "8q1s1k" -> new MedianInterval(-40, -90, -10);
          default -> new MedianInterval(10, -900, 1000);
        };
    boolean padded = batch.equals("q1s1k");
    return new GraphCosts(
        new GraphCosts.Spans(us + saved.median(), us + saved.median() + 12, 900),
        new GraphCosts.Spans(us, us + 12, 4),
        saved,
        6100,
        1300,
        45,
        new GraphCosts.Spans(us + 10, us + 30, 22),
        18,
        padded ? 4 : 0,
        padded ? new GraphCosts.Spans(1.25 * us, 1.25 * us + 12, 4) : GraphCosts.Spans.UNKNOWN);
  }

  private static List<CaseResult> cases() {
    List<CaseResult> cases = new ArrayList<>();
    cases.add(of("roof.ReadBandwidth", 50_000, "streams=1").work(new Work(0, 900_000_000)).build());
    cases.add(
        of("roof.ReadBandwidth", 50_000, "streams=4").work(new Work(0, 1_000_000_000)).build());
    cases.add(of("roof.CopyBandwidth", 80_000).work(new Work(0, 1_000_000_000)).build());
    cases.add(of("roof.PeakFlops", 1_000_000).work(new Work(100_000_000_000L, 0)).build());
    cases.add(
        of("launch.EmptyLaunch", 1.5, "mode=eager")
            .hostTimeMedianUs(9.1)
            .submitTimeMedianUs(0.62)
            .build());
    cases.add(
        of("launch.GraphReplay", 30.4, "nodes=32")
            .hostTimeMedianUs(35)
            .submitTimeMedianUs(1.234)
            .build());
    cases.add(
        of(
                "attention.PagedDecode",
                999.7,
                "batch=8q1s4k",
                "heads=16:8:128",
                "page=16",
                "dtype=bf16")
            .work(new Work(1_000_000, 16_000_000))
            .build());
    cases.add(
        of("gemm.Gemm", 5000, "m=512", "n=4096", "k=1024", "dtype=bf16")
            .work(new Work(400_000_000L, 1_000_000))
            .build());
    cases.add(step("PrefillStep", "q128", "eager", 3000));
    cases.add(step("PrefillStep", "q128", "graph", 300));
    cases.add(step("DecodeStep", "q1s1k", "eager", 3000));
    cases.add(step("DecodeStep", "q1s1k", "graph", -200));
    cases.add(step("DecodeStep", "8q1s1k", "graph", 300));
    cases.add(
        CaseResult.of("attention.FmhaPrefill", Map.of("batch", "q8k"))
            .notOk(Status.TIMEOUT, "stopped after 300 s without a result")
            .reproduce("musabench run '^attention.FmhaPrefill$' -p batch=q8k")
            .build());
    cases.add(
        CaseResult.of("attention.FmhaPrefill", Map.of("batch", "q1k"))
            .notOk(Status.FAILED, "row 3 is 0.5, the reference says 0.4")
            .build());
    return cases;
  }

  private static String golden(String name) throws IOException {
    try (InputStream in = RunReportTest.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void aWholeRunReadsAsExpected() throws IOException {
    RunData run = new RunData("20260102T030405Z-host", environment("host"), cases());
    assertThat(RunReport.text(run)).isEqualTo(golden("report.txt"));
  }

  @Test
  void theReportOfAStoredRunIsTheReportOfTheRun(@TempDir Path folder) {
    RunDirectory directory = RunDirectory.create(folder, "host", START);
    directory.saveEnvironment(environment("host"));
    directory.saveCases(cases());
    RunData run = new RunData("20260102T030405Z-host", environment("host"), cases());
    assertThat(RunReport.text(directory.read())).isEqualTo(RunReport.text(run));
  }

  private static String report(String target, CaseResult... cases) {
    return RunReport.text(new RunData("r", environment(target), List.of(cases)));
  }

  @Test
  void aRunWithoutCasesIsAHeader() {
    assertThat(report("host").lines()).hasSize(6);
  }

  @Test
  void onlyTheHostDeviceIsSaidToBeACpu() {
    assertThat(report("host")).contains("no number below is a GPU's");
    assertThat(report("musa")).doesNotContain("no number below");
  }

  @Test
  void whatIsNotKnownOfTheDeviceIsCalledUnknown() {
    Environment unknown = environment("musa").withDevice(DeviceInfo.UNKNOWN);
    assertThat(RunReport.text(new RunData("r", unknown, List.of())))
        .contains("  device  unknown\n  driver  unknown, runtime unknown\n");
  }

  @Test
  void linesStayNarrowWhateverTheNames() {
    String longName = "/models/" + "a-very-long-folder-name-".repeat(8) + "/config.json";
    CaseResult step =
        of("step.DecodeStep", 1000, "model=" + longName, "batch=q1s1k", "mode=eager").build();
    CaseResult prefill =
        of("step.PrefillStep", 1000, "model=" + longName, "batch=q1k", "mode=eager").build();
    CaseResult kernel = of("gemm.Gemm", 1000, "mnk=" + "1".repeat(200)).build();
    String text = report("host", step, prefill, kernel);
    assertThat(text.lines()).allMatch(line -> line.length() <= 120);
    assertThat(text).contains("a-very-long-folder-name").contains("..  ");
    List<CaseResult> all = new ArrayList<>(cases());
    assertThat(report("host", all.toArray(CaseResult[]::new)).lines())
        .allMatch(line -> line.length() <= 120);
  }

  @Test
  void aStepWithoutPartsHasNoSum() {
    String text = report("host", of("step.DecodeStep", 1234, "model=M", "batch=q1s1k").build());
    assertThat(text).containsPattern("decode +M +q1s1k +1.23 ms +- +- +- +- +- +-\n");
    assertThat(text).doesNotContain("Kernels of");
  }

  @Test
  void aShareOfAModelSaysThatCommunicationIsMissing() {
    String text =
        report("host", of("step.DecodeStep", 10, "model=M", "tp=4", "batch=q1s1k").build());
    assertThat(text)
        .contains("M TP4")
        .contains("note: M TP4: one rank's kernels, without the all-reduces between the ranks");
    assertThat(report("host", of("step.DecodeStep", 10, "model=M", "tp=1", "batch=q1").build()))
        .doesNotContain("TP1")
        .doesNotContain("all-reduces");
  }

  @Test
  void whatTheReaderMustKnowIsPrinted() {
    String text =
        report(
            "host",
            of("step.DecodeStep", 10, "model=M", "batch=q1s1k", "mode=graph")
                .note("layers share weights")
                .build());
    assertThat(text).contains("  note: decode M q1s1k graph: layers share weights\n");
  }

  @Test
  void tpotTakesTheLongestPrefillOfOneRequest() {
    String text =
        report(
            "host",
            of("step.PrefillStep", 10_000, "model=M", "batch=q128", "mode=graph").build(),
            of("step.PrefillStep", 40_000, "model=M", "batch=q512", "mode=graph").build(),
            of("step.PrefillStep", 90_000, "model=M", "batch=2q512", "mode=graph").build(),
            of("step.DecodeStep", 20_000, "model=M", "batch=8q1s1k", "mode=graph").build());
    assertThat(text).containsPattern("M +graph +8 +1024 +512 +20.0 ms +40.0 ms");
  }

  @Test
  void tpotNeverMixesModesOrModels() {
    String text =
        report(
            "host",
            of("step.PrefillStep", 10_000, "model=M", "batch=q128", "mode=eager").build(),
            of("step.PrefillStep", 10_000, "model=N", "batch=q128", "mode=graph").build(),
            of("step.DecodeStep", 20_000, "model=M", "batch=8q1s1k", "mode=graph").build());
    assertThat(text).doesNotContain("TPOT");
  }

  @Test
  void tpotIgnoresParametersThatOnlyOneOfTheStepsHas() {
    String text =
        report(
            "host",
            of("step.PrefillStep", 10_000, "model=M", "batch=q128", "mode=eager").build(),
            of("step.DecodeStep", 20_000, "model=M", "batch=8q1s1k", "mode=eager", "page=16")
                .build());
    assertThat(text).contains("TPOT, predicted");
  }

  @Test
  void tpotSaysWhenTheLoopIsStrainedOrSaturated() {
    String text =
        report(
            "host",
            of("step.PrefillStep", 1_000_000, "model=M", "batch=q512", "mode=eager").build(),
            of("step.DecodeStep", 10_000, "model=M", "batch=8q1s1k", "mode=eager").build(),
            of("step.DecodeStep", 10_000, "model=M", "batch=64q1s1k", "mode=eager").build());
    assertThat(text)
        .contains("note: M eager, 8 in flight: 76 % of the time is prefill: requests queue")
        .contains("note: M eager, 64 in flight: saturated: 96 % of the time is prefill")
        .containsPattern("64 +1024 +512 +10.0 ms +1.00 s +saturated +18.7 s - 32.5 s +- +96.2 %");
  }

  @Test
  void aKernelFasterThanMemoryIsExplained() {
    CaseResult roof = of("roof.ReadBandwidth", 1000).work(new Work(0, 20_000_000)).build();
    CaseResult fast = of("gemm.Gemm", 1000).work(new Work(0, 30_000_000)).build();
    CaseResult even = of("gemm.Gemm", 1000).work(new Work(0, 20_000_000)).build();
    assertThat(report("host", roof, fast))
        .contains(
            "150.0 %  read\n  above 100 % of read: its data came from a cache, or other work slowed");
    assertThat(report("host", roof, even)).doesNotContain("above 100 %");
  }

  @Test
  void otherWorkAndThrottlingAreTold() {
    Conditions quiet = Conditions.UNKNOWN.withOtherWork(1, 0, "");
    Conditions disturbed = Conditions.UNKNOWN.withOtherWork(34.4, 3, "77 trainer");
    Conditions throttled = new Conditions("", 12, 900, 300, 80, "power cap", 0, 0, "");
    List<CaseResult> cases = new ArrayList<>();
    for (Conditions conditions : List.of(quiet, disturbed, throttled)) {
      cases.add(
          CaseResult.of("gemm.Gemm", Map.of("m", Integer.toString(cases.size())))
              .deviceTimesUs(new double[] {100})
              .conditions(conditions)
              .build());
    }
    assertThat(RunReport.text(new RunData("run", environment("host"), cases)))
        .contains(
            "warning: other work during 1 of 3 cases: up to 34 % of the CPUs, 3 % stolen, on the"
                + " device 77 trainer (other_cpu_percent, steal_percent in cases.csv)")
        .contains("warning: 12 samples were dropped because the clock was throttled");
    assertThat(RunReport.text(new RunData("run", environment("host"), cases.subList(0, 1))))
        .doesNotContain("other work during");
  }
}
