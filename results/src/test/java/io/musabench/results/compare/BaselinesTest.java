package io.musabench.results.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.Work;
import io.musabench.results.run.Environment.DeviceInfo;
import io.musabench.results.run.RunException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BaselinesTest {
  @TempDir Path folder;
  private Baselines baselines;

  @BeforeEach
  void inAFolderThatIsNotThereYet() {
    baselines = new Baselines(folder.resolve("results/baselines"));
  }

  private Path run(int forks) {
    return new RunFixture(folder.resolve("runs"), forks)
        .device("attention.PagedDecode", Map.of(), Work.NONE, forks, 100)
        .write();
  }

  @Test
  void aSavedRunComparesAsTheRunItself() throws IOException {
    Path run = run(10);
    Baselines.Baseline saved = baselines.save(run, "v1.0", false);
    assertThat(saved.path()).isEqualTo(folder.resolve("results/baselines/mtt-s5000/v1.0"));
    Comparison comparison = Runs.compare(saved.path(), run);
    assertThat(comparison.rows())
        .allMatch(r -> r.verdict() == Verdict.SAME && r.ratio().value() == 0);
    assertThat(Files.readString(saved.path().resolve("samples.csv"))).doesNotContain("qkv");
    assertThat(baselines.list()).containsExactly(saved);
    assertThat(baselines.find("mtt-s5000", "v1.0")).isEqualTo(saved);
    assertThat(baselines.find(null, "v1.0")).isEqualTo(saved);
  }

  @Test
  void aSavedRunKnowsItsTurns() {
    Path run =
        new RunFixture(folder.resolve("runs"), 1)
            .turns()
            .device("attention.PagedDecode", Map.of(), Work.NONE, 4, 100)
            .write();
    MeasuredRun saved = MeasuredRun.read(baselines.save(run, "v1.0", false).path());
    assertThat(saved.cases().get("attention.PagedDecode").forks())
        .isEqualTo(MeasuredRun.read(run).cases().get("attention.PagedDecode").forks())
        .allSatisfy(fork -> assertThat(fork.turns()).hasSize(5));
  }

  @Test
  void aNameThatTwoDevicesHaveNeedsTheDevice() {
    baselines.save(run(4), "main", false);
    DeviceInfo s4000 = new DeviceInfo("MTT S4000", "MUSA", 0, null, 48L << 30, "2.7.0", "4.2.0");
    Path other =
        new RunFixture(folder.resolve("runs"), 9)
            .device("musa", s4000)
            .device("attention.PagedDecode", Map.of(), Work.NONE, 4, 100)
            .write();
    baselines.save(other, "main", false);
    baselines.save(other, "other", false);
    assertThat(baselines.find("mtt-s4000", "main").device()).isEqualTo("mtt-s4000");
    assertThat(baselines.find("mtt-s5000", "main").device()).isEqualTo("mtt-s5000");
    assertThat(baselines.find(null, "other").device()).isEqualTo("mtt-s4000");
    assertThatThrownBy(() -> baselines.find(null, "main"))
        .hasMessage("Several devices have a baseline main: mtt-s4000, mtt-s5000");
    assertThatThrownBy(() -> baselines.find("mtt-s5000", "other"))
        .hasMessageStartingWith("There is no baseline other of mtt-s5000");
    assertThatThrownBy(() -> baselines.find(null, "unheard"))
        .hasMessageMatching("There is no baseline unheard(?! of).*");
  }

  @Test
  void anotherOfThatNameIsRefusedUnlessMeant() {
    baselines.save(run(4), "main", false);
    assertThatThrownBy(() -> baselines.save(run(5), "main", false))
        .isInstanceOf(RunException.class)
        .hasMessageContaining("already");
    baselines.save(run(5), "main", true);
    assertThat(MeasuredRun.read(baselines.find(null, "main").path()).cases().values())
        .allMatch(c -> c.forks().size() == 5);
  }

  @Test
  void aReplacedBaselineKeepsNothingOfTheOldOne() throws IOException {
    Path path = baselines.save(run(4), "main", false).path();
    Files.writeString(path.resolve("jmh.json"), "[]");
    baselines.save(run(5), "main", true);
    assertThat(path.resolve("jmh.json")).doesNotExist();
    try (Stream<Path> all = Files.list(path.getParent())) {
      assertThat(all).containsExactly(path);
    }
  }

  @Test
  void whatASaveThatWasKilledLeftBehindIsNoBaselineAndNoObstacle() throws IOException {
    Path path = baselines.save(run(4), "main", false).path();
    for (String left : List.of(".main.new", ".main.old")) {
      Files.writeString(Files.createDirectory(path.resolveSibling(left)).resolve("x"), "");
    }
    assertThat(baselines.list()).extracting(Baselines.Baseline::name).containsExactly("main");
    baselines.save(run(5), "main", true);
    try (Stream<Path> all = Files.list(path.getParent())) {
      assertThat(all).containsExactly(path);
    }
    assertThat(path.resolve("x")).doesNotExist();
  }

  @Test
  void aSaveThatFailsLeavesTheOldBaselineAndNothingElse() throws IOException {
    Path path = baselines.save(run(4), "main", false).path();
    // No run directory has folders, so this one is not deleted to make room.
    Path foreign = Files.createDirectories(path.resolveSibling(".main.old").resolve("folder/x"));
    assertThatThrownBy(() -> baselines.save(run(5), "main", true))
        .isInstanceOf(RunException.class)
        .hasMessageContaining("Cannot write " + path);
    try (Stream<Path> all = Files.list(path.getParent())) {
      assertThat(all).containsExactlyInAnyOrder(path, foreign.getParent().getParent());
    }
    assertThat(MeasuredRun.read(path).cases().values()).allMatch(c -> c.forks().size() == 4);
  }

  @Test
  void wrongNamesAreToldTheNearest() {
    baselines.save(run(4), "main", false);
    assertThatThrownBy(() -> baselines.find("mtt-s5000", "mian"))
        .hasMessageContaining("did you mean main?");
    assertThatThrownBy(() -> baselines.save(run(4), "../up", false)).hasMessageContaining("../up");
    assertThatThrownBy(() -> baselines.save(run(4), "", false)).hasMessageContaining("letters");
  }

  @Test
  void aRunThatCanJudgeNothingIsRefused() {
    assertThatThrownBy(() -> baselines.save(run(3), "main", false))
        .hasMessageContaining("fewer than 4 forks");
    assertThat(baselines.list()).isEmpty();
  }

  @Test
  void noiseFloorsAreOfOneEnvironmentAndReplacedByCase() {
    NoiseFloors noise = baselines.noise("mtt-s5000");
    assertThat(noise.read("e1")).isEmpty();
    NoiseFloors.Floor small = NoiseFloors.Floor.of(LogRatio.ofPairs(0.001, -0.001, 0.001, -0.001));
    noise.add("e1", Map.of("a", small, "b", small));
    noise.add("e2", Map.of("a", new NoiseFloors.Floor(0.5, 4)));
    noise.add("e1", Map.of("a", new NoiseFloors.Floor(0.02, 10)));
    assertThat(noise.read("e1")).hasSize(2).containsEntry("a", 0.02);
    // t(0.975, 3) · 0.001155 / 2 = 3.182 · 0.000577
    assertThat(noise.read("e1").get("b")).isCloseTo(0.00184, within(0.00001));
    assertThat(noise.read("e2")).hasSize(1);
  }

  @Test
  void damagedNoiseFloorsAreNamed() throws IOException {
    NoiseFloors noise = baselines.noise("mtt-s5000");
    noise.add("e1", Map.of("a", new NoiseFloors.Floor(0.02, 10)));
    String text = Files.readString(noise.file());
    Files.writeString(noise.file(), text.replace("\n1,", "\n2,"));
    assertThatThrownBy(() -> noise.read("e1")).hasMessageContaining("schema version 2");
    for (String bad : List.of("x", "NaN", "Infinity", "-1")) {
      Files.writeString(noise.file(), text.replace("2.0", bad));
      assertThatThrownBy(() -> noise.read("e1"))
          .as(bad)
          .isInstanceOf(RunException.class)
          .hasMessageContaining(noise.file().toString());
    }
  }

  @Test
  void noiseFloorsWithoutHeaderAreLeftAsTheyAre() throws IOException {
    NoiseFloors noise = baselines.noise("mtt-s5000");
    noise.add("e1", Map.of("a", new NoiseFloors.Floor(0.02, 10)));
    baselines.checkNoise();
    Files.writeString(noise.file(), "1,e1,a,2.0,10\n");
    assertThatThrownBy(() -> noise.add("e1", Map.of("b", new NoiseFloors.Floor(0.01, 10))))
        .isInstanceOf(RunException.class)
        .hasMessageContaining("its first line is not schema_version,environment");
    assertThat(Files.readString(noise.file())).isEqualTo("1,e1,a,2.0,10\n");
    assertThatThrownBy(baselines::checkNoise).isInstanceOf(RunException.class);
  }
}
