package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.jmh.TinyModel;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Sample;
import io.musabench.results.run.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** {@code ab} and {@code qualify} on the host device. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class PairsOnHostTest {
  @TempDir private static Path besideTheOthers;

  private static MusabenchProcess faulty;

  @TempDir private Path folder;

  /** A kernel that hangs needs no CPU, only its time: it hangs while the other tests run. */
  @BeforeAll
  static void startTheOneThatHangs() throws IOException {
    MusabenchProcess.requireNativeLibraries();
    // The variable reaches the forks of its side alone. They hang before they ask for a turn: which
    // of two turns was the one that hung is told by their length, and on a busy machine a turn that
    // makes what it needs may be the longer one.
    faulty =
        measure(
            besideTheOthers,
            "ab",
            "^elementwise.(FusedAddRmsNorm|KvCacheWrite|QkNormRope|RmsNorm|SiluAndMul)$",
            "--seconds=0.02",
            "--iterations=1",
            "--a=MUSART_HOST_FAULTS=kernel:kv_cache_write:1=crash;kernel:qk_norm_rope:1=hang",
            "--b=MUSART_HOST_FAULTS=kernel:rms_norm:1+=wrong;kernel:silu_and_mul:1=crash;"
                + "kernel:fused_add_rms_norm:1=hang;kernel:kv_cache_write:1+=wrong",
            "--time-limit=15");
  }

  @AfterAll
  static void endTheOneThatHangs() throws InterruptedException {
    if (faulty != null) {
      faulty.kill();
    }
  }

  private MusabenchProcess start(String command, String... arguments) throws IOException {
    List<String> all =
        new ArrayList<>(List.of("^elementwise.RmsNorm$", "--seconds=0.02", "--iterations=1"));
    all.addAll(List.of(arguments));
    return measure(folder, command, all.toArray(String[]::new));
  }

  private static MusabenchProcess measure(Path folder, String command, String... arguments)
      throws IOException {
    List<String> all =
        new ArrayList<>(
            List.of(
                command,
                "--pairs=4",
                "--output=" + folder.resolve("runs"),
                "--baselines=" + folder.resolve("baselines")));
    all.addAll(List.of(arguments));
    return MusabenchProcess.start(folder, Map.of(), all.toArray(String[]::new));
  }

  private List<RunDirectory> runs() throws IOException {
    return runs(folder);
  }

  private static List<RunDirectory> runs(Path folder) throws IOException {
    try (Stream<Path> runs = Files.list(folder.resolve("runs"))) {
      return runs.filter(run -> !run.endsWith(RunDirectory.LATEST))
          .sorted()
          .map(RunDirectory::open)
          .toList();
    }
  }

  @Test
  void shouldSayWhatWasInjectedAndRunForksOneAfterTheOtherIfAsked() throws Exception {
    MusabenchProcess ab = start("ab", "--inject=95%", "--turns=forks");
    // The verdict depends on what else this machine does; what is run and recorded does not.
    assertThat(ab.exitCode()).as(ab.text()).isIn(0, 1);
    assertThat(ab.text()).contains("times made longer by 0.95");
    assertThat(runs()).hasSize(2);
    assertThat(runs().get(0).read().environment().versions())
        .doesNotContainKey(Environment.INJECTED);
    assertThat(runs().get(1).read().environment().versions())
        .containsEntry(Environment.INJECTED, "0.95")
        .containsEntry(PairRunner.SIDE, "b");
    for (RunDirectory run : runs()) {
      assertThat(run.readSamples().stream().mapToInt(Sample::fork).max().orElseThrow())
          .isEqualTo(4);
      assertThat(run.read().environment().versions()).containsEntry(PairRunner.TURNS, "forks");
      assertThat(run.readSamples()).noneMatch(s -> s.metric().equals(Sample.TURN));
    }
    for (RunDirectory run : runs()) {
      boolean slowed = run.read().environment().versions().containsKey(Environment.INJECTED);
      assertThat(lines(run.path().resolve("jmh.log")))
          .filteredOn(line -> line.startsWith("# VM options:"))
          .hasSize(4)
          .allMatch(line -> line.contains("-Dmusabench.inject=0.95") == slowed);
      assertThat(run.read().partial()).isEmpty();
    }
    // Whoever compares the two directories later gets the same verdict on the same pairs.
    CommandTest compare = new CommandTest("compare", "--baselines=" + folder) {};
    assertThat(compare.run(runs().get(0).path(), runs().get(1).path())).isEqualTo(ab.exitCode());
    assertThat(compare.out.toString()).contains("judged by  pairs of forks");
    assertThat(ab.text()).contains(compare.out.toString());
  }

  @Test
  void shouldTakeTurnsWithinAPairAndCheckEveryStepOfThem() throws Exception {
    Path model = Files.createDirectory(folder.resolve("tiny")).resolve("config.json");
    Files.writeString(model, TinyModel.config(64));
    // Large and slow enough for several turns a session, each of few of the many copies.
    MusabenchProcess ab =
        measure(
            folder,
            "ab",
            "^gemm.Gemm$",
            "^step.DecodeStep$",
            "^launch.GraphCapture$",
            "-p",
            "projection=1024x1024",
            "-p",
            "tokens=512",
            "-p",
            "model=" + model,
            "-p",
            "batch=4q1s1k",
            "-p",
            "mode=graph",
            "--b=X=1",
            "--iterations=2",
            "--seconds=0.1",
            "--ceiling=0.3",
            "--stop=stdrel:0.00001%");
    assertThat(ab.exitCode()).as(ab.text()).isIn(0, 1);
    List<Set<Double>> turns = new ArrayList<>();
    for (RunDirectory run : runs()) {
      assertThat(run.read().environment().versions()).containsEntry(PairRunner.TURNS, "samples");
      assertThat(run.read().cases()).hasSize(3).allMatch(CaseResult::ok);
      // A step by itself: its kernels and the costs of its graph would only take time.
      assertThat(run.read().cases()).allMatch(c -> c.parts().isEmpty());
      List<Sample> samples = run.readSamples();
      for (CaseResult one : run.read().cases()) {
        boolean host = one.benchmark().startsWith("launch.");
        String time = host ? Sample.HOST_TIME : Sample.DEVICE_TIME;
        List<Sample> own = samples.stream().filter(s -> s.caseId().equals(one.id())).toList();
        assertThat(own.stream().filter(s -> s.metric().equals(Sample.TURN)))
            .isNotEmpty()
            .hasSameSizeAs(own.stream().filter(s -> s.metric().equals(time)).toList());
      }
      turns.add(new HashSet<>(turnsOfGemm(samples, 1)));
      // Checks have a turn of their own.
      assertThat(Collections.min(turnsOfGemm(samples, 2)))
          .isGreaterThan(Collections.max(turnsOfGemm(samples, 1)) + 1);
    }
    assertThat(turns.get(0)).hasSizeGreaterThan(1);
    turns.get(0).retainAll(turns.get(1));
    assertThat(turns.get(0)).hasSizeGreaterThan(1);
  }

  private static List<Double> turnsOfGemm(List<Sample> samples, int iteration) {
    return samples.stream()
        .filter(s -> s.metric().equals(Sample.TURN) && s.caseId().startsWith("gemm."))
        .filter(s -> s.fork() == 1 && s.iteration() == iteration)
        .map(Sample::value)
        .toList();
  }

  @Test
  @Order(Integer.MAX_VALUE)
  void shouldBlameTheSideThatIsWrongOrCrashesOrHangs() throws Exception {
    assertThat(faulty.exitCode()).as(faulty.text()).isEqualTo(1);
    assertThat(faulty.text()).contains("Missing in the candidate").contains("wrong result");
    RunDirectory a = runs(besideTheOthers).get(0);
    RunDirectory b = runs(besideTheOthers).get(1);
    assertThat(the(a, "RmsNorm").ok()).isTrue();
    assertThat(the(b, "RmsNorm").reason()).contains("wrong result");
    assertThat(the(a, "SiluAndMul").ok()).isTrue();
    assertThat(the(b, "SiluAndMul").reason()).contains("fork 4 crashed");
    assertThat(the(a, "KvCacheWrite").reason()).startsWith("fork 1 crashed: ");
    assertThat(the(b, "KvCacheWrite").reason()).contains("wrong result");
    // Of a fork whose partner hangs it is known that it is well: it is measured by itself.
    assertThat(the(a, "FusedAddRmsNorm").ok()).isTrue();
    assertThat(the(b, "FusedAddRmsNorm").status()).isEqualTo(Status.TIMEOUT);
    assertThat(the(b, "FusedAddRmsNorm").reason()).contains("without a result");
    assertThat(the(a, "QkNormRope").status()).isEqualTo(Status.TIMEOUT);
    assertThat(the(b, "QkNormRope").ok()).isTrue();
  }

  private static CaseResult the(RunDirectory run, String benchmark) {
    return run.read().cases().stream()
        .filter(c -> c.benchmark().equals("elementwise." + benchmark))
        .findFirst()
        .orElseThrow();
  }

  /** Comparing a pair of which B hangs in its turn. */
  private MusabenchProcess hanging() throws Exception {
    MusabenchProcess ab = start("ab", "--b=MUSART_HOST_FAULTS=kernel:rms_norm:4=hang");
    ab.awaitOutput("B       ");
    ab.awaitText(runs().get(1).path().resolve("jmh.log"), " hangs, by MUSART_HOST_FAULTS");
    assertThat(ab.descendants()).hasSize(2);
    return ab;
  }

  @Test
  void shouldKillBothForksOfAPairWhenStopped() throws Exception {
    MusabenchProcess ab = hanging();
    List<ProcessHandle> forks = ab.descendants();
    ab.signal("INT");
    assertThat(ab.exitCode()).as(ab.text()).isEqualTo(ExitCode.INTERRUPTED);
    assertThat(ab.text()).contains("Stopped. The finished cases are in");
    assertThat(forks).noneMatch(ProcessHandle::isAlive);
    for (RunDirectory run : runs()) {
      assertThat(run.read().cases()).isEmpty();
    }
  }

  @Test
  void shouldLeaveNeitherForkOfAPairBehindWhenItIsKilled() throws Exception {
    MusabenchProcess ab = hanging();
    List<ProcessHandle> forks = ab.descendants();
    ab.kill();
    try {
      for (ProcessHandle fork : forks) {
        fork.onExit().get(60, TimeUnit.SECONDS);
      }
    } finally {
      forks.forEach(ProcessHandle::destroyForcibly);
    }
  }

  @Test
  void shouldLeaveNoDirectoryWhereOneSideHasNoDevice() throws Exception {
    MusabenchProcess ab = start("ab", "--b=-Dmusabench.runtime.library=absent.so");
    assertThat(ab.exitCode()).as(ab.text()).isEqualTo(69);
    assertThat(folder.resolve("runs")).doesNotExist();
  }

  @Test
  void shouldWriteNoiseFloors() throws Exception {
    MusabenchProcess qualify = start("qualify");
    // On a machine with other work a false alarm is possible; what is written is the same.
    assertThat(qualify.exitCode()).as(qualify.text()).isIn(0, 1);
    assertThat(qualify.text()).contains("Noise floors written to").contains("noise floor");
    try (Stream<Path> files = Files.walk(folder.resolve("baselines"))) {
      assertThat(files.filter(f -> f.endsWith("noise.csv")).map(PairsOnHostTest::lines))
          .hasSize(1)
          .allSatisfy(lines -> assertThat(lines.get(1)).contains("elementwise.RmsNorm"));
    }
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
