package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class AuditCommandTest {
  @TempDir Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private Path file;

  @BeforeEach
  void oneRow() throws Exception {
    file =
        Files.writeString(
            folder.resolve("table.csv"),
            "config,ttft_p50_ms,tpot_ms,throughput_req_s\ngraph,410,31,5.2\n");
  }

  private int run(String... arguments) {
    CommandLine line = Main.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    String[] all = new String[arguments.length + 1];
    all[0] = "audit";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    return line.execute(all);
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
    assertThat(run(folder.resolve("absent.csv").toString())).isEqualTo(64);
    assertThat(run(file.toString(), "--slo-ttft", "soon")).isEqualTo(64);
    assertThat(run(file.toString(), "--device", "S5O00")).isEqualTo(64);
    assertThat(run(file.toString(), "--model", "Qwen3-32B", "--tp", "3")).isEqualTo(64);
    assertThat(run(file.toString(), "--precision", "int3")).isEqualTo(64);
    assertThat(err.toString()).doesNotContain("\tat ").contains("3 ranks");
  }
}
