package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class SettingTest {
  @TempDir Path folder;

  @Test
  void shouldKnowFoldersLibrariesPropertiesAndVariables() throws Exception {
    Path library = Files.createFile(folder.resolve("libkernels.so"));
    Setting setting =
        Setting.parse(
            "--a",
            List.of(folder.toString(), library.toString(), "-Dx.y=1", "MUSABENCH_ISA=scalar"));
    assertThat(setting.jvmArguments())
        .containsExactly(
            "-Dmusabench.native.dir=" + folder,
            "-Dmusabench.kernels.library=" + library,
            "-Dx.y=1");
    assertThat(setting.environment()).isEqualTo(Map.of("MUSABENCH_ISA", "scalar"));
    assertThat(Setting.parse("--a", List.of())).isEqualTo(Setting.AS_IS);
  }

  @Test
  void shouldRefuseWhatIsNoneOfThem() {
    assertThatThrownBy(() -> Setting.parse("--b", List.of("absent/lib.so")))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("--b")
        .hasMessageContaining("absent/lib.so");
    assertThatThrownBy(() -> Setting.parse("--b", List.of("-Dmusabench.kernel.library=x")))
        .hasMessageContaining("musabench.kernels.library");
  }

  @Test
  void shouldCarryVariablesToJmhAndBack() {
    String line = ForkEnvironment.write(Map.of("A", "1 2=3"));
    assertThat(new ForkEnvironment(line).addJVMInvokeOptions(null))
        .containsExactly("env", "A=1 2=3");
  }

  @ParameterizedTest
  @CsvSource({
    "hold.seconds, abc, takes a number",
    "hold.seconds, -1, takes a number",
    "throttle, NaN, takes a number",
    "session.seconds, 1s, takes a number",
    "device, abc, takes the number of a device",
    "target, xpu, unknown target"
  })
  void shouldRefuseASystemPropertyThatMakesNoSense(String name, String value, String told) {
    Properties properties = new Properties();
    properties.setProperty("musabench." + name, value);
    assertThatThrownBy(() -> Settings.check(properties))
        .isInstanceOf(UsageException.class)
        .hasMessageContainingAll("-Dmusabench." + name, told, value);
  }

  @ParameterizedTest
  @CsvSource({
    "ab RmsNorm, A and B are the same",
    "ab RmsNorm --inject 3, such as 3%",
    "ab RmsNorm --inject 3% --pairs 3, at least 4",
    "ab RmsNorm --inject 3% --alpha 7, --alpha",
    "ab RmsNorm --inject 3% --epsilon x, --epsilon",
    "ab RmsNrm --inject 3%, RmsNorm",
    "ab RmsNorm --inject 3% --turns sample, did you mean samples?",
    "qualify --pairs 0, at least 4",
    "qualify --suite nothing, nothing"
  })
  void shouldRefuseWrongCommandLinesBeforeMeasuring(String line, String message) {
    StringWriter err = new StringWriter();
    CommandLine command = Main.commandLine();
    command.setErr(new PrintWriter(err, true));
    assertThat(command.execute(line.split(" "))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains(message).doesNotContain("\tat ");
  }
}
