package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompareCommandTest extends CommandTest {
  @TempDir Path folder;

  private Path ten;
  private Path eleven;
  private Path noisy;

  CompareCommandTest() {
    super("compare");
  }

  @BeforeEach
  void files() throws IOException {
    ten = jmh("ten.json", "10", "10.01", "10", "10.01");
    eleven = jmh("eleven.json", "11", "11.01", "11", "11.01");
    noisy = jmh("noisy.json", "9", "10", "11", "12");
  }

  private Path jmh(String name, String... forks) throws IOException {
    return Files.writeString(
        folder.resolve(name),
        """
        [{"benchmark": "org.example.A.b", "mode": "avgt", "primaryMetric": {
          "scoreUnit": "ns/op", "rawData": [[%s]]}}]
        """
            .formatted(String.join("],[", forks)));
  }

  @Test
  void theExitCodeIsTheVerdict() throws IOException {
    assertThat(run(ten, ten)).isZero();
    assertThat(out.toString()).contains("1 same");
    assertThat(run(ten, eleven)).isEqualTo(1);
    assertThat(out.toString()).contains("SLOWER");
    assertThat(run(eleven, ten)).isZero();
    assertThat(run(ten, noisy)).isZero();
    assertThat(run(ten, noisy, "--strict")).isEqualTo(2);
    assertThat(run(ten, jmh("short.json", "10", "10"))).isEqualTo(3);
  }

  @Test
  void everyFormatIsWritten() {
    for (String format : List.of("text", "md", "json", "junit", "csv")) {
      assertThat(run(ten, eleven, "--format", format)).isEqualTo(1);
      assertThat(out.toString()).contains("SLOWER");
    }
    assertThat(run(ten, eleven, "--format", "html")).isEqualTo(64);
  }

  @Test
  void theToleranceCanBeRaised() {
    assertThat(run(ten, eleven, "--epsilon", "15%")).isZero();
    assertThat(run(ten, eleven, "--epsilon", "0.15")).isZero();
    assertThat(run(ten, eleven, "--epsilon", "much")).isEqualTo(64);
    assertThat(err.toString()).contains("such as 3%");
  }

  @Test
  void badInputIsOneLineAndNoStackTrace() throws IOException {
    Path cut =
        Files.writeString(folder.resolve("cut.json"), Files.readString(ten).substring(0, 50));
    assertThat(run(cut, ten)).isEqualTo(64);
    assertThat(err.toString().lines()).hasSize(1).first().asString().contains("cut.json");
    assertThat(run(ten, folder.resolve("absent.json"))).isEqualTo(64);
    assertThat(err.toString().lines()).hasSize(1).first().asString().contains("absent.json");
    assertThat(run(ten, folder)).isEqualTo(64);
    assertThat(err.toString().lines()).hasSize(1);
    assertThat(run(ten)).isEqualTo(64);
    assertThat(run(ten, eleven, "--alpha", "2")).isEqualTo(64);
    assertThat(out.toString()).isEmpty();
  }
}
