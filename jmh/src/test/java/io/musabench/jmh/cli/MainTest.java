package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What needs no device: help, usage errors and their exit codes. */
class MainTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    CommandLine line = Main.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(arguments);
  }

  @ParameterizedTest
  @ValueSource(strings = {"run", "list", "doctor"})
  void shouldDocumentExitCodesOfEachCommand(String command) {
    assertThat(run(command, "--help")).isEqualTo(ExitCode.OK);
    assertThat(out.toString())
        .contains("Usage: musabench " + command, "Exit codes:", "64 ", "130 ");
  }

  @Test
  void shouldListBenchmarksParametersModelsAndSuites() {
    assertThat(run("list")).isEqualTo(ExitCode.OK);
    assertThat(out.toString())
        .contains("attention.PagedDecode", "step.DecodeStep", "Qwen3-0.6B", "smoke", "batch");
  }

  @Test
  void shouldRefuseAnUnknownBenchmarkAndNameTheNearest() {
    assertThat(run("run", "PagedDecodd")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("did you mean PagedDecode?").doesNotContain("\tat ");
  }

  @Test
  void shouldRefuseAnUnknownParameterAndNameTheNearest() {
    assertThat(run("run", "PagedDecode", "-p", "bach=q1s1k")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("did you mean batch?").doesNotContain("\tat ");
  }

  @Test
  void shouldRefuseAnUnknownModelAndNameTheNearest() {
    assertThat(run("run", "DecodeStep", "-p", "model=Qwen3-0.7B")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("Qwen3-0.6B").doesNotContain("\tat ");
  }

  @Test
  void shouldRefuseAnUnknownSuiteAndNameTheNearest() {
    assertThat(run("run", "--suite", "smok")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("did you mean smoke?");
  }

  @Test
  void shouldRefuseAnEmptySelection() {
    assertThat(run("run", "--suite", "smoke", "Embedding")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("nothing to measure");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--forks=0", "--seconds=0", "--time-limit=0", "--iterations=x", "--nope"})
  void shouldRefuseBadOptions(String option) {
    assertThat(run("run", "RmsNorm", option)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).isNotEmpty().doesNotContain("\tat ");
  }

  @Test
  void shouldAskForACommand() {
    assertThat(run()).isEqualTo(ExitCode.USAGE);
  }
}
