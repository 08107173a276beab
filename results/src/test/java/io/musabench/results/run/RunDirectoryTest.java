package io.musabench.results.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.model.Work;
import io.musabench.results.run.Environment.Clocks;
import io.musabench.results.run.Environment.DeviceInfo;
import io.musabench.results.run.Environment.Library;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunDirectoryTest {
  private static final Set<String> LATER =
      Set.of(
          "first_run_us",
          "unmet",
          "throttled_samples",
          "core_clock_mhz",
          "power_w",
          "temperature_c",
          "throttle_reasons",
          "other_cpu_percent",
          "steal_percent",
          "other_processes",
          "rows",
          "part_rows",
          "graph_rows");

  private static final Instant START = Instant.parse("2026-01-02T03:04:05.678Z");

  @TempDir private Path root;
  private Path runs;

  @BeforeEach
  void namesAFolderThatIsNotThereYet() {
    runs = root.resolve("results/runs");
  }

  private static Environment environment() {
    return Environment.collect("host", START, Path.of("."));
  }

  private static CaseResult step() {
    return CaseResult.of(
            "step.DecodeStep", Map.of("model", "Qwen3-0.6B", "batch", "8q1s1k", "mode", "graph"))
        .deviceTimesUs(new double[] {100.1, 100.3, 100.2})
        .hostTimeMedianUs(120.5)
        .submitTimeMedianUs(1.0 / 3)
        .kernels(284)
        .forks(3)
        .launches(5)
        .work(new Work(1_200_000_000_000L, 1_234_567_890L))
        .parts(
            List.of(
                new CasePart("qkv", "gemm", "m=8 n=4096 k=1024", 28, new Work(10, 20), 1.25),
                new CasePart("o", "gemm", "m=8 n=1024 k=2048", 28, new Work(30, 40), 0.5)))
        .graphCosts(
            new GraphCosts(
                new GraphCosts.Spans(100, 110.25, 90),
                new GraphCosts.Spans(99, 105, 4),
                new MedianInterval(5.25, 1.0 / 3, 7),
                150,
                60,
                2,
                new GraphCosts.Spans(99.5, 108, 7),
                3,
                16,
                new GraphCosts.Spans(140, 146, 4.5)))
        .check("max error 1e-3 of 1.5e-2 allowed")
        .note("layers share weights, \"quoted\"")
        .reproduce("musabench run '^step.DecodeStep$' -p mode=graph")
        .build();
  }

  private static CaseResult failed() {
    return CaseResult.of("attention.PagedDecode", Map.of("batch", "q1s1k"))
        .notOk(Status.FAILED, "row 3: 0.5, expected 0.4\nsecond line")
        .kernel("paged_attention", "batch=q1s1k heads=16:8:128 causal page=16")
        .build();
  }

  @Test
  void aFolderIsNamedAfterTimeAndTarget() {
    RunDirectory run = RunDirectory.create(runs, "host", START);
    assertThat(run.path()).isEqualTo(runs.resolve("20260102T030405Z-host")).isDirectory();
  }

  @Test
  void runsOfTheSameSecondGetTheirOwnFolders() {
    RunDirectory.create(runs, "host", START);
    RunDirectory second = RunDirectory.create(runs, "host", START);
    RunDirectory third = RunDirectory.create(runs, "host", START);
    RunDirectory other = RunDirectory.create(runs, "cuda", START);
    assertThat(second.path()).isEqualTo(runs.resolve("20260102T030405Z-host-2"));
    assertThat(third.path()).isEqualTo(runs.resolve("20260102T030405Z-host-3"));
    assertThat(other.path()).isEqualTo(runs.resolve("20260102T030405Z-cuda"));
  }

  @Test
  void aFolderThatCannotBeMadeIsSaid() throws IOException {
    Files.createDirectories(runs.getParent());
    Files.writeString(runs, "a file in the way");
    assertThatThrownBy(() -> RunDirectory.create(runs, "host", START))
        .isInstanceOf(RunException.class)
        .hasMessage("Cannot make " + runs + ": there is a file of that name");
  }

  @Test
  void aRunOfBeforeThereWereGraphCostsIsRead() throws IOException {
    RunDirectory run = RunDirectory.create(runs, "host", START);
    run.saveEnvironment(environment());
    run.saveCases(List.of(step()));
    keepColumns(run, name -> !LATER.contains(name));
    Files.delete(run.path().resolve("graphs.csv"));
    assertThat(run.read().cases().get(0).graphCosts()).isEqualTo(GraphCosts.UNKNOWN);
  }

  private static RunDirectory saved(Path runs) {
    RunDirectory run = RunDirectory.create(runs, "host", START);
    run.saveEnvironment(environment());
    run.saveCases(List.of(step(), failed()));
    return run;
  }

  private static void cut(RunDirectory run, String file, int lines) throws IOException {
    Path path = run.path().resolve(file);
    List<String> all = Files.readAllLines(path);
    Files.writeString(path, String.join("\n", all.subList(0, all.size() - lines)) + "\n");
  }

  @Test
  void aFileThatLostWholeRowsIsRefused() throws IOException {
    RunDirectory cases = saved(runs);
    cut(cases, "cases.csv", 2); // The reason has a line break.
    expectRefused(cases, "cases.csv has 1 row where 2 were written");
    RunDirectory parts = saved(runs);
    cut(parts, "parts.csv", 1);
    expectRefused(parts, "parts.csv has 1 row where 2 were written");
    RunDirectory graphs = saved(runs);
    cut(graphs, "graphs.csv", 1);
    expectRefused(graphs, "graphs.csv has 0 rows where 1 were written");
    Files.delete(graphs.path().resolve("graphs.csv"));
    expectRefused(graphs, "graphs.csv has 0 rows where 1 were written");
  }

  @Test
  void aFileThatEndsWithinItsLastNumberIsRefused() throws IOException {
    RunDirectory run = saved(runs);
    Path parts = run.path().resolve("parts.csv");
    String text = Files.readString(parts);
    assertThat(text).endsWith(",40\n");
    Files.writeString(parts, text.substring(0, text.length() - 2));
    expectRefused(run, "parts.csv ends within a line: it was cut off");
  }

  @Test
  void aRunThatIsKilledWhileItIsSavedIsReadWithoutItsLastCase() throws IOException {
    RunDirectory run = RunDirectory.create(runs, "host", START);
    run.saveEnvironment(environment());
    run.saveCases(List.of(failed()));
    byte[] before = Files.readAllBytes(run.path().resolve("cases.csv"));
    run.saveCases(List.of(failed(), step()));
    Files.write(run.path().resolve("cases.csv"), before);
    assertThat(run.read().cases()).containsExactly(failed());
  }

  @Test
  void aRunThatWasStoppedIsReadAndSaysSo() {
    RunDirectory run = saved(runs);
    assertThat(run.read().partial()).isEmpty();
    run.saveEnvironment(environment().withVersions(Map.of(Environment.CASES, "35")));
    assertThat(run.read().cases()).hasSize(2);
    assertThat(run.read().partial()).isEqualTo("partial: 2 of its 35 cases");
    run.saveEnvironment(environment().withVersions(Map.of(Environment.CASES, "2")));
    assertThat(run.read().partial()).isEmpty();
    run.saveEnvironment(environment().withVersions(Map.of(Environment.CASES, "many")));
    assertThat(run.read().partial()).isEmpty();
  }

  @Test
  void aLinkThatLeadsNowhereIsNoMissingFile() throws IOException {
    RunDirectory run = saved(runs);
    keepColumns(run, name -> !LATER.contains(name));
    Path graphs = run.path().resolve("graphs.csv");
    Files.delete(graphs);
    Files.createSymbolicLink(graphs, Path.of("graphs.csv"));
    expectRefused(run, "Cannot read " + graphs);
  }

  @Test
  void whatWasSavedIsReadBack() {
    RunDirectory run = RunDirectory.create(runs, "host", START);
    List<CaseResult> cases = List.of(step(), failed());
    Environment environment = environment();
    run.saveEnvironment(environment);
    run.saveCases(cases);
    RunData data = run.read();
    assertThat(data.name()).isEqualTo("20260102T030405Z-host");
    assertThat(data.cases().get(0)).isEqualTo(step());
    assertThat(data.cases().get(1)).isEqualTo(failed());
    assertThat(data.environment()).isEqualTo(environment);
  }

  @Test
  void samplesKeepEveryDigit() {
    RunDirectory run = RunDirectory.create(runs, "host", START);
    List<Sample> samples =
        List.of(
            new Sample(step().id(), "device.time", 1, 1, 0, 0.1 + 0.2, "us/op"),
            new Sample(step().id(), "host.launch", 2, 3, 99, 1e-7, "ns/op"));
    run.saveSamples(samples);
    assertThat(run.readSamples()).isEqualTo(samples);
  }

  @Test
  void aRunIsSavedAgainAsCasesFinish() {
    RunDirectory run = RunDirectory.create(runs, "host", START);
    run.saveEnvironment(environment());
    run.saveCases(List.of());
    assertThat(run.read().cases()).isEmpty();
    run.saveCases(List.of(step()));
    assertThat(run.read().cases()).hasSize(1);
    run.saveCases(List.of(step(), failed()));
    assertThat(run.read().cases()).hasSize(2);
    assertThat(run.path()).isDirectoryNotContaining("glob:**.tmp");
  }

  @Test
  void theColumnsOfACaseNameTheirUnits() throws IOException {
    RunDirectory run = RunDirectory.create(runs, "host", START);
    CaseResult roof =
        CaseResult.of("roof.ReadBandwidth", Map.of())
            .deviceTimesUs(new double[] {50})
            .work(new Work(0, 1_000_000))
            .build();
    CaseResult gemm =
        CaseResult.of("gemm.Gemm", Map.of("m", "1", "dtype", "bf16"))
            .kernel("gemm", "m=1 n=2 k=3")
            .forks(1)
            .deviceTimesUs(new double[] {100})
            .work(new Work(0, 1_000_000))
            .reproduce("musabench run Gemm")
            .build();
    run.saveCases(List.of(roof, gemm));
    List<String> lines = Files.readAllLines(run.path().resolve("cases.csv"));
    assertThat(lines.get(0))
        .isEqualTo(
            "schema_version,case,benchmark,params,status,reason,kernel,shape,forks,lost_forks,samples,"
                + "launches,kernels,device_time_median_us,device_time_p10_us,device_time_p90_us,"
                + "host_time_median_us,submit_time_median_us,first_run_us,"
                + "over_kernels_median_us,over_kernels_low_us,over_kernels_high_us,flop,bytes,gb_per_s,tflop_per_s,"
                + "roof,percent_of_roof,unmet,throttled_samples,core_clock_mhz,power_w,temperature_c,"
                + "throttle_reasons,other_cpu_percent,steal_percent,other_processes,"
                + "check,note,reproduce,rows,part_rows,graph_rows");
    assertThat(lines.get(2))
        .isEqualTo(
            "1,gemm.Gemm:dtype=bf16;m=1,gemm.Gemm,dtype=bf16;m=1,ok,,gemm,m=1 n=2 k=3,1,0,1,1,1,"
                + "100.0,100.0,100.0,,,,,,,0,1000000,10.0000,,read_bandwidth,50.0000,"
                + ",0,,,,,,,,,,"
                + "musabench run Gemm,2,0,0");
  }

  @Test
  void jmhsOwnFileIsKeptByteForByte() {
    RunDirectory run = RunDirectory.create(runs, "host", START);
    byte[] json = "[ {\"x\": 1} ]\n".getBytes(StandardCharsets.UTF_8);
    run.saveJmhJson(json);
    assertThat(run.path().resolve("jmh.json")).hasBinaryContent(json);
  }

  @Test
  void latestPointsToTheNewestRun() throws IOException {
    RunDirectory first = RunDirectory.create(runs, "host", START);
    first.markLatest();
    RunDirectory second = RunDirectory.create(runs, "host", START);
    second.markLatest();
    assertThat(Files.readSymbolicLink(runs.resolve("latest")))
        .isEqualTo(Path.of("20260102T030405Z-host-2"));
    second.saveEnvironment(environment());
    second.saveCases(List.of());
    assertThat(RunDirectory.open(runs.resolve("latest")).read().name())
        .isEqualTo("20260102T030405Z-host-2");
  }

  @Test
  void aRunThatIsNotThereIsSaid() throws IOException {
    assertThatThrownBy(() -> RunDirectory.open(runs.resolve("latest")))
        .isInstanceOf(RunException.class)
        .hasMessage("There is no run directory " + runs.resolve("latest"));
    Path file = Files.writeString(root.resolve("file"), "x");
    assertThatThrownBy(() -> RunDirectory.open(file)).hasMessage(file + " is not a run directory");
    RunDirectory empty = RunDirectory.create(runs, "host", START);
    assertThatThrownBy(empty::read)
        .hasMessage(
            "Cannot read " + empty.path().resolve("environment.json") + ": it does not exist");
  }

  @Test
  void anUnwritableFolderIsOneClearError() throws IOException {
    RunDirectory run = RunDirectory.create(runs, "host", START);
    Files.delete(run.path());
    assertThatThrownBy(() -> run.saveCases(List.of(step())))
        .isInstanceOf(RunException.class)
        .hasMessageContaining("Cannot write")
        .hasMessageContaining("its folder is gone");
  }

  private RunDirectory damaged(String file, String from, String to) throws IOException {
    RunDirectory run = RunDirectory.create(runs, "host", START);
    run.saveEnvironment(environment());
    run.saveCases(List.of(step()));
    Path path = run.path().resolve(file);
    String text = Files.readString(path);
    assertThat(text).contains(from);
    Files.writeString(path, text.replace(from, to));
    return run;
  }

  private static void expectRefused(RunDirectory run, String... parts) {
    assertThatThrownBy(run::read).isInstanceOf(RunException.class).hasMessageContainingAll(parts);
  }

  @Test
  void anotherSchemaVersionIsRefused() throws IOException {
    expectRefused(
        damaged("cases.csv", "\n1,", "\n2,"), "cases.csv has schema version 2", "reads 1");
    expectRefused(
        damaged("environment.json", "\"schemaVersion\" : 1", "\"schemaVersion\" : 9"),
        "environment.json has schema version 9");
    expectRefused(
        damaged("environment.json", "\"schemaVersion\" : 1,", ""), "schema version (none)");
  }

  @Test
  void runsFromBeforeTheLaterColumnsAreRead() throws IOException {
    RunDirectory run = RunDirectory.create(runs, "host", START);
    run.saveEnvironment(environment());
    run.saveCases(List.of(step()));
    keepColumns(run, name -> !name.startsWith("over_kernels_") && !LATER.contains(name));
    CaseResult old = run.read().cases().get(0);
    assertThat(old.overKernels().medianUs()).isNaN();
    assertThat(old.firstRunUs()).isNaN();
    assertThat(old.conditions()).isEqualTo(Conditions.UNKNOWN);
  }

  /** Writes cases.csv with some of its columns. */
  private static void keepColumns(RunDirectory run, Predicate<String> wanted) throws IOException {
    Path path = run.path().resolve("cases.csv");
    try (var parser =
        CSVFormat.RFC4180.builder().setHeader().get().parse(Files.newBufferedReader(path))) {
      List<String> kept = parser.getHeaderNames().stream().filter(wanted).toList();
      StringBuilder text = new StringBuilder();
      try (var out = new CSVPrinter(text, CSVFormat.RFC4180)) {
        out.printRecord(kept);
        for (var line : parser) {
          out.printRecord(kept.stream().map(line::get).toList());
        }
      }
      Files.writeString(path, text);
    }
  }

  @Test
  void damageIsNamedWithFileAndPlace() throws IOException {
    expectRefused(
        damaged("cases.csv", "device_time_median_us", "x"), "no column device_time_median_us");
    expectRefused(damaged("cases.csv", "100.2,", "fast,"), "row 1, column device_time_median_us");
    expectRefused(damaged("cases.csv", ",284,", ",many,"), "row 1, column kernels");
    expectRefused(damaged("cases.csv", ",ok,", ",fine,"), "row 1, column status");
    expectRefused(damaged("cases.csv", ",1234567890,", ",-1,"), "column flop or bytes");
    expectRefused(
        damaged("cases.csv", "step.DecodeStep,batch=", "step.DecodeStep,batch"), "column params");
    expectRefused(damaged("cases.csv", ",120.5,", ","), "row 1: it has 42 cells");
    expectRefused(damaged("cases.csv", "\"layers", "layers"), "cases.csv");
    expectRefused(damaged("parts.csv", ",28,", ",x,"), "parts.csv, row 1, column count");
    expectRefused(
        damaged("environment.json", "}", ""), "environment.json is not a valid environment");
    expectRefused(
        damaged("environment.json", "\"libraries\" : [ ]", "\"libraries\" : 3"),
        "environment.json is not a valid environment");
  }

  @Test
  void damageIsSaidInWordsThatAreNotJavas() throws IOException {
    expectRefused(damaged("cases.csv", ",ok,", ",fine,"), "column status: \"fine\" is none");
    expectRefused(damaged("cases.csv", "100.2,", "fast,"), "\"fast\" is no number");
    expectRefused(damaged("cases.csv", ",284,", ",many,"), "\"many\" is no whole number");
    expectRefused(
        damaged("environment.json", "\"libraries\" : [ ]", "\"libraries\" : 3"),
        "\"libraries\" is damaged");
    RunDirectory half = damaged("environment.json", "}", "");
    assertThatThrownBy(half::read).hasMessageNotContainingAny("REDACTED", "\n");
    RunDirectory binary = RunDirectory.create(runs, "host", START);
    Files.write(binary.path().resolve("samples.csv"), new byte[] {'a', (byte) 0xff, '\n'});
    assertThatThrownBy(binary::readSamples)
        .isInstanceOf(RunException.class)
        .hasMessageEndingWith("samples.csv is not valid CSV: it is not text in UTF-8");
  }

  @Test
  void anEnvironmentLacksNothingThatReadersNeed() throws IOException {
    expectRefused(damaged("environment.json", "\"target\" :", "\"t\" :"), "it has no target");
    expectRefused(damaged("environment.json", "\"createdUtc\" :", "\"c\" :"), "no createdUtc");
    RunDirectory noDevice = damaged("environment.json", "\"device\" :", "\"d\" :");
    assertThat(noDevice.read().environment().device()).isEqualTo(DeviceInfo.UNKNOWN);
    RunDirectory setting =
        damaged("environment.json", "\"settings\" : {", "\"settings\" : {\"A\": \"unknown\", ");
    assertThat(setting.read().environment().settings()).containsEntry("A", "unknown");
  }

  @Test
  void theRootIsNoRun() {
    expectRefused(RunDirectory.open(root.getRoot()), "environment.json: it does not exist");
  }

  @Test
  void fieldsOfLaterProgramsAreIgnored() throws IOException {
    RunDirectory run = damaged("environment.json", "\"target\" :", "\"later\" : {}, \"target\" :");
    assertThat(run.read().environment().target()).isEqualTo("host");
  }

  @Test
  void whatIsNotKnownIsWrittenAsUnknownAndReadAsNull() throws IOException {
    RunDirectory run = RunDirectory.create(runs, "host", START);
    Environment environment =
        environment().withDevice(new DeviceInfo("CPU", null, 0, null, null, null, "1.0"));
    run.saveEnvironment(environment);
    run.saveCases(List.of());
    JsonNode json = new ObjectMapper().readTree(run.path().resolve("environment.json").toFile());
    assertThat(json.at("/device/name").asText()).isEqualTo("CPU");
    assertThat(json.at("/device/memoryBytes").asText()).isEqualTo("unknown");
    assertThat(json.at("/device/driverVersion").asText()).isEqualTo("unknown");
    assertThat(json.at("/clocks/coreMhz").asText()).isEqualTo("unknown");
    assertThat(json.at("/versions/mate").asText()).isEqualTo("unknown");
    assertThat(json.fieldNames().next()).isEqualTo("schemaVersion");
    assertThat(run.read().environment()).isEqualTo(environment);
  }

  @Test
  void everyPartOfTheEnvironmentIsKept() throws IOException {
    Path library = Files.writeString(root.resolve("lib.so"), "abc");
    Environment environment =
        environment()
            .withDevice(new DeviceInfo("S5000", "MUSA", 1, 56, 1L << 36, "3.1", "4.0"))
            .withClocks(
                new Clocks(
                    "fixed_power",
                    1700.0,
                    2000.0,
                    250.5,
                    60.0,
                    1800.0,
                    400.0,
                    1L << 30,
                    0L,
                    List.of("power cap"),
                    "libmtml.so"))
            .withClocksAtEnd(
                new Clocks(
                    null, 1650.0, 2000.0, null, 70.0, 1800.0, null, null, 1L, List.of(), "x"))
            .withLibraries(List.of(Library.of("runtime", library, "4.0")))
            .withVersions(Map.of("mate", "0.1", "label", "x"))
            .withWarnings(List.of("hot"));
    RunDirectory run = RunDirectory.create(runs, "musa", START);
    run.saveEnvironment(environment);
    run.saveCases(List.of());
    Environment read = run.read().environment();
    assertThat(read).isEqualTo(environment);
    assertThat(read.versions()).containsEntry("mate", "0.1").containsEntry("label", "x");
    assertThat(read.warnings()).endsWith("hot");
    assertThat(read.libraries().get(0).sha256())
        .isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assertThat(Library.of("ffi", root.resolve("none.so"), null).sha256()).isNull();
  }
}
