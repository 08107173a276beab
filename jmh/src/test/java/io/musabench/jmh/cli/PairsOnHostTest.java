package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.results.run.Environment;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Sample;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ab} and {@code qualify} on the host device. */
class PairsOnHostTest {
  @TempDir private Path folder;

  @BeforeAll
  static void requireNativeLibraries() {
    MusabenchProcess.requireNativeLibraries();
  }

  private MusabenchProcess start(String command, String... arguments) throws IOException {
    List<String> all =
        new ArrayList<>(
            List.of(
                command,
                "^elementwise.RmsNorm$",
                "--pairs=4",
                "--iterations=1",
                "--seconds=0.02",
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
  void shouldAlternateForksAndSayWhatWasInjected() throws Exception {
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
    List<Boolean> slowed =
        lines(runs().get(0).path().resolve("jmh.log")).stream()
            .filter(line -> line.startsWith("# VM options:"))
            .map(line -> line.contains("-Dmusabench.inject=0.95"))
            .toList();
    assertThat(slowed).containsExactly(false, true, true, false, false, true, true, false);
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
