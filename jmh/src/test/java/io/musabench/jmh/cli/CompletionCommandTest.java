package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The script that {@code musabench completion} prints, in a real bash. */
class CompletionCommandTest {
  @TempDir Path folder;

  private Path script;

  @BeforeEach
  void print() throws IOException {
    assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "skipped: there is no /bin/bash");
    StringWriter out = new StringWriter();
    CommandLine line = Main.commandLine();
    line.setOut(new PrintWriter(out, true));
    assertThat(line.execute("completion")).isZero();
    script = folder.resolve("completion.sh");
    Files.writeString(script, out.toString());
  }

  @ParameterizedTest
  @CsvSource({
    "musabench tp, tpot",
    "musabench run PagedDe, PagedDecode",
    "musabench run --sui, --suite",
    "musabench run --suite smo, smoke",
    "musabench tpot --model Qwen3-8, Qwen3-8B",
    "musabench tpot what-if --to S4, S4000"
  })
  void shouldComplete(String typed, String completed) throws Exception {
    // What bash sets before it calls the function, which then leaves its answers in COMPREPLY.
    String call =
        """
        source "$1"
        COMP_LINE=$2; COMP_POINT=${#2}; COMP_WORDS=($2); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _complete_musabench musabench "${COMP_WORDS[COMP_CWORD]}"
        printf '%s\\n' "${COMPREPLY[@]}"
        """;
    Process bash =
        new ProcessBuilder(List.of("/bin/bash", "-c", call, "bash", script.toString(), typed))
            .redirectErrorStream(true)
            .start();
    String answer = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(bash.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(answer.lines().map(String::strip)).contains(completed);
  }
}
