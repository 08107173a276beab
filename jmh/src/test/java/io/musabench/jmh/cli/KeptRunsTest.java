package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.results.run.EnvironmentKey;
import io.musabench.results.run.RunDirectory;
import java.nio.file.Files;
import java.nio.file.Path;
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
    assertThat(run("baseline", "--baselines", kept, "list")).isZero();
    assertThat(out.toString()).contains("No baselines");
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
