package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditCommandTest extends CommandTest {
  @TempDir Path folder;

  private Path file;

  AuditCommandTest() {
    super("audit");
  }

  @BeforeEach
  void oneRow() throws Exception {
    file =
        Files.writeString(
            folder.resolve("table.csv"),
            "config,ttft_p50_ms,tpot_ms,throughput_req_s\ngraph,410,31,5.2\n");
  }

  @Test
  void reportsWhatIsNotConsistentAndExitsWithZero() {
    assertThat(run(file.toString(), "--concurrency", "128", "--osl", "256")).isZero();
    assertThat(out.toString()).contains("43.2 requests in flight").contains("NOT CONSISTENT");
  }

  @Test
  void strictSetsTheExitCode() {
    assertThat(run(file.toString(), "--strict", "--json")).isEqualTo(1);
    assertThat(out.toString()).contains("\"implied_concurrency\" : 43.238");
    assertThat(run(file.toString(), "--strict", "--concurrency", "43.2", "--osl", "256")).isZero();
  }

  @Test
  void mistakesAreOneClearLine() {
    mistake(folder.resolve("absent.csv"));
    mistake(file, "--slo-ttft", "soon");
    mistake(file, "--device", "S5O00");
    mistake(file, "--precision", "int3");
    mistake(file, "--model", "Qwen3-32B", "--tp", "3");
    assertThat(err.toString()).contains("3 ranks");
  }

  private void mistake(Object... arguments) {
    assertThat(run(arguments)).isEqualTo(64);
    assertThat(err.toString()).doesNotContain("\tat ");
  }
}
