package io.musabench.results.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.compare.MeasuredRun;
import io.musabench.results.compare.RunFixture;
import io.musabench.results.history.ChangePoints.Change;
import io.musabench.results.history.History.Series;
import io.musabench.results.model.Work;
import io.musabench.results.run.RunException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistoryTest {
  @TempDir Path folder;
  private History history;

  @BeforeEach
  void inAFolderThatIsNotThereYet() {
    history = new History(folder.resolve("results/history"));
  }

  private MeasuredRun run(int day, double us) {
    return MeasuredRun.read(
        new RunFixture(folder.resolve("runs"), day)
            .start(Instant.parse("2026-01-01T00:00:00Z").plusSeconds(86400L * day))
            .device("attention.PagedDecode", Map.of("batch", "8q1s4k"), Work.NONE, 4, us)
            .host("launch.GraphCapture", 4, 20)
            .failed("gemm.Gemm", "no")
            .write());
  }

  @Test
  void aRunIsARowACaseAndIsAddedOnce() throws IOException {
    MeasuredRun run = run(1, 100);
    assertThat(history.add(run)).isEqualTo(2);
    assertThat(history.add(run)).isZero();
    List<Series> all = history.all();
    assertThat(all).hasSize(2);
    Series decode = all.get(0);
    assertThat(decode.entries()).hasSize(1);
    assertThat(decode.entries().get(0).timeUs()).isCloseTo(100, within(0.5));
    assertThat(decode.entries().get(0).run()).isEqualTo("20260102T000000Z-musa");
    assertThat(decode.file().getFileName().toString())
        .matches("attention-pageddecode-batch-8q1s4k-[0-9a-f]{8}\\.csv");
    assertThat(decode.file().getParent().getFileName().toString()).matches("mtt-s5000-[0-9a-f]{8}");
    assertThat(Files.readAllLines(decode.file()).get(0))
        .isEqualTo("schema_version,time,commit,environment,run,case,time_us,forks");
    assertThat(Files.readString(folder.resolve("results/history/otava.yaml")))
        .contains("time_column: time", "attributes: [commit, run]", "direction: -1");
  }

  @Test
  void theFirstBadRunIsNamedWhateverOrderRunsAreAddedIn() {
    for (int day = 20; day >= 1; day--) {
      history.add(run(day, day >= 13 ? 104 : 100));
    }
    Series decode = history.all().get(0);
    List<Change> changes = decode.changes();
    assertThat(changes).hasSize(1);
    assertThat(decode.entries().get(changes.get(0).index()).run())
        .isEqualTo("20260114T000000Z-musa");
    assertThat(history.all().get(1).changes()).isEmpty();
  }

  @Test
  void anAddedRunIsOneMoreLine() throws IOException {
    history.add(run(1, 100));
    Path file = history.all().get(0).file();
    String before = Files.readString(file);
    history.add(run(2, 101));
    assertThat(Files.readString(file)).startsWith(before);
  }

  @Test
  void aFileWithoutItsHeaderIsLeftAsItIs() throws IOException {
    history.add(run(1, 100));
    Path file = history.all().get(0).file();
    String text = Files.readString(file);
    String headless = text.substring(text.indexOf('\n') + 1);
    Files.writeString(file, headless);
    assertThatThrownBy(() -> history.add(run(2, 100)))
        .isInstanceOf(RunException.class)
        .hasMessageContaining("its first line is not schema_version,time");
    assertThat(Files.readString(file)).isEqualTo(headless);
  }

  @Test
  void damagedFilesAreNamed() throws IOException {
    history.add(run(1, 100));
    Path file = history.all().get(0).file();
    String text = Files.readString(file);
    for (String damaged :
        List.of(
            text.replace("\n1,", "\n9,"),
            text.replace("time_us", "time_ms"),
            text.replaceFirst(",[0-9.]+,4\n", ",NaN,4\n"),
            text.replaceFirst(",[0-9.]+,4\n", ",x,4\n"))) {
      Files.writeString(file, damaged);
      assertThatThrownBy(history::all)
          .isInstanceOf(RunException.class)
          .hasMessageContaining(file.toString())
          .message()
          .doesNotContain("\n");
    }
  }
}
