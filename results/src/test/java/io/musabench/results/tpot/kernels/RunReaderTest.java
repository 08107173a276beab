package io.musabench.results.tpot.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.ElementType;
import io.musabench.results.model.HeadGeometry;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.KernelCall.FusedAddRmsNorm;
import io.musabench.results.model.KernelCall.Gemm;
import io.musabench.results.model.KernelCall.KvCacheWrite;
import io.musabench.results.model.KernelCall.PagedAttention;
import io.musabench.results.model.Mask;
import io.musabench.results.model.Precision;
import io.musabench.results.model.Work;
import io.musabench.results.run.CasePart;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.GraphCosts;
import io.musabench.results.run.MedianInterval;
import io.musabench.results.run.OverKernels;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Sample;
import io.musabench.results.run.Status;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Provenance;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunReaderTest {
  private static final Instant START = Instant.parse("2026-01-02T03:04:05Z");

  @TempDir Path runs;

  private Path save(String target, List<CaseResult> cases, List<Sample> samples) {
    RunDirectory run = RunDirectory.create(runs, target, START);
    run.saveEnvironment(Environment.collect(target, START, Path.of(".")));
    run.saveCases(cases);
    run.saveSamples(samples);
    return run.path();
  }

  private Path save(CaseResult... cases) {
    return save("host", List.of(cases), List.of());
  }

  private static CaseResult.Builder kernel(KernelCall call, double us, String... params) {
    Map<String, String> all = new TreeMap<>(Map.of("dtype", "bf16", "cache", "cold"));
    for (String p : params) {
      all.put(p.substring(0, p.indexOf('=')), p.substring(p.indexOf('=') + 1));
    }
    return CaseResult.of("kernel." + call.kernel(), all)
        .kernel(call.kernel(), call.shape())
        .work(call.work(2))
        .deviceTimesUs(new double[] {us});
  }

  private static CaseResult step(String mode, double latency, double submit, CasePart... parts) {
    int kernels = 0;
    for (CasePart p : parts) {
      kernels += p.count();
    }
    return CaseResult.of("step.DecodeStep", Map.of("mode", mode, "dtype", "bf16"))
        .kernels(kernels)
        .deviceTimesUs(new double[] {latency})
        .submitTimeMedianUs(submit)
        // Rounds differ by more than a step takes longer than its kernels in each.
        .overKernels(new OverKernels(12, 11, 13))
        .parts(List.of(parts))
        .build();
  }

  private static CasePart part(String role, KernelCall call, int count, double us) {
    return new CasePart(role, call.kernel(), call.shape(), count, call.work(2), us);
  }

  private static KernelTime time(KernelSource source, KernelCall call) {
    return source.time(call, Precision.BF16).orElseThrow();
  }

  @Test
  void kernelsOfTheStepInTheModeAskedForCountFirst() {
    KernelCall gemm = new Gemm(8, 64, 32);
    KernelCall alone = new Gemm(16, 64, 32);
    Path run =
        save(
            kernel(gemm, 50).build(),
            kernel(alone, 60).build(),
            step("eager", 100, 3, part("o", gemm, 3, 20)),
            step("graph", 100, 1, part("o", gemm, 3, 10)));
    assertThat(time(KernelSources.open(run, Mode.GRAPH), gemm).seconds()).isEqualTo(10e-6);
    KernelSource eager = KernelSources.open(run, Mode.EAGER);
    assertThat(time(eager, gemm).seconds()).isEqualTo(20e-6);
    assertThat(time(eager, gemm).provenance()).isEqualTo(Provenance.MEASURED);
    assertThat(time(eager, gemm).from()).isEqualTo(run.getFileName().toString());
    assertThat(time(eager, alone).seconds()).isEqualTo(60e-6);
    assertThat(eager.name()).isEqualTo("run " + run.getFileName());
  }

  @Test
  void aloneAsAStepRunsItCountsBeforeColdAndTheSourceSaysSo() {
    KernelCall both = new Gemm(8, 64, 32);
    KernelCall onlyCold = new Gemm(16, 64, 32);
    Path run =
        save(
            kernel(both, 50, "cache=step").build(),
            kernel(both, 60).build(),
            kernel(onlyCold, 70).build());
    for (List<Path> paths : List.of(List.of(run), List.of(save(kernel(both, 90).build()), run))) {
      KernelSource source = KernelSources.open(paths, Mode.GRAPH);
      assertThat(time(source, both).seconds()).isEqualTo(50e-6);
      assertThat(time(source, onlyCold).seconds()).isEqualTo(70e-6);
      assertThat(source.remarks())
          .containsExactly(
              "1 kernel and shape measured alone, cache=step, counts before the same alone,"
                  + " cache=cold");
    }
  }

  @Test
  void theVendorsKernelCountsBeforeThePortableOneHoweverEachWasMeasured() {
    KernelCall gemm = new Gemm(8, 64, 32);
    KernelSource source =
        KernelSources.open(
            save(
                kernel(gemm, 50, "cache=step").build(),
                kernel(gemm, 40, "library=blas").build(),
                step("eager", 100, 3, part("o", new Gemm(16, 64, 32), 3, 60))),
            Mode.GRAPH);
    assertThat(time(source, gemm).seconds()).isEqualTo(40e-6);
    assertThat(source.remarks())
        .containsExactly(
            "1 kernel and shape measured alone, cache=cold, library=blas, counts before the same"
                + " alone, cache=step");
  }

  @Test
  void theMedianOfSeveralMeasurementsIsSaid() {
    KernelCall gemm = new Gemm(8, 64, 32);
    List<Path> three = new ArrayList<>();
    for (double us : new double[] {10, 11, 20}) {
      three.add(save(kernel(gemm, us, "cache=step").build()));
    }
    KernelSource source = KernelSources.open(three, Mode.GRAPH);
    assertThat(time(source, gemm).seconds()).isEqualTo(11e-6);
    assertThat(source.remarks())
        .containsExactly(
            "1 kernel and shape measured several times in the same way: the median counts");
  }

  @Test
  void rolesThatShareAKernelAndShapeKeepTheSumOfTheStep() {
    KernelCall norm = new FusedAddRmsNorm(8, 64);
    Path run =
        save(step("graph", 100, 1, part("input_norm", norm, 3, 2), part("final_norm", norm, 1, 6)));
    assertThat(time(KernelSources.open(run, Mode.GRAPH), norm).seconds())
        .isCloseTo(3e-6, within(1e-15));
  }

  @Test
  void hotKernelsOptionsFailuresRoofsAndKernelsOfNoModelAreLeftOut() {
    HeadGeometry heads = new HeadGeometry(16, 8, 128);
    KernelCall decode = new PagedAttention(BatchSpec.parse("q1s1k"), heads, Mask.CAUSAL, 16);
    KernelCall write = new KvCacheWrite(8, heads);
    Path run =
        save(
            kernel(decode, 1, "window=128").build(),
            kernel(decode, 2, "softcap=30").build(),
            kernel(decode, 3, "splits=4").build(),
            kernel(decode, 4, "cache=hot").build(),
            kernel(decode, 5, "splits=0", "window=-1", "softcap=0").build(),
            kernel(write, 6).notOk(Status.FAILED, "wrong").build(),
            CaseResult.of("elementwise.Unheard", Map.of("dtype", "bf16"))
                .kernel("unheard_of", "t=8 f=64")
                .work(new Work(1, 1))
                .deviceTimesUs(new double[] {7})
                .build(),
            CaseResult.of("roof.ReadBandwidth", Map.of())
                .kernel("read_bandwidth", "bytes=1")
                .work(new Work(0, 30_000))
                .deviceTimesUs(new double[] {1})
                .build());
    KernelSource source = KernelSources.open(run, Mode.GRAPH);
    assertThat(time(source, decode).seconds()).isEqualTo(5e-6);
    assertThat(source.time(write, Precision.BF16)).isEmpty();
    assertThat(source.roofs().readGbPerS()).isEqualTo(30);
    assertThat(source.roofs().provenance()).isEqualTo(Provenance.MEASURED);
  }

  @Test
  void aRunThatMeasuredNoRoofHasNone() {
    Path run = save(kernel(new Gemm(8, 64, 32), 1).build());
    KernelSource source = KernelSources.open(run, Mode.GRAPH);
    // What the one kernel reaches: 8 x 32, 64 x 32 and 8 x 64 elements of 2 bytes in a microsecond.
    assertThat(source.roofs().readGbPerS()).isCloseTo(5.632, within(1e-9));
    assertThat(source.roofs().provenance()).isEqualTo(Provenance.ASSUMED);
  }

  @Test
  void betweenMeasuredShapesItIsLinear() {
    Path run =
        save(kernel(new Gemm(8, 64, 32), 10).build(), kernel(new Gemm(16, 64, 32), 20).build());
    KernelTime found = time(KernelSources.open(run, Mode.GRAPH), new Gemm(12, 64, 32));
    assertThat(found.seconds()).isCloseTo(15e-6, within(1e-15));
    assertThat(found.provenance()).isEqualTo(Provenance.INTERPOLATED);
    // Nothing to leave out, so a tenth is assumed, on top of the measurement's own error.
    assertThat(found.relativeError()).isGreaterThanOrEqualTo(0.1);
  }

  @Test
  void typesOfRunsAreKeptApart() {
    KernelCall gemm = new Gemm(8, 64, 32);
    Path run = save(kernel(gemm, 10).build(), kernel(gemm, 30, "dtype=fp16").build());
    KernelSource source = KernelSources.open(run, Mode.GRAPH);
    assertThat(source.time(gemm, Precision.uniform(ElementType.FP16)).orElseThrow().seconds())
        .isEqualTo(30e-6);
    assertThat(time(source, gemm).seconds()).isEqualTo(10e-6);
  }

  @Test
  void theErrorOfATimeIsThatBetweenForks() {
    CaseResult c = kernel(new Gemm(8, 64, 32), 10).build();
    List<Sample> samples = new ArrayList<>();
    for (double[] fork : new double[][] {{1, 9, 9.1, 9}, {2, 10, 10, 10.2}, {3, 11, 11, 12}}) {
      for (int i = 1; i < fork.length; i++) {
        samples.add(new Sample(c.id(), "device.time", (int) fork[0], 1, i, fork[i], "ns/op"));
      }
    }
    Path run = save("host", List.of(c), samples);
    KernelTime found = time(KernelSources.open(run, Mode.GRAPH), new Gemm(8, 64, 32));
    // Medians 9, 10, 11: standard deviation 1, of the mean of three 1/sqrt(3), over 10. Three say
    // little of it: 90 % of Student's t with two degrees lie within 2.920, of a normal 1.645.
    assertThat(found.relativeError()).isCloseTo(0.1 / Math.sqrt(3) * 2.920 / 1.6449, within(1e-5));
  }

  @Test
  void launchCostsComeFromTheSteps() {
    KernelCall gemm = new Gemm(8, 64, 32);
    Path run =
        save(
            step("eager", 100, 8, part("o", gemm, 4, 20)),
            step("graph", 500, 1, part("o", gemm, 4, 20)),
            launch("launch.EmptyLaunch", 0.3));
    LaunchCosts costs = KernelSources.open(run, Mode.GRAPH).launch().orElseThrow();
    assertThat(costs.perKernelSeconds()).isCloseTo(2e-6, within(1e-15));
    assertThat(costs.replaySeconds()).isCloseTo(1e-6, within(1e-15));
    assertThat(costs.perNodeSeconds()).isCloseTo(3e-6, within(1e-15));
    assertThat(costs.provenance()).isEqualTo(Provenance.MEASURED);
    assertThat(costs.setUpPerNodeSeconds()).isNaN();
  }

  @Test
  void whatSettingUpAGraphCostsIsTakenOverItsNodes() {
    Path run =
        save(
            graphOf(4, 20, 3, 1), graphOf(8, 40, 8, 0), graphOf(2, 100, 0, 0), graphOf(1, 6, 2, 1));
    LaunchCosts costs = KernelSources.open(run, Mode.GRAPH).launch().orElseThrow();
    // 24, 48, 100 and 9 us over 4, 8, 2 and 1 nodes.
    assertThat(costs.setUpPerNodeSeconds()).isCloseTo(7.5e-6, within(1e-15));
  }

  private static CaseResult graphOf(int nodes, double capture, double instantiate, double upload) {
    return CaseResult.of(
            "step.DecodeStep", Map.of("mode", "graph", "batch", nodes + "q1s1k", "dtype", "bf16"))
        .kernels(nodes)
        .deviceTimesUs(new double[] {100})
        .submitTimeMedianUs(1)
        .graphCosts(
            new GraphCosts(
                GraphCosts.Spans.UNKNOWN,
                GraphCosts.Spans.UNKNOWN,
                new MedianInterval(5, 4, 6),
                capture,
                instantiate,
                upload,
                GraphCosts.Spans.UNKNOWN,
                Double.NaN,
                0,
                GraphCosts.Spans.UNKNOWN))
        .parts(List.of(part("o", new Gemm(8, 64, 32), nodes, 20)))
        .build();
  }

  private static CaseResult launch(String name, double submit) {
    return CaseResult.of(name, Map.of())
        .deviceTimesUs(new double[] {0.2})
        .submitTimeMedianUs(submit)
        .build();
  }

  @Test
  void withoutStepsTheyComeFromTheLaunchBenchmarks() {
    Path run =
        save(
            kernel(new Gemm(8, 64, 32), 10).build(),
            launch("launch.EmptyLaunch", 0.3),
            launch("launch.GraphReplay", 4));
    LaunchCosts costs = KernelSources.open(run, Mode.GRAPH).launch().orElseThrow();
    assertThat(costs.perKernelSeconds()).isCloseTo(0.3e-6, within(1e-15));
    assertThat(costs.replaySeconds()).isCloseTo(4e-6, within(1e-15));
    assertThat(costs.perNodeSeconds()).isZero();
    assertThat(
            KernelSources.open(save(kernel(new Gemm(8, 64, 32), 10).build()), Mode.GRAPH).launch())
        .isEmpty();
  }

  @Test
  void runsOfOneDeviceAreOneSourceAndOfTwoAreNot() {
    Path a = save(kernel(new Gemm(8, 64, 32), 10).build());
    Path b = save(kernel(new Gemm(8, 32, 64), 20).build(), kernel(new Gemm(8, 64, 32), 14).build());
    KernelSource both = KernelSources.open(List.of(a, b), Mode.GRAPH);
    assertThat(time(both, new Gemm(8, 32, 64)).seconds()).isEqualTo(20e-6);
    assertThat(time(both, new Gemm(8, 64, 32)).seconds()).isCloseTo(12e-6, within(1e-15));
    Path c = save("cuda", List.of(kernel(new Gemm(8, 64, 32), 10).build()), List.of());
    assertThatThrownBy(() -> KernelSources.open(List.of(a, c), Mode.GRAPH))
        .isInstanceOf(KernelSourceException.class)
        .hasMessageContaining("Runs of different devices cannot be one source");
  }

  @Test
  void aRunWithoutKernelsOrWithDamageIsRefused() throws Exception {
    Path empty = save(launch("launch.EmptyLaunch", 0.3));
    assertThatThrownBy(() -> KernelSources.open(empty, Mode.GRAPH))
        .isInstanceOf(KernelSourceException.class)
        .hasMessageContaining("No kernel was measured in");
    Path damaged = save(kernel(new Gemm(8, 64, 32), 10).build());
    Path cases = damaged.resolve("cases.csv");
    java.nio.file.Files.writeString(
        cases, java.nio.file.Files.readString(cases).replace("m=8 n=64", "m=x n=64"));
    assertThatThrownBy(() -> KernelSources.open(damaged, Mode.GRAPH))
        .isInstanceOf(KernelSourceException.class)
        .hasMessageContaining("m is a whole number from 1 on, not \"x\"");
  }
}
