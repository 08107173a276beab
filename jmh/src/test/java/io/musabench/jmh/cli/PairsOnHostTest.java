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
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code ab} and {@code qualify} on the host device. */
class PairsOnHostTest {
  private static final String HANG = "MUSART_HOST_FAULTS=kernel:rms_norm:100=hang";

  @TempDir private Path folder;

  @BeforeAll
  static void requireNativeLibraries() {
    MusabenchProcess.requireNativeLibraries();
  }

  private MusabenchProcess start(String command, String... arguments) throws IOException {
    List<String> all = new ArrayList<>(List.of("--seconds=0.02", "--iterations=1"));
    all.addAll(List.of(arguments));
    return measure(command, "^elementwise.RmsNorm$", all.toArray(String[]::new));
  }

  private MusabenchProcess measure(String command, String benchmark, String... arguments)
      throws IOException {
    List<String> all =
        new ArrayList<>(
            List.of(
                command,
                benchmark,
                "--pairs=4",
                "--output=" + folder.resolve("runs"),
                "--baselines=" + folder.resolve("baselines")));
    all.addAll(List.of(arguments));
    return MusabenchProcess.start(folder, Map.of(), all.toArray(String[]::new));
  }

  private List<RunDirectory> runs() throws IOException {
    try (Stream<Path> runs = Files.list(folder.resolve("runs"))) {
      return runs.filter(run -> !run.endsWith(RunDirectory.LATEST))
          .sorted()
          .map(RunDirectory::open)
          .toList();
    }
  }

