package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.results.run.Environment;
import io.musabench.results.run.EnvironmentKey;
import io.musabench.results.run.RunDirectory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands {@code baseline} and {@code history}, and {@code compare --baseline}. */
class KeptRunsTest extends CommandTest {
  @TempDir Path folder;

  private Path measured(int day, double us) {
    return MadeUpRun.write(folder.resolve("runs"), day, "MTT S5000", 10, us);
  }

  @Test
  void aBaselineIsSavedListedShownAndComparedWith() {
    Path kept = folder.resolve("baselines");
    assertThat(run("baseline", "save", measured(1, 100), "main", "--baselines", kept)).isZero();
    assertThat(out.toString()).contains("Saved as main of mtt-s5000");
    assertThat(run("baseline", "--baselines", kept, "list")).isZero();
    assertThat(out.toString()).contains("mtt-s5000  main  2026-01-02T00:00:00Z");
    assertThat(run("baseline", "--baselines", kept, "show", "main")).isZero();
    assertThat(out.toString()).contains("attention.PagedDecode:batch=8q1s4k", "100 us");
    assertThat(
            run("compare", "--baselines", kept, "--baseline", "main", measured(2, 100), "--strict"))
        .isZero();
    assertThat(run("compare", "--baselines", kept, "--baseline", "main", measured(3, 103)))
        .isEqualTo(1);
    assertThat(out.toString()).contains("SLOWER");
  }

  @Test
  void aFolderThatIsNotThereIsNoEmptyOne() throws Exception {
    Path absent = folder.resolve("absent");
    for (Object[] command :
        new Object[][] {
          {"history", "--history", absent},
          {"baseline", "list", "--baselines", absent},
          {"compare", "--baselines", absent, measured(1, 100), measured(2, 100)},
          {"report", "--baselines", absent, measured(1, 100), measured(2, 100), "-o", "-"}
        }) {
      assertThat(run(command)).isEqualTo(ExitCode.USAGE);
      assertThat(err.toString().lines()).hasSize(1);
      assertThat(err.toString()).startsWith("musabench: There is no ").contains(absent.toString());
      assertThat(out.toString()).isEmpty();
    }
    Path empty = Files.createDirectory(folder.resolve("empty"));
    assertThat(run("history", "--history", empty)).isZero();
    assertThat(out.toString()).isEqualTo("The history " + empty + " has no runs yet\n");
    assertThat(run("baseline", "list", "--baselines", empty)).isZero();
    assertThat(out.toString()).isEqualTo("No baselines in " + empty + "\n");
    assertThat(run("history", "--history", absent, measured(3, 100))).isZero();
  }

