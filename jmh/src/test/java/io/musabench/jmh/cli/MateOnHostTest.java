package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.bindings.Target;
import io.musabench.bindings.blas.Blas;
import io.musabench.bindings.collective.Communicators;
import io.musabench.bindings.mate.MateInstallation;
import io.musabench.jmh.TinyModel;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Sample;
import io.musabench.results.run.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whole runs with mate's test double as library, on the host's runtime as a MUSA target. The double
 * checks every argument and computes; it has kernels for two query heads a KV head.
 */
class MateOnHostTest {
  private static final String TINY = TinyModel.config(128);

  @TempDir private Path folder;

  @BeforeAll
  static void requireNativeLibraries() {
    MusabenchProcess.requireNativeLibraries();
  }

  private static Path libraries() {
    return Target.nativeFolder().orElseThrow();
  }

  private static String mateFolders() {
    Path root = libraries().getParent().resolve("mate-double");
    return root.resolve("lib/python3.10/site-packages/mate/data/aot")
        + ":"
        + root.resolve("home/.cache/mate/0.2.2/mp31/cached_ops");
  }

  private static Map<String, String> properties(String mate) {
    return Map.of(
        Target.TARGET_PROPERTY,
        "musa",
        Target.RUNTIME_PROPERTY,
        libraries().resolve("libmusart_host.so").toString(),
        Target.KERNELS_PROPERTY,
        libraries().resolve("libmusabench_kernels_host.so").toString(),
        MateInstallation.DIR_PROPERTY,
        mate);
  }

  private MusabenchProcess start(Map<String, String> environment, String mate, String... arguments)
      throws IOException {
    List<String> all =
        new ArrayList<>(
            List.of(
                "run",
                "--no-roofs",
                "--output=" + folder.resolve("runs"),
                "--iterations=1",
                "--seconds=0.02"));
    all.addAll(List.of(arguments));
    return MusabenchProcess.start(
        folder, environment, properties(mate), all.toArray(String[]::new));
  }

  private RunDirectory latest() {
    return RunDirectory.open(folder.resolve("runs").resolve(RunDirectory.LATEST));
  }

  private List<CaseResult> cases() {
    return latest().read().cases();
  }