  @Test
  void shouldSayWhatWasInjected() throws Exception {
    MusabenchProcess ab = start("ab", "--inject=95%");
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
    }
    for (RunDirectory run : runs()) {
      boolean slowed = run.read().environment().versions().containsKey(Environment.INJECTED);
      assertThat(lines(run.path().resolve("jmh.log")))
          .filteredOn(line -> line.startsWith("# VM options:"))
          .hasSize(4)
          .allMatch(line -> line.contains("-Dmusabench.inject=0.95") == slowed);
    }
  }

  @Test
  void shouldTakeTurnsWithinAPair() throws Exception {
    // Large and slow enough for several turns a session, each of few of the many copies.
    MusabenchProcess ab =
        measure(
            "ab",
            "^gemm.Gemm$",
            "-p",
            "projection=1024x1024",
            "-p",
            "tokens=512",
            "--b=X=1",
            "--iterations=2",
            "--seconds=0.3");
    assertThat(ab.exitCode()).as(ab.text()).isIn(0, 1);
    List<Set<Double>> turns = new ArrayList<>();
    for (RunDirectory run : runs()) {
      assertThat(run.read().environment().versions()).containsEntry(PairRunner.TURNS, "samples");
      List<Sample> samples = run.readSamples();
      assertThat(samples.stream().filter(s -> s.metric().equals(Sample.TURN)))
          .hasSameSizeAs(
              samples.stream().filter(s -> s.metric().equals(Sample.DEVICE_TIME)).toList());
      turns.add(new HashSet<>(turnsOfFirstFork(samples, 1)));
      // Checks have a turn, and so has what is done before the next session's samples.
      assertThat(Collections.min(turnsOfFirstFork(samples, 2)))
          .isEqualTo(Collections.max(turnsOfFirstFork(samples, 1)) + 3);
    }
    assertThat(turns.get(0)).hasSizeGreaterThan(2);
    turns.get(0).retainAll(turns.get(1));
    assertThat(turns.get(0)).hasSizeGreaterThan(2);
  }

  private static List<Double> turnsOfFirstFork(List<Sample> samples, int iteration) {
    return samples.stream()
        .filter(s -> s.metric().equals(Sample.TURN) && s.fork() == 1 && s.iteration() == iteration)
        .map(Sample::value)
        .toList();
  }

  @Test
  void shouldTakeTurnsForTimesOfTheHostToo() throws Exception {
    MusabenchProcess ab =
        measure("ab", "^launch.GraphCapture$", "--b=X=1", "--iterations=1", "--seconds=0.2");
    assertThat(ab.exitCode()).as(ab.text()).isIn(0, 1);
    for (RunDirectory run : runs()) {
      List<Sample> samples = run.readSamples();
      assertThat(new HashSet<>(turnsOfFirstFork(samples, 1))).hasSizeGreaterThan(2);
      assertThat(samples.stream().filter(s -> s.metric().equals(Sample.TURN)))
          .hasSameSizeAs(
              samples.stream().filter(s -> s.metric().equals(Sample.HOST_TIME)).toList());
    }
  }

  @Test
  void shouldCheckEveryStepThatWasTakenInTurns() throws Exception {
    Path model = Files.createDirectory(folder.resolve("tiny")).resolve("config.json");
    Files.writeString(model, TinyModel.config(64));
    MusabenchProcess ab =
        measure(
            "ab",
            "^step.DecodeStep$",
            "--b=X=1",
            "--iterations=1",
            "--seconds=0.3",
            "-p",
            "model=" + model,
            "-p",
            "batch=4q1s1k",
            "-p",
            "mode=eager,graph");
    assertThat(ab.exitCode()).as(ab.text()).isIn(0, 1);
    for (RunDirectory run : runs()) {
      assertThat(run.read().cases()).hasSize(2).allMatch(CaseResult::ok);
      // A step by itself: its kernels and the costs of its graph would only take time.
      assertThat(run.read().cases()).allMatch(c -> c.parts().isEmpty());
    }
  }

  @Test
  void shouldRunForksOneAfterTheOtherIfAsked() throws Exception {
    MusabenchProcess ab = start("ab", "--b=X=1", "--turns=forks");
    assertThat(ab.exitCode()).as(ab.text()).isIn(0, 1);
    for (RunDirectory run : runs()) {
      assertThat(run.read().environment().versions()).containsEntry(PairRunner.TURNS, "forks");
      assertThat(run.readSamples()).noneMatch(s -> s.metric().equals(Sample.TURN));
    }
    assertThat(start("ab", "--b=X=1", "--turns=sample").exitCode()).isEqualTo(64);
  }

  @ParameterizedTest
  @CsvSource({"a, 0, 3", "b, 1, 1"})
  void shouldBlameTheForkThatHangsAndMeasureItsPartnerByItself(String side, int hung, int code)
      throws Exception {
    MusabenchProcess ab = start("ab", "--" + side + "=" + HANG, "--time-limit=4");
    assertThat(ab.exitCode()).as(ab.text()).isEqualTo(code);
    CaseResult result = runs().get(hung).read().cases().get(0);
    assertThat(result.status()).isEqualTo(Status.TIMEOUT);
    assertThat(result.reason()).contains("without a result");
    assertThat(runs().get(1 - hung).read().cases().get(0).ok()).isTrue();
  }

  @Test
  void shouldSayOfAForkThatCrashedThatItDidWhereItsPartnerFailed() throws Exception {
    MusabenchProcess ab =
        start(
            "ab",
            "--a=MUSART_HOST_FAULTS=kernel:rms_norm:1=crash",
            "--b=MUSART_HOST_FAULTS=kernel:rms_norm:1+=wrong");
    assertThat(ab.exitCode()).as(ab.text()).isEqualTo(1);
    assertThat(runs().get(0).read().cases().get(0).reason()).startsWith("fork 1 crashed: ");
    assertThat(runs().get(1).read().cases().get(0).reason()).contains("wrong result");
  }

  /** Comparing a pair of which B hangs in its turn. */
  private MusabenchProcess hanging() throws Exception {
    MusabenchProcess ab = start("ab", "--b=" + HANG);
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
        fork.onExit().get(20, TimeUnit.SECONDS);
      }
    } finally {
      forks.forEach(ProcessHandle::destroyForcibly);
    }
  }

  @Test
  void shouldGiveEachSideItsOwnEnvironmentAndLibraries() throws Exception {
    // The variable reaches the forks of B alone: there every result is damaged.
    MusabenchProcess ab = start("ab", "--b=MUSART_HOST_FAULTS=kernel:rms_norm:1+=wrong");
    assertThat(ab.exitCode()).as(ab.text()).isEqualTo(1);
    assertThat(ab.text()).contains("Missing in the candidate").contains("wrong result");
    assertThat(runs().get(0).read().cases().get(0).ok()).isTrue();
    assertThat(runs().get(1).read().cases().get(0).reason()).contains("wrong result");
  }

  @Test
  void shouldBlameTheSideThatCrashes() throws Exception {
    MusabenchProcess ab = start("ab", "--b=MUSART_HOST_FAULTS=kernel:rms_norm:1=crash");
    assertThat(ab.exitCode()).as(ab.text()).isEqualTo(1);
    assertThat(runs().get(0).read().cases().get(0).ok()).isTrue();
    assertThat(runs().get(1).read().cases().get(0).reason()).contains("fork 4 crashed");
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
