package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What needs no device: help, usage errors and their exit codes. */
class MainTest extends CommandTest {
  @ParameterizedTest
  @ValueSource(strings = {"run", "list", "doctor", "selftest"})
  void shouldDocumentExitCodesOfEachCommand(String command) {
    assertThat(run(command, "--help")).isEqualTo(ExitCode.OK);
    assertThat(out.toString())
        .contains("Usage: musabench " + command, "Exit codes:", "64 ", "130 ", "143 ");
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

  @ParameterizedTest
  @CsvSource({
    "--order=shuffled, as-listed",
    "--seed=1, --order=random",
    "--clock-mode=fixed, fixed-power",
    "--cool-down=-1, from 0 to 3600",
    "--stop=stdrel:x, stdrel:0.5%",
    "--output=, --output is empty"
  })
  void shouldRefuseWaysToMeasureThatThereAreNot(String option, String told) {
    assertThat(run("run", "^elementwise.RmsNorm$", option)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains(told).doesNotContain("\tat ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "DecodeStep   | tp=3             | step.DecodeStep: tp=\"3\"              | tp can be 1, 2",
        "SiluAndMul   | tp=3             | elementwise.SiluAndMul: tp=\"3\"       | tp can be 1, 2",
        "Gemm         | tp=3             | gemm.Gemm: tp=\"3\"                    | tp can be 1, 2",
        "DecodeStep   | batch=q2k        | step.DecodeStep: batch=\"q2k\"         | as in 8q1s1k",
        "PrefillStep  | batch=8q1s1k     | step.PrefillStep: batch=\"8q1s1k\"     | as q2k",
        "DecodeStep   | batch=q1s100k    | step.DecodeStep: batch=\"q1s100k\"      | can hold",
        "FmhaPrefill  | heads=16:8:72    | attention.FmhaPrefill: heads=\"16:8:72\" | 64, 80,",
        "PagedDecode  | heads=8:8:192/128| attention.PagedDecode: heads=\"8:8:192/128\" | 64, 80,",
        "PagedDecode  | splits=2000      | attention.PagedDecode: splits=\"2000\" | 1024",
        "Sampler      | tokens=3000000000| elementwise.Sampler: tokens=           | 2147483647",
        "Gemm         | projection=qkw   | projection=\"qkw\"                     | mean qkv?",
        "ReadBandwidth| bytes=5          | bytes=\"5\"                            | 67108864",
        "ReadBandwidth| streams=3        | streams \"3\"                          | 1, 2, 4, 8, 16",
        "PeakFlops    | iterations=1     | iterations=\"1\"                       | 10000",
      })
  void shouldRefuseValuesThatACaseCannotBeRunWith(
      String benchmark, String assignment, String refused, String allowed) {
    assertThat(run("run", benchmark, "-p", assignment)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString().strip())
        .startsWith("musabench: ")
        .contains(refused, allowed)
        .doesNotContain("\n");
  }

  @Test
  void everySuiteShouldBeAbleToRun() {
    Catalog catalog = Catalog.load();
    for (String name : List.of("default", "smoke", "all", Suite.ROOFS, Suite.SELFTEST)) {
      Suite suite = Suite.load(name, catalog, BenchmarkParameters.table());
      suite.cases().forEach(CaseCheck::check);
    }
  }

  @Test
  void anExplicitSizeShouldBeOneCase() {
    Suite suite =
        new Selection(Catalog.load(), BenchmarkParameters.table())
            .select(null, List.of("Gemm"), List.of("projection=4096x1024"));
    assertThat(suite.cases()).hasSize(1);
    CaseCheck.check(suite.cases().iterator().next());
  }

  @Test
  void shouldNameTheNearestCommand() {
    assertThat(run("rum", "RmsNorm")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("unknown command \"rum\" (did you mean run?)");
  }

  @Test
  void shouldAskForACommand() {
    assertThat(run()).isEqualTo(ExitCode.USAGE);
  }
}
