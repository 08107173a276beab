package io.musabench.jmh.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.jmh.cli.MadeUpRun;
import io.musabench.jmh.cli.MusabenchProcess;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The samples run, and print what they claim. */
class SamplesTest {
  @TempDir Path folder;

  /** A sample's {@code main}. */
  private interface Program {
    void main(String[] args) throws Exception;
  }

  private static String output(Program sample, String... args) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = System.out;
    System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      sample.main(args);
    } finally {
      System.setOut(out);
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static double number(String text, String before) {
    Matcher matcher = Pattern.compile(Pattern.quote(before) + " ?([0-9.]+)").matcher(text);
    assertThat(matcher.find()).as("\"%s\" in: %s", before, text).isTrue();
    return Double.parseDouble(matcher.group(1));
  }

  @Test
  void oneKernelShouldAgreeWithTheReference() throws Exception {
    MusabenchProcess.requireNativeLibraries();
    String text = output(Sample01OneKernel::main);
    // Half a unit in the last place of bf16 for values up to 16.
    assertThat(number(text, "at most")).isBetween(1e-9, 0.04);
  }

  @Test
  void deviceTimeShouldLieWithinWhatTheHostSees() throws Exception {
    MusabenchProcess.requireNativeLibraries();
    String text = output(Sample02DeviceTime::main);
    assertThat(number(text, "between the events")).isPositive();
    assertThat(number(text, "queued after")).isLessThan(number(text, "finished after"));
  }

  @Test
  void coldAndHotShouldBothHaveATime() throws Exception {
    MusabenchProcess.requireNativeLibraries();
    String text = output(Sample03ColdAndHot::main);
    assertThat(number(text, "k=1024:")).isPositive();
    assertThat(number(text, "hot,")).isPositive();
  }

  @Test
  void graphShouldWriteTheSameBits() throws Exception {
    MusabenchProcess.requireNativeLibraries();
    assertThat(output(Sample04Graph::main)).startsWith("200 nodes:").contains("same bits: true");
  }

  @Test
  void replaysShouldFollowThePageTable() throws Exception {
    MusabenchProcess.requireNativeLibraries();
    String text = output(Sample05PagedDecode::main);
    assertThat(text.lines())
        .hasSize(3)
        .allSatisfy(line -> assertThat(number(line, "at most")).isBetween(1e-9, 0.02));
  }

  @Test
  void ownBenchmarkShouldRunAndItsRunShouldFeedAPrediction() throws Exception {
    MusabenchProcess.requireNativeLibraries();
    MusabenchProcess run =
        MusabenchProcess.start(
            folder,
            Map.of(),
            "run",
            "Sample06OwnBenchmark",
            "--iterations=1",
            "--seconds=0.02",
            "--output=" + folder);
    assertThat(run.exitCode()).as(run.text()).isZero();
    assertThat(run.text()).contains("samples.Sample06OwnBenchmark tokens=256");

    Path directory = folder.resolve("latest").toRealPath();
    assertThat(output(Sample08Tpot::main, directory.toString()))
        .contains("concurrency 8: TPOT", "ASSUMED")
        .doesNotContain("NaN");
  }

  @Test
  void compareShouldSeeTenPerCent() throws Exception {
    Path base = MadeUpRun.write(folder, 1, "X", 5, 100);
    Path candidate = MadeUpRun.write(folder, 2, "X", 5, 110);
    assertThat(output(Sample07Compare::main, base.toString(), candidate.toString()))
        .contains("SLOWER", "exit code 1");
  }

  @Test
  void goodputShouldCountTheRequestsThatKeepTheirLimits() throws Exception {
    // vLLM's detailed result: three requests of three tokens; the second stutters, the third
    // starts late.
    Path file = folder.resolve("bench.json");
    Files.writeString(
        file,
        """
        {"date": "20260101-000000", "backend": "vllm", "model_id": "Qwen3-0.6B", "num_prompts": 3,
         "request_rate": "inf", "max_concurrency": 3, "duration": 2.0, "completed": 3,
         "total_input_tokens": 30, "total_output_tokens": 9, "request_throughput": 1.5,
         "output_throughput": 4.5, "input_lens": [10, 10, 10], "output_lens": [3, 3, 3],
         "ttfts": [0.2, 0.2, 1.5], "itls": [[0.02, 0.02], [0.02, 0.2], [0.02, 0.02]],
         "generated_texts": ["a", "b", "c"], "errors": ["", "", ""]}
        """);
    assertThat(output(Sample09Goodput::main, file.toString()))
        .contains("good: 1 of 3 requests, 0.50 a second");
  }
}
