package io.musabench.results.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.Work;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment.DeviceInfo;
import io.musabench.results.run.Environment.Library;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.RunException;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunDirectoriesTest {
  private static final Map<String, String> DECODE = Map.of("batch", "8q1s4k", "page", "16");

  @TempDir Path folder;

  private RunFixture run(long seed) {
    return new RunFixture(folder, seed);
  }

  private static RunFixture decode(RunFixture run, double us) {
    return run.device("attention.PagedDecode", DECODE, Work.NONE, 10, us);
  }

  private static CaseComparison only(Path base, Path candidate) {
    Comparison comparison = Runs.compare(base, candidate);
    assertThat(comparison.rows()).hasSize(1);
    return comparison.rows().get(0);
  }

  @Test
  void aSlowerKernelIsFound() {
    CaseComparison row = only(decode(run(1), 100).write(), decode(run(2), 103).write());
    assertThat(row.id()).isEqualTo("attention.PagedDecode:batch=8q1s4k;page=16");
    assertThat(row.verdict()).isEqualTo(Verdict.SLOWER);
    assertThat(row.ratio().ratio()).isCloseTo(1.03, within(0.004));
    assertThat(row.base().timeUs()).isCloseTo(100, within(0.3));
  }

  @Test
  void samplesKnowTheirTurns() {
    ForkMedian fork =
        MeasuredRun.read(decode(run(1).turns(), 100).write())
            .cases()
            .get("attention.PagedDecode:batch=8q1s4k;page=16")
            .forks()
            .get(0);
    assertThat(fork.samples()).isEqualTo(20);
    assertThat(fork.turns()).containsOnlyKeys(1, 2, 3, 4, 5);
    assertThat(fork.turns().get(3)).isCloseTo(fork.log(), within(0.01));
  }

  @Test
  void samplesOfHostTimeKnowTheirTurnsToo() {
    MeasuredCase c =
        MeasuredRun.read(run(1).turns().host("launch.GraphCapture", 4, 5).write())
            .cases()
            .get("launch.GraphCapture");
    assertThat(c.timeUs()).isCloseTo(5, within(0.02));
    assertThat(c.forks())
        .hasSize(4)
        .allSatisfy(fork -> assertThat(fork.turns()).containsOnlyKeys(1, 2, 3, 4, 5));
  }

  @Test
  void forksThatCrashAreARegressionWhateverTheOthersSay() {
    Path well = decode(run(1), 100).write();
    Path crashing = decode(run(2).lostForks(1), 100).write();
    CaseComparison row = only(well, crashing);
    assertThat(row.verdict()).isEqualTo(Verdict.SAME);
    assertThat(row.regression()).isTrue();
    assertThat(row.remark()).isEqualTo("candidate: 1 of 11 forks crashed");
    Comparison comparison = Runs.compare(well, crashing);
    assertThat(comparison.exitCode()).isEqualTo(Comparison.REGRESSION);
    assertThat(new TextForm(comparison).toString())
        .contains("Forks of the candidate crashed, which counts as a regression");
    assertThat(only(crashing, well).regression()).isFalse();
    assertThat(only(crashing, well).remark()).isEqualTo("base: 1 of 11 forks crashed");
  }

  @Test
  void aCaseThatFailedInTheBaseAndIsGoneIsNoRegression() {
    Path base = decode(run(1), 100).failed("launch.GraphReplay", "no graphs").write();
    Comparison comparison = Runs.compare(base, decode(run(2), 100).write());
    CaseComparison gone = comparison.rows().get(1);
    assertThat(gone.verdict()).isEqualTo(Verdict.NEW);
    assertThat(gone.reason()).isEqualTo("in neither run");
    assertThat(comparison.exitCode()).isEqualTo(Comparison.FINE);
  }

  @Test
  void whereNothingCouldBeJudgedNothingIsFine() {
    Path base = run(1).failed("launch.GraphReplay", "no graphs").write();
    Comparison comparison = Runs.compare(base, run(2).host("launch.GraphReplay", 4, 5).write());
    assertThat(comparison.rows()).extracting(CaseComparison::verdict).containsOnly(Verdict.NEW);
    assertThat(comparison.rows().get(0).reason())
        .isEqualTo("the base has no number, failed: no graphs");
    assertThat(comparison.exitCode()).isEqualTo(Comparison.NOT_COMPARABLE);
    CaseComparison neither = only(base, run(3).failed("launch.GraphReplay", "no memory").write());
    assertThat(neither.reason()).isEqualTo("neither run has a number, failed: no memory");
  }

  @Test
  void onlyTheLibraryUnderTestMayDiffer() {
    Library runtime = new Library("runtime", "/b/libmusart.so", "22", null);
    Library kernels = new Library("kernels", "/b/libkernels.so", "33", null);
    Path base = decode(run(1), 100).write();
    Path candidate = decode(run(2), 100).libraries(kernels, runtime).write();
    assertThat(only(base, candidate).verdict()).isEqualTo(Verdict.SAME);
    Library otherRuntime = new Library("runtime", "/b/libmusart.so", "44", null);
    Path other = decode(run(3), 100).libraries(kernels, otherRuntime).write();
    assertThat(only(base, other).verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
    assertThat(only(base, other).reason()).isEqualTo("library.runtime: 22 against 44");
    Comparison.Options accept =
        new Comparison.Options(
            new Judge(),
            0.01,
            Map.of(),
            Set.of("library.kernels", "library.runtime"),
            false,
            false);
    assertThat(
            Comparison.of(MeasuredRun.read(base), MeasuredRun.read(other), accept)
                .rows()
                .get(0)
                .verdict())
        .isEqualTo(Verdict.SAME);
  }

  @Test
  void anotherDeviceOrDriverIsNotComparable() {
    Path base = decode(run(1), 100).write();
    DeviceInfo s4000 = new DeviceInfo("MTT S4000", "MUSA", 0, null, 48L << 30, "2.7.0", "4.2.0");
    Path candidate = decode(run(2).device("musa", s4000), 100).write();
    CaseComparison row = only(base, candidate);
    assertThat(row.verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
    assertThat(List.of(row.reason().split("; ")))
        .containsExactly(
            "device: MTT S5000 against MTT S4000",
            "device.memory: 85899345920 against 51539607552",
            "device.units: 56 against unknown",
            "driver: 3.3.0 against 2.7.0");
  }

  @Test
  void anotherSdkOrKernelDriverIsNotComparableWhateverRunsAboveThem() {
    Map<String, String> versions =
        Map.of("musa_sdk", "5.1.0", "driver", "3.3.5", "torch_musa", "2.9.0", "mate", "0.2.2");
    Path base = decode(run(1).versions(versions), 100).write();
    Map<String, String> above =
        Map.of("musa_sdk", "5.1.0", "driver", "3.3.5", "torch_musa", "2.7.1", "mate", "0.2.7");
    assertThat(only(base, decode(run(2).versions(above), 100).write()).verdict())
        .isEqualTo(Verdict.SAME);
    Map<String, String> below = Map.of("musa_sdk", "4.3.6");
    assertThat(
            List.of(only(base, decode(run(3).versions(below), 100).write()).reason().split("; ")))
        .containsExactly("driver.kernel: 3.3.5 against unknown", "musa_sdk: 5.1.0 against 4.3.6");
  }

  @Test
  void anotherMateIsNotComparableWhereItsKernelsWereMeasured() {
    Map<String, String> mate = Map.of("batch", "8q1s4k", "library", "mate");
    Path base =
        run(1)
            .versions(Map.of("mate", "0.2.2"))
            .device("attention.PagedDecode", mate, Work.NONE, 10, 100)
            .write();
    Path candidate =
        run(2)
            .versions(Map.of("mate", "0.2.7"))
            .device("attention.PagedDecode", mate, Work.NONE, 10, 100)
            .write();
    assertThat(only(base, candidate).reason()).isEqualTo("mate: 0.2.2 against 0.2.7");
  }

  @Test
  void aCaseThatFailedInTheCandidateIsARegression() {
    Path base = run(1).host("launch.GraphCapture", 10, 5).write();
    Path candidate = run(2).failed("launch.GraphCapture", "wrong result").write();
    Comparison comparison = Runs.compare(base, candidate);
    assertThat(comparison.rows().get(0).verdict()).isEqualTo(Verdict.MISSING);
    assertThat(comparison.rows().get(0).reason()).isEqualTo("failed: wrong result");
    assertThat(comparison.exitCode()).isEqualTo(Comparison.REGRESSION);
    Comparison fixed = Runs.compare(candidate, base);
    assertThat(fixed.rows().get(0).verdict()).isEqualTo(Verdict.NEW);
  }

  @Test
  void ofTwoSettingsMeasuredTogetherBothMustHaveANumber() {
    Path works = run(1).host("launch.GraphCapture", 10, 5).host("launch.Empty", 10, 5).write();
    Path fails =
        run(2).failed("launch.GraphCapture", "wrong result").host("launch.Empty", 10, 5).write();
    Comparison.Options paired =
        new Comparison.Options(new Judge(), 0.01, Map.of(), Set.of(), false, true);
    MeasuredRun good = MeasuredRun.read(works);
    MeasuredRun bad = MeasuredRun.read(fails);
    assertThat(Comparison.of(good, bad, paired).exitCode()).isEqualTo(Comparison.REGRESSION);
    assertThat(Comparison.of(bad, bad, paired).exitCode()).isEqualTo(Comparison.REGRESSION);
    assertThat(Comparison.of(bad, good, paired).exitCode()).isEqualTo(Comparison.NOT_COMPARABLE);
  }

  @Test
  void theUnitIsThatOfTheTimeThatIsJudged() throws IOException {
    Path run = decode(run(1), 100).write();
    Path samples = run.resolve("samples.csv");
    String text = Files.readString(samples);
    String last = text.lines().filter(line -> line.contains(",device.time,")).toList().get(0);
    String hostTime = last.replace(",device.time,", ",host.time,").replace("ns/op", "us/op");
    Files.writeString(samples, text + hostTime + "\n");
    assertThat(MeasuredRun.read(run).cases().values())
        .allSatisfy(c -> assertThat(c.timeUs()).isCloseTo(100, within(0.5)));
  }

  @Test
  void hostTimeDependsOnTheJvmAndDeviceTimeDoesNot() {
    MeasuredRun read =
        MeasuredRun.read(decode(run(1), 100).host("launch.GraphCapture", 10, 5).write());
    assertThat(read.cases().get("launch.GraphCapture").conditions()).containsKeys("jvm", "cpu");
    assertThat(read.cases().get("attention.PagedDecode:batch=8q1s4k;page=16").conditions())
        .doesNotContainKeys("jvm", "cpu");
    assertThat(read.cases().get("launch.GraphCapture").timeUs()).isCloseTo(5, within(0.02));
  }

  @Test
  void eventsOfAGpuHaveAResolutionAndThoseOfTheHostHaveNone() {
    Map<String, String> none = Map.of();
    Path gpu = run(1).device("a.Short", none, Work.NONE, 4, 10).write();
    assertThat(MeasuredRun.read(gpu).cases().get("a.Short").resolution())
        .isCloseTo(0.05, within(1e-9));
    DeviceInfo cpu = new DeviceInfo("CPU", "host", 0, 2, 1L << 30, "1", "1");
    Path host = run(1).device("host", cpu).device("a.Short", none, Work.NONE, 4, 10).write();
    assertThat(MeasuredRun.read(host).cases().get("a.Short").resolution()).isZero();
  }

  @Test
  void aCaseThatAppearsTwiceIsNotComparable() {
    Path run = decode(run(1), 100).write();
    Path twice = decode(run(2), 100).write();
    RunDirectory directory = RunDirectory.open(twice);
    CaseResult c = directory.read().cases().get(0);
    directory.saveCases(List.of(c, c));
    CaseComparison row = only(run, twice);
    assertThat(row.verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
    assertThat(row.reason()).contains("it appears twice in");
  }

  @Test
  void aCaseWhoseLastForksAreLostIsNotComparable() throws IOException {
    Path base = decode(run(1), 100).write();
    Path candidate = decode(run(2), 100).write();
    Path samples = candidate.resolve("samples.csv");
    List<String> lines = Files.readAllLines(samples);
    Files.writeString(samples, String.join("\n", lines.subList(0, lines.size() - 42)) + "\n");
    CaseComparison row = only(base, candidate);
    assertThat(row.verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
    assertThat(row.reason()).isEqualTo("candidate: samples.csv has 8 of its 10 forks");
  }

  @Test
  void aRunThatWasStoppedSaysSoInEveryForm() throws IOException {
    Path base = decode(run(1), 100).versions(Map.of("measure.cases", "3")).write();
    Path candidate = decode(run(2), 100).versions(Map.of("measure.cases", "1")).write();
    Comparison comparison = Runs.compare(base, candidate);
    assertThat(new TextForm(comparison).toString().lines().toList())
        .anyMatch(line -> line.startsWith("base ") && line.endsWith(", partial: 1 of its 3 cases"))
        .noneMatch(line -> line.startsWith("candidate ") && line.contains("partial"));
    assertThat(new MarkdownForm(comparison).toString()).contains("` (partial: 1 of its 3 cases)");
    StringWriter json = new StringWriter();
    JsonForm.write(comparison, json);
    assertThat(json.toString()).contains("\"basePartial\" : \"partial: 1 of its 3 cases\"");
  }

  @Test
  void theTwoRunsOfOneSessionAreItsPairs() {
    Map<String, String> one = Map.of("ab.session", "1");
    MeasuredRun a = MeasuredRun.read(decode(run(1).versions(one), 100).write());
    MeasuredRun b = MeasuredRun.read(decode(run(2).versions(one), 100).write());
    MeasuredRun other =
        MeasuredRun.read(decode(run(3).versions(Map.of("ab.session", "2")), 100).write());
    MeasuredRun none = MeasuredRun.read(decode(run(4), 100).write());
    assertThat(a.pairedWith(b)).isTrue();
    assertThat(b.pairedWith(a)).isTrue();
    assertThat(a.pairedWith(other)).isFalse();
    assertThat(a.pairedWith(none)).isFalse();
    assertThat(none.pairedWith(none)).isFalse();
  }

  @Test
  void damagedAndForeignDirectoriesAreRefusedInOneLine() throws IOException {
    Path empty = Files.createDirectory(folder.resolve("empty"));
    assertThatThrownBy(() -> MeasuredRun.read(empty))
        .isInstanceOf(RunException.class)
        .hasMessageContaining("environment.json");
    Path run = decode(run(1), 100).write();
    Path samples = run.resolve("samples.csv");
    String text = Files.readString(samples);
    Files.writeString(samples, text.replaceFirst("\n1,", "\n2,"));
    assertThatThrownBy(() -> MeasuredRun.read(run)).hasMessageContaining("schema version 2");
    Files.writeString(samples, text.substring(0, text.length() / 2).replaceFirst(",[^,]*$", ""));
    assertThatThrownBy(() -> MeasuredRun.read(run))
        .isInstanceOf(RunException.class)
        .message()
        .doesNotContain("\n");
    Files.writeString(samples, text.lines().findFirst().orElseThrow() + "\n");
    assertThat(MeasuredRun.read(run).cases().values())
        .allMatch(c -> c.problem().equals("it has no samples in samples.csv"));
    Files.writeString(
        samples, text.replaceFirst("device.time,1,1,0,[^,]*", "device.time,1,1,0,-5"));
    assertThat(MeasuredRun.read(run).cases().values())
        .allMatch(c -> c.problem().equals("fork 1 has the value -5.0, which is no time"));
    Files.writeString(samples, text + clockLine(text));
    assertThat(MeasuredRun.read(run).cases().values())
        .anyMatch(c -> c.problem().equals("fork 1 has the value 0.0, which is no clock"));
  }

  /** A sample of the first case that says its clock was 0 MHz. */
  private static String clockLine(String samples) {
    String first =
        samples
            .lines()
            .filter(line -> line.contains(",device.time,1,1,0,"))
            .findFirst()
            .orElseThrow();
    return first.replaceFirst("device.time,1,1,0,.*", "device.clock,1,1,0,0,MHz") + "\n";
  }
}
