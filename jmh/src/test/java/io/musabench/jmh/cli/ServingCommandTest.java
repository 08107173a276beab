package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServingCommandTest extends CommandTest {
  @TempDir Path folder;

  private Path file;

  ServingCommandTest() {
    super("serving");
  }

  @BeforeEach
  void twoRequests() throws Exception {
    file =
        Files.writeString(
            folder.resolve("requests.jsonl"),
            ("{\"schema\":\"musabench.request/1\",\"start_ns\":0,\"output_tokens\":2,"
                    + "\"events\":[[500,1,\"content\"],[520,1,\"content\"]]}\n")
                .repeat(2));
  }

  @Test
  void reportsAndExitsWithZero() {
    assertThat(run(file.toString(), "--ttft", "1000ms", "--tpot", "50ms")).isZero();
    assertThat(out.toString()).contains("2 of 2 good").contains("ttft.first_token");
  }

  @Test
  void strictAndInclusiveDifferAtTheLimit() {
    assertThat(run(file.toString(), "--ttft", "500ms")).isZero();
    assertThat(out.toString()).contains("0 of 2 good");
    out.getBuffer().setLength(0);
    assertThat(run(file.toString(), "--ttft", "500ms", "--slo-comparison", "inclusive")).isZero();
    assertThat(out.toString()).contains("2 of 2 good");
  }

  @Test
  void contradictingOutputsAreRefused() {
    assertThat(run(file.toString(), "--json", "--csv")).isEqualTo(64);
    assertThat(err.toString()).contains("exclude each other");
    assertThat(run(file.toString(), "--schema")).isEqualTo(64);
  }

  @Test
  void standardInput() throws Exception {
    java.io.InputStream before = System.in;
    try {
      System.setIn(Files.newInputStream(file));
      assertThat(run("-", "--ttft", "1000ms")).isZero();
    } finally {
      System.setIn(before);
    }
    assertThat(out.toString()).contains("2 of 2 good").contains("standard input");
  }

  @Test
  void checklistSetsTheExitCode() {
    assertThat(run(file.toString(), "--require-checklist", "--json")).isEqualTo(1);
    assertThat(out.toString()).contains("\"verdict\" : \"fail\"");
  }

  @Test
  void wrongOptionsAreUsage() {
    assertThat(run(file.toString(), "--ttft", "soon")).isEqualTo(64);
    assertThat(err.toString()).contains("1000ms");
    assertThat(run(file.toString(), "--ttft", "1000")).isEqualTo(64);
    assertThat(err.toString()).contains("1000ms or 1000s");
    assertThat(run(file.toString(), "--compat", "nobody")).isEqualTo(64);
    assertThat(err.toString()).contains("inference-perf");
    assertThat(run(file.toString(), "--single-token", "maybe")).isEqualTo(64);
    assertThat(run(file.toString(), "--formula", "itl=nothing")).isEqualTo(64);
    assertThat(run()).isEqualTo(64);
  }

  @Test
  void unknownAndAbsentFilesHaveTheirOwnCodes() throws Exception {
    Path other = Files.writeString(folder.resolve("other.json"), "{\"a\":1}");
    assertThat(run(other.toString())).isEqualTo(65);
    assertThat(err.toString().lines())
        .startsWith(
            "musabench: " + other + ": not a result file of a known tool (it is JSON with keys a)",
            "Looked for:")
        .anyMatch(line -> line.startsWith("  vllm: bench serve: "))
        .anyMatch(line -> line.startsWith("  aiperf-records: profile_export.jsonl: "));
    assertThat(run(folder.resolve("absent").toString())).isEqualTo(66);
  }

  @Test
  void schemaAndPresetsArePrinted() {
    assertThat(run("--schema")).isZero();
    assertThat(out.toString()).contains("musabench.serving/1");
    assertThat(run("--list-slo")).isZero();
    assertThat(out.toString()).contains("mlperf-llama2-70b").contains("chat-excellent");
  }
}
