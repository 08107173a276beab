package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.results.run.CaseResult;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Sample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Forks that find no memory beside others, but do by themselves. */
class NoRoomOnHostTest {
  private static final List<String> PARTS = List.of("lib", "conf");

  @TempDir private Path folder;

  @BeforeAll
  static void requireNativeLibraries() {
    MusabenchProcess.requireNativeLibraries();
  }

  /** Whoever deletes the folder must not come to think of what they lead to. */
  @AfterEach
  void removeLinks() throws IOException {
    for (String part : PARTS) {
      Files.deleteIfExists(folder.resolve("java").resolve(part));
    }
  }

  /**
   * Starts musabench with a Java whose forks run a line of shell first where they take turns: two
   * processes share no memory that a test could use up.
   */
  private MusabenchProcess start(String line, String... arguments) throws IOException {
    Path real = Path.of(System.getProperty("java.home"));
    Path home = Files.createDirectory(folder.resolve("java"));
    for (String part : PARTS) {
      Files.createSymbolicLink(home.resolve(part), real.resolve(part));
    }
    Path java = Files.createDirectory(home.resolve("bin")).resolve("java");
    Files.writeString(
        java,
        """
        #!/bin/sh
        case "$*" in
          *-Dmusabench.turns=*) cd '%s' && { %s; } ;;
        esac
        exec '%s' "$@"
        """
            .formatted(folder, line, real.resolve("bin/java")));
    assertThat(java.toFile().setExecutable(true)).isTrue();
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--output=" + folder.resolve("runs"), "--seconds=0.02", "--iterations=1"));
    return MusabenchProcess.start(
        folder, Map.of(), Map.of("java.home", home.toString()), all.toArray(String[]::new));
  }

  private List<RunDirectory> runs() throws IOException {
    try (Stream<Path> runs = Files.list(folder.resolve("runs"))) {
      return runs.filter(run -> !run.endsWith(RunDirectory.LATEST))
          .sorted()
          .map(RunDirectory::open)
          .toList();
    }
  }

  /** Numbers of the forks of a case that took turns. */
  private static Set<Integer> inTurns(RunDirectory run, CaseResult c) {
    return run.readSamples().stream()
        .filter(s -> s.caseId().equals(c.id()) && s.metric().equals(Sample.TURN))
        .map(Sample::fork)
        .collect(Collectors.toSet());
  }

  @Test
  void shouldGoOnWithOneForkAfterTheOtherAndKeepThePairsBefore() throws Exception {
    // The second fork of B beside one of A.
    MusabenchProcess ab =
        start(
            "[ -z \"$B\" ] || echo >> count; [ -z \"$B\" ] || [ $(wc -l < count) != 2 ]"
                + " || export MUSART_HOST_FAULTS=musaMalloc:3=2",
            "ab",
            "^elementwise.RmsNorm$",
            "-p",
            "tokens=8,16",
            "--b=B=1",
            "--pairs=4",
            "--baselines=" + folder.resolve("baselines"));
    assertThat(ab.exitCode()).as(ab.text()).isIn(0, 1); // The verdict is of this machine.
    String note = "no memory for both forks of a pair at once: from pair 2 on one after the other";
    assertThat(ab.text().lines().filter(line -> line.startsWith("Memory  ")))
        .hasSize(1)
        .allSatisfy(
            line ->
                assertThat(line)
                    .contains("elementwise.RmsNorm tokens=8: " + note)
                    .contains("failed: 2 musaErrorMemoryAllocation"));
    assertThat(ab.text()).doesNotContain("Missing").doesNotContain("Not comparable");
    List<RunDirectory> runs = runs();
    for (RunDirectory run : runs) {
      List<CaseResult> cases = run.read().cases();
      assertThat(cases).hasSize(2).allMatch(CaseResult::ok).allMatch(c -> c.forks() == 4);
      assertThat(cases.get(0).note()).contains(note);
      assertThat(cases.get(1).note()).doesNotContain("memory");
      assertThat(inTurns(run, cases.get(1))).containsExactlyInAnyOrder(1, 2, 3, 4);
    }
    assertThat(inTurns(runs.get(0), runs.get(0).read().cases().get(0))).containsExactly(1, 2);
    assertThat(inTurns(runs.get(1), runs.get(1).read().cases().get(0))).containsExactly(1);
  }

  @Test
  void shouldFailACaseForWhichThereIsNoMemoryEitherByItself() throws Exception {
    MusabenchProcess ab =
        start(
            "true",
            "ab",
            "^elementwise.RmsNorm$",
            "--b=MUSART_HOST_FAULTS=musaMalloc:3=2",
            "--pairs=4",
            "--baselines=" + folder.resolve("baselines"));
    assertThat(ab.exitCode()).as(ab.text()).isEqualTo(1);
    assertThat(ab.text()).contains("Missing in the candidate", "2 musaErrorMemoryAllocation");
    assertThat(runs().get(0).read().cases().get(0).ok()).isTrue();
  }

  @Test
  void shouldMeasureACaseByItselfWhoseForkWasKilledBesideTheOthers() throws Exception {
    MusabenchProcess run =
        start(
            "mkdir first || kill -9 $$",
            "run",
            "--together",
            "--no-roofs",
            "--forks=2",
            "^elementwise.RmsNorm$",
            "SiluAndMul");
    assertThat(run.exitCode()).as(run.text()).isZero();
    assertThat(run.text().lines().filter(line -> line.startsWith("Memory  ")))
        .hasSize(1)
        .allMatch(
            line ->
                line.endsWith(
                    ": no memory for it beside the other cases: from fork 1 on by itself"
                        + " (Forked VM failed with exit code 137)"));
    RunDirectory directory = runs().get(0);
    List<CaseResult> cases = directory.read().cases();
    assertThat(cases).allMatch(CaseResult::ok).allMatch(c -> c.forks() == 2 && c.lostForks() == 0);
    assertThat(cases.stream().map(c -> inTurns(directory, c)))
        .containsExactlyInAnyOrder(Set.of(), Set.of(1));
  }
}
