package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.results.report.CardsReport;
import io.musabench.results.run.RunData;
import io.musabench.results.run.RunDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several devices of one machine: the host's, of which one is slow on purpose. */
class CardsOnHostTest {
  @TempDir private Path folder;

  @Test
  void findsTheCardThatIsSlowerThanTheRest() throws Exception {
    MusabenchProcess.requireNativeLibraries();
    Path runs = folder.resolve("runs");
    MusabenchProcess run =
        MusabenchProcess.start(
            folder,
            Map.of(
                "MUSART_HOST_DEVICES",
                "3",
                // Far more than what other work on a shared machine does to a kernel.
                "MUSART_HOST_FAULTS",
                "kernel:rms_norm@2:1+=slow9900"),
            "run",
            "--devices=all",
            "--no-roofs",
            "--output=" + runs,
            "--iterations=1",
            "--seconds=0.02",
            "--stop=samples:9",
            "--ceiling=30",
            "^elementwise.RmsNorm$",
            "-p",
            "tokens=512");
    assertThat(run.exitCode()).as(run.text()).isZero();
    assertThat(run.text()).contains("card 2 differs from the rest in 1 of 1 cases: slower by");

    List<RunData> cards = read(runs);
    assertThat(cards)
        .extracting(card -> card.environment().device().index())
        .containsExactly(0, 1, 2);
    assertThat(CardsReport.areCards(cards)).isTrue();
    assertThat(new CardsReport(cards).odd()).extracting(CardsReport.Odd::number).contains(2);
    assertThat(run.text())
        .contains("scripts/musabench report " + runs.resolve(cards.get(0).name()));
  }

  private static List<RunData> read(Path runs) throws IOException {
    try (Stream<Path> folders = Files.list(runs)) {
      return folders
          .filter(path -> !Files.isSymbolicLink(path) && Files.isDirectory(path))
          .sorted()
          .map(path -> RunDirectory.open(path).read())
          .toList();
    }
  }

  @Test
  void takesAllOrNumbersThatExist() {
    assertThat(CardsRunner.numbers("all", 3)).containsExactly(0, 1, 2);
    assertThat(CardsRunner.numbers("2,0,2", 3)).containsExactly(2, 0);
    for (String wrong : List.of("3", "0,3", "", "0,", "-1", "x", "All")) {
      assertThatThrownBy(() -> CardsRunner.numbers(wrong, 3))
          .isInstanceOf(UsageException.class)
          .hasMessageContaining("numbers from 0 to 2");
    }
  }
}