  private static void requireOk(MusabenchProcess run) throws Exception {
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.OK);
  }

  @Test
  void shouldMeasureBothLibrariesAndKeepTheNameOfThePortableCase() throws Exception {
    requireOk(
        start(
            Map.of(),
            mateFolders(),
            "PagedDecode",
            "-p",
            "batch=2q1s200",
            "-p",
            "heads=4:2:128",
            "-p",
            "page=64"));
    assertThat(cases()).extracting(CaseResult::status).containsExactly(Status.OK, Status.OK);
    assertThat(cases().get(0).id())
        .isEqualTo(
            "attention.PagedDecode:batch=2q1s200;cache=cold;causal=true;dtype=bf16;heads=4:2:128;"
                + "page=64;seed=1;softcap=0;splits=0;window=-1");
    CaseResult mate = cases().get(1);
    assertThat(mate.param("library")).isEqualTo("mate");
    assertThat(mate.kernel()).isEqualTo("paged_attention");
    assertThat(mate.shape()).isEqualTo(cases().get(0).shape());
    assertThat(mate.note())
        .containsPattern(
            "mate: fmha_fwd_\\p{XDigit}{64} \\+ fmha_fwd_combine_bf16_16x64x16_ragged_q")
        .contains("fmha_get_metadata_2x1_ragged_q_padded_k_causal_packgqa", "splits 2");
    assertThat(Files.readString(latest().path().resolve("jmh.json")))
        .contains("\"library\" : \"mate\"")
        .doesNotContain("\"library\" : \"portable\"");
    // [[out, lse], splits]: two tensors a launch, none of them allocated anew while timing.
    assertThat(metric(mate, "alloc.tensors")).containsExactly(2.0);
    assertThat(metric(mate, "alloc.misses")).containsExactly(0.0);
    assertThat(metric(mate, "alloc.time")).isNotEmpty().allMatch(ns -> ns > 0);
    assertThat(metric(cases().get(0), "alloc.tensors")).isEmpty();
  }

  private List<Double> metric(CaseResult result, String name) {
    return latest().readSamples().stream()
        .filter(s -> s.caseId().equals(result.id()) && s.metric().equals(name))
        .map(Sample::value)
        .toList();
  }

  @Test
  void shouldBeRightWhateverAKernelEngineerVariesOrSayWhyItCannotBe() throws Exception {
    String paged = "PagedDecode library=mate heads=4:2:128 batch=2q1s200 ";
    String prefill = "FmhaPrefill library=mate ";
    MusabenchProcess checks =
        MusabenchProcess.start(
            CheckedCases.class,
            folder,
            Map.of(),
            properties(mateFolders()),
            paged + "page=64 metadata=without,only",
            paged + "page=64 splits=3 packGqa=false mpMargin=1",
            paged + "page=64 softcap=20",
            paged + "page=64 window=64",
            paged + "page=1,16",
            prefill + "heads=4:2:128 batch=q300 backend=auto,mubin,mutlass",
            prefill + "heads=4:2:128,4:2:600 batch=q32 backend=mubin softcap=0,30",
            "MlaDecode heads=4:1:576/512,128:1:576/512 batch=2q1s100 metadata=only");
    assertThat(checks.exitCode()).as(checks.text()).isZero();
    List<String> lines = checks.text().lines().toList();
    assertThat(lines)
        .filteredOn(line -> line.endsWith(": right"))
        .hasSize(2 + 1 + 1 + 1 + 2 + 3 + 1 + 2);
    assertThat(lines)
        .filteredOn(line -> line.contains(": unavailable, "))
        .hasSize(3)
        .anyMatch(line -> line.contains("backend mubin cannot run this: there is a softcap"))
        .anyMatch(line -> line.contains("no kernel for head dimensions 600/600"));
    assertThat(lines).noneMatch(line -> line.contains("nothing was compared"));
  }

  @Test
  void shouldMeasureLatentAttention() throws Exception {
    requireOk(
        start(
            Map.of(),
            mateFolders(),
            "MlaDecode",
            "-p",
            "batch=2q1s100",
            "-p",
            "heads=4:1:576/512,128:1:576/512"));
    assertThat(cases()).hasSize(2).allMatch(CaseResult::ok);
    assertThat(cases())
        .extracting(CaseResult::note)
        .anyMatch(note -> note.contains("mla_with_kvcache"))
        .anyMatch(note -> note.contains("flash_mla_asm"));
  }

  @Test
  void shouldSkipOnlyTheCasesWhoseKernelIsMissingAndSayHowToBuildIt() throws Exception {
    MusabenchProcess run =
        start(
            Map.of(),
            mateFolders(),
            "PagedDecode",
            "-p",
            "batch=2q1s200",
            "-p",
            "heads=4:2:128,10:2:128",
            "-p",
            "page=64",
            "-p",
            "library=mate");
    requireOk(run);
    assertThat(cases()).extracting(CaseResult::status).containsExactly(Status.OK, Status.SKIPPED);
    String reason = cases().get(1).reason();
    assertThat(reason)
        .containsPattern("mate kernel fmha_fwd_\\p{XDigit}{64}: there is no file")
        .contains(mateFolders().split(":")[0], "python -m mate.aot", "-Dmusabench.mate.dir");
    assertThat(run.text()).contains("skipped: attention.PagedDecode", "1 of 2 cases were skipped");
  }

  @Test
  void shouldNotTakeARunForAMeasurementWhoseEveryCaseWasSkipped() throws Exception {
    MusabenchProcess run =
        start(
            Map.of(),
            folder.resolve("nothing").toString(),
            "FmhaPrefill",
            "-p",
            "library=mate",
            "-p",
            "batch=q32");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.NO_TARGET);
    assertThat(cases().get(0).reason()).contains("nothing: no such folder");
  }

  @Test
  void shouldReportAnErrorThatAKernelRaisesWithKindMessageAndBacktrace() throws Exception {
    MusabenchProcess run =
        start(
            Map.of("MATE_DOUBLE_RAISE", "fmha_fwd:6"),
            mateFolders(),
            "PagedDecode",
            "-p",
            "batch=2q1s200",
            "-p",
            "heads=4:2:128",
            "-p",
            "page=64",
            "-p",
            "library=mate");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(cases().get(0).status()).isEqualTo(Status.FAILED);
    assertThat(cases().get(0).reason())
        .contains(
            "InternalError", "the test asked for this error", "mate test double, in fmha_fwd");
  }

  @Test
  void shouldRunStepsWithMateEagerAndAsAGraph() throws Exception {
    Path model = Files.writeString(folder.resolve("config.json"), TINY);
    requireOk(
        start(
            Map.of(),
            mateFolders(),
            "DecodeStep",
            "-p",
            "model=" + model,
            "-p",
            "batch=2q1s100",
            "-p",
            "page=64",
            "-p",
            "mode=eager,graph",
            "--stop=samples:5",
            "--ceiling=30"));
    assertThat(cases()).hasSize(2).allMatch(CaseResult::ok);
    for (CaseResult step : cases()) {
      assertThat(step.param("library")).isEqualTo("mate");
      assertThat(step.note()).contains("mate: fmha_fwd_");
      // One schedule a step, one attention a layer.
      assertThat(step.parts())
          .extracting(part -> part.role() + " " + part.count())
          .contains("attention_schedule 1", "attention 3");
    }
  }

  @Test
  void shouldSkipMateOnATargetThatItDoesNotRunOnAndAnAllReduceWithoutASecondDevice()
      throws Exception {
    MusabenchProcess run =
        MusabenchProcess.start(
            folder,
            Map.of(),
            "run",
            "--no-roofs",
            "--output=" + folder.resolve("runs"),
            "PagedDecode",
            "AllReduce",
            "-p",
            "library=mate",
            "-p",
            "batch=q1s64");
    assertThat(run.exitCode()).as(run.text()).isEqualTo(ExitCode.NO_TARGET);
    assertThat(cases()).hasSize(3).allMatch(c -> c.status() == Status.SKIPPED);
    assertThat(cases().get(0).reason()).contains("mate's kernels run on MUSA devices", "host");
    assertThat(cases().get(1).reason())
        .contains("an all-reduce of 2 ranks needs 2 devices, and the target host has 1");
  }

  private static Path vendorLibrary(String file) {
    return libraries().resolveSibling(file);
  }

  @Test
  void shouldMeasureProductsByTheVendorsBlasBesideThePortableAndAnAllReduceOfTwoDevices()
      throws Exception {
    MusabenchProcess run =
        MusabenchProcess.start(
            folder,
            Map.of("MUSART_HOST_DEVICES", "2"),
            Map.of(
                Blas.LIBRARY_PROPERTY,
                vendorLibrary("blas/libmublas.so").toString(),
                Communicators.LIBRARY_PROPERTY,
                vendorLibrary("collective/libmccl.so").toString()),
            "run",
            "--no-roofs",
            "--iterations=1",
            "--seconds=0.02",
            "--output=" + folder.resolve("runs"),
            "--stop=samples:7",
            "--ceiling=30",
            "AllReduce",
            "Gemm",
            "-p",
            "tokens=2",
            "-p",
            "projection=64x32");
    requireOk(run);
    assertThat(cases()).hasSize(4).allMatch(CaseResult::ok);
    CaseResult eager = cases().get(0);
    assertThat(eager.param("mode")).isEqualTo("eager");
    assertThat(cases().get(1).param("mode")).isEqualTo("graph");
    assertThat(eager.shape()).isEqualTo("elements=2048 ranks=2");
    assertThat(eager.work().bytes()).isEqualTo(2048 * 2); // 2 (p - 1) / p of the tensor
    assertThat(eager.check()).contains("values, worst error");
    assertThat(eager.note()).contains("mcclAllReduce of ", "libmccl.so");
    assertThat(eager.samples()).isEqualTo(7);
    assertThat(eager.conditions().unmet()).isEmpty();

    List<CaseResult> products = cases().subList(2, 4);
    assertThat(products).extracting(CaseResult::kernel).containsOnly("gemm");
    assertThat(products).extracting(c -> c.param("library")).containsExactly("", "blas");
    assertThat(products.get(1).note()).contains("libmublas.so");
  }
}