  @Test
  void whatIsNoFolderOfTheirsIsRefused() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "");
    Path loop = Files.createSymbolicLink(folder.resolve("loop"), Path.of("loop"));
    for (Path wrong : new Path[] {file, loop}) {
      assertThat(run("history", "--history", wrong)).isEqualTo(ExitCode.USAGE);
      assertThat(err.toString().lines()).hasSize(1);
      assertThat(err.toString()).startsWith("musabench: Cannot read " + wrong);
      assertThat(run("baseline", "list", "--baselines", wrong)).isEqualTo(ExitCode.USAGE);
      assertThat(err.toString()).startsWith("musabench: Cannot read " + wrong);
    }
    Path runs = measured(1, 100).getParent();
    assertThat(run("history", "--history", runs)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("is not a file of the history");
  }

  @Test
  void aHistoryMayBeBehindALink() throws Exception {
    Path history = Files.createDirectory(folder.resolve("history"));
    Path link = Files.createSymbolicLink(folder.resolve("link"), history);
    assertThat(run("history", "--history", link, measured(1, 100))).isZero();
    assertThat(run("history", "--history", link)).isZero();
    assertThat(out.toString()).startsWith("No changes in 1 series");
    assertThat(Files.readString(history.resolve("otava.yaml"))).contains("pageddecode");
  }

  @Test
  void oneDamagedBaselineHidesNoOther() throws Exception {
    Path kept = folder.resolve("baselines");
    run("baseline", "save", measured(1, 100), "good", "--baselines", kept);
    run("baseline", "save", measured(2, 100), "other", "--baselines", kept);
    run("baseline", "save", measured(3, 100), "last", "--baselines", kept);
    Path damaged = kept.resolve("mtt-s5000/good/cases.csv");
    Files.writeString(damaged, Files.readString(damaged).lines().findFirst().orElseThrow());
    assertThat(run("baseline", "list", "--baselines", kept)).isEqualTo(ExitCode.USAGE);
    assertThat(out.toString()).contains("  last ", "  other ").doesNotContain("  good ");
    assertThat(err.toString().lines()).hasSize(1);
    assertThat(err.toString()).startsWith("musabench: " + damaged);
    assertThat(run("baseline", "show", "other", "--baselines", kept)).isZero();
  }

  @Test
  void aRunThatWasStoppedSaysSoWhereverItIsKept() {
    Path run = measured(1, 100);
    RunDirectory directory = RunDirectory.open(run);
    directory.saveEnvironment(
        directory.read().environment().withVersions(Map.of(Environment.CASES, "35")));
    Path kept = folder.resolve("baselines");
    assertThat(run("baseline", "save", run, "main", "--baselines", kept)).isZero();
    assertThat(out.toString()).contains("; partial: 1 of its 35 cases");
    assertThat(run("baseline", "list", "--baselines", kept)).isZero();
    assertThat(out.toString()).contains("1, partial: 1 of its 35 cases");
    assertThat(run("baseline", "show", "main", "--baselines", kept)).isZero();
    assertThat(out.toString()).contains("partial: 1 of its 35 cases");
    assertThat(run("history", "--history", folder.resolve("history"), run)).isZero();
    assertThat(out.toString()).contains("1 cases added; partial: 1 of its 35 cases");
    assertThat(run("compare", run, measured(2, 100))).isZero();
    assertThat(out.toString()).contains(", partial: 1 of its 35 cases");
    assertThat(run("report", run, "--format", "md")).isZero();
    assertThat(out.toString()).contains("warning: partial: 1 of its 35 cases");
  }

  @Test
  void noiseFloorsThatCannotBeReadAreNoMissingOnes() throws Exception {
    Path kept = folder.resolve("baselines");
    Path base = measured(1, 100);
    Path noise = Files.createDirectories(kept.resolve("mtt-s5000")).resolve("noise.csv");
    Files.createSymbolicLink(noise, Path.of("noise.csv"));
    assertThat(run("compare", "--baselines", kept, base, measured(2, 103)))
        .isEqualTo(ExitCode.USAGE);
    assertThat(err.toString().lines()).hasSize(1);
    assertThat(err.toString()).startsWith("musabench: Cannot read " + noise);
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void aBaselineOfAnotherDeviceIsNotTaken() {
    Path kept = folder.resolve("baselines");
    run("baseline", "save", measured(1, 100), "main", "--baselines", kept);
    Path other = MadeUpRun.write(folder.resolve("runs"), 2, "MTT S4000", 10, 100);
    assertThat(run("compare", "--baselines", kept, "--baseline", "main", other)).isEqualTo(64);
    assertThat(err.toString()).contains("no baseline main of mtt-s4000");
  }

  @Test
  void wrongBaselinesAreUsage() {
    Path kept = folder.resolve("baselines");
    Path run = measured(1, 100);
    assertThat(run("baseline")).isEqualTo(64);
    assertThat(run("baseline", "--baselines", kept, "save", run, "a/b")).isEqualTo(64);
    assertThat(run("baseline", "--baselines", kept, "save", run, "main")).isZero();
    assertThat(run("baseline", "--baselines", kept, "save", run, "main")).isEqualTo(64);
    assertThat(run("baseline", "--baselines", kept, "save", run, "main", "--force")).isZero();
    assertThat(run("baseline", "--baselines", kept, "show", "mein")).isEqualTo(64);
    assertThat(err.toString()).contains("did you mean main?");
    Path absent = folder.resolve("absent");
    assertThat(run("baseline", "--baselines", kept, "save", absent, "x")).isEqualTo(64);
    assertThat(err.toString().lines()).hasSize(1);
  }

  @Test
  void whatCannotBeWrittenIsNoUsage() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "");
    Path run = measured(1, 100);
    assertThat(run("baseline", "--baselines", file, "save", run, "main")).isEqualTo(74);
    assertThat(err.toString().lines()).hasSize(1).first().asString().contains("Cannot make");
    assertThat(run("history", "--history", file, run)).isEqualTo(74);
    assertThat(err.toString().lines()).hasSize(1).first().asString().contains("Cannot write");
  }

  @Test
  void theNameOfTheNoiseFloorsIsTaken() {
    Path kept = folder.resolve("baselines");
    Path run = measured(1, 100);
    assertThat(run("baseline", "--baselines", kept, "save", run, "noise.csv")).isEqualTo(64);
    assertThat(run("baseline", "--baselines", kept, "save", run, "Noise.CSV")).isEqualTo(64);
    assertThat(run("baseline", "--baselines", kept, "save", run, "noise")).isZero();
  }

  @Test
  void anUnknownConditionToAcceptNamesTheNearest() {
    Path base = measured(1, 100);
    Path candidate = measured(2, 100);
    assertThat(run("compare", "--accept", "drivr", base, candidate)).isEqualTo(64);
    assertThat(err.toString()).contains("unknown condition", "did you mean driver?");
    assertThat(run("compare", "--accept", "driver", base, candidate)).isZero();
  }

  @Test
  void noiseFloorsRaiseTheTolerance() throws Exception {
    Path kept = folder.resolve("baselines");
    Path base = measured(1, 100);
    Path candidate = measured(2, 103);
    Files.createDirectory(kept);
    assertThat(run("compare", "--baselines", kept, base, candidate)).isEqualTo(1);
    String key = EnvironmentKey.of(RunDirectory.open(base).read().environment());
    Files.createDirectories(kept.resolve("mtt-s5000"));
    Files.writeString(
        kept.resolve("mtt-s5000/noise.csv"),
        "schema_version,environment,case,noise_percent,pairs\n1,"
            + key
            + ",attention.PagedDecode:batch=8q1s4k,2.5,10\n");
    assertThat(run("compare", "--baselines", kept, base, candidate)).isZero();
    assertThat(out.toString()).contains("5.0 %");
  }

  @Test
  void theHistoryNamesTheFirstBadRun() {
    Path history = folder.resolve("history");
    for (int day = 1; day <= 20; day++) {
      assertThat(run("history", "--history", history, measured(day, day > 12 ? 105 : 100)))
          .isZero();
    }
    assertThat(run("history", "--history", history)).isZero();
    assertThat(out.toString()).contains("+5.", "slower", "20260114T000000Z-musa");
    assertThat(run("history", "--history", history, "--fail-within", "8")).isEqualTo(1);
    assertThat(run("history", "--history", history, "--fail-within", "7")).isZero();
    assertThat(run("history", "--history", history, "--fail-within", "-1")).isEqualTo(64);
    assertThat(run("history", "--history", history, "--case", "Gemm")).isZero();
    assertThat(out.toString()).contains("No changes in 0 series");
    assertThat(run("history", "--history", history, "--case", "(")).isEqualTo(64);
    assertThat(run("history", "--history", history, folder.resolve("absent"))).isEqualTo(64);
  }

  @Test
  void devicesAreSetSideBySideWithoutAVerdict() {
    Path a = measured(1, 100);
    Path b = MadeUpRun.write(folder.resolve("runs"), 2, "MTT S4000", 1, 250);
    assertThat(run("compare", "--across-devices", a, b)).isZero();
    assertThat(out.toString()).contains("MTT S5000", "MTT S4000", "2.50").doesNotContain("SLOWER");
    assertThat(run("compare", "--across-devices", a)).isEqualTo(64);
    assertThat(run("compare", "--across-devices", a, b, "--baseline", "main")).isEqualTo(64);
    assertThat(run("compare", "--across-devices", a, folder)).isEqualTo(64);
    assertThat(run("compare", "--across-devices", a, b, "--format", "md")).isEqualTo(64);
  }
}
