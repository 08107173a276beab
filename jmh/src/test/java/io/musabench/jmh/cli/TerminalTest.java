package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Sample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Text of files of others that would act on a terminal. */
class TerminalTest extends CommandTest {
  private static final String EVIL = "x\u001b[2J\u001b]0title\u0007\r\nSAME\u009b1m\u202e";
  private static final String SHOWN = "x\\u001b[2J\\u001b]0title\\u0007\\r\\nSAME\\u009b1m\\u202e";

  @TempDir Path folder;

  private Path made(int day, double us) {
    Instant start = Instant.parse("2026-01-01T00:00:00Z").plusSeconds(86400L * day);
    CaseResult c =
        CaseResult.of("attention.PagedDecode", Map.of("batch", EVIL))
            .forks(4)
            .deviceTimesUs(new double[] {us})
            .note(EVIL)
            .build();
    CaseResult other =
        CaseResult.of("attention.FmhaPrefill", Map.of("batch", "q1k"))
            .forks(4)
            .deviceTimesUs(new double[] {us})
            .build();
    List<Sample> samples = new ArrayList<>();
    for (CaseResult each : List.of(c, other)) {
      for (int fork = 1; fork <= 4; fork++) {
        double nanos = 1e3 * us * (1 + 0.001 * ((fork + day) % 3));
        samples.add(new Sample(each.id(), Sample.DEVICE_TIME, fork, 1, 0, nanos, "ns/op"));
      }
    }
    RunDirectory run = RunDirectory.create(folder.resolve("runs"), "musa", start);
    run.saveEnvironment(
        Environment.collect("musa", start, Path.of("/"))
            .withDevice(new Environment.DeviceInfo(EVIL, EVIL, 0, 56, 1L << 30, EVIL, EVIL))
            .withVersions(Map.of("mate", EVIL))
            .withWarnings(List.of(EVIL)));
    run.saveSamples(samples);
    run.saveCases(List.of(c, other));
    return run.path();
  }

  /** What was printed, without what acts, and what came from the file in one line. */
  private String safe() {
    String all = out.toString() + err;
    assertThat(all.chars().filter(Character::isISOControl).filter(c -> c != '\n')).isEmpty();
    assertThat(all).doesNotContain("\u202e");
    assertThat(all.lines()).noneMatch(line -> line.startsWith("SAME"));
    return all;
  }

  @Test
  void runsAreShown() {
    Path a = made(1, 100);
    Path b = made(2, 110);
    Path kept = folder.resolve("kept");
    Path history = folder.resolve("history");
    assertThat(run("compare", a, b)).isEqualTo(1);
    assertThat(safe()).contains(SHOWN);
    assertThat(run("compare", a, b, "--format", "md")).isEqualTo(1);
    safe();
    assertThat(run("compare", a, b, "--accept", EVIL)).isEqualTo(ExitCode.USAGE);
    assertThat(out.toString() + err).doesNotContain("\u001b");
    assertThat(run("compare", "--across-devices", a, b)).isZero();
    assertThat(safe()).contains(SHOWN);
    assertThat(run("report", a, b, "--format", "md")).isZero();
    safe();
    assertThat(run("baseline", "save", a, "main", "--baselines", kept)).isZero();
    assertThat(run("baseline", "show", "main", "--baselines", kept)).isZero();
    assertThat(safe()).contains(SHOWN);
    for (int day = 1; day <= 20; day++) {
      run("history", "--history", history, made(day + 2, day > 12 ? 105 : 100));
    }
    assertThat(run("history", "--history", history)).isZero();
    assertThat(safe()).contains("slower", SHOWN);
  }

  @Test
  void jsonKeepsTheText() throws IOException {
    assertThat(run("compare", made(1, 100), made(2, 100), "--format", "json")).isZero();
    String id = new ObjectMapper().readTree(out.toString()).at("/cases/0/case").asText();
    assertThat(id).isEqualTo("attention.PagedDecode:batch=" + EVIL);
  }

  @Test
  void tablesOfKernelsAndServicesAreShown() throws IOException {
    Path kernels = folder.resolve("kernels.csv");
    Files.writeString(
        kernels,
        "kernel,shape,precision,seconds_us,relative_error,source\n"
            + "gemm,m=1 n=4096 k=4096,bf16,10,0,\""
            + EVIL
            + "\"\n");
    assertThat(run("tpot", "--kernels", kernels, "--model", "Qwen3-8B")).isZero();
    safe();
    Path wrong = folder.resolve("wrong.csv");
    Files.writeString(wrong, Files.readString(kernels).replace("m=1 n", EVIL + "=1 n"));
    assertThat(run("tpot", "--kernels", wrong, "--model", "Qwen3-8B")).isEqualTo(ExitCode.USAGE);
    assertThat(out.toString() + err).doesNotContain("\u001b", "\r", "\u009b");
    Path table = folder.resolve("table.csv");
    Files.writeString(
        table, "config,concurrency,ttft_ms,tpot_ms,isl,osl\n\"" + EVIL + "\",1,100,20,128,128\n");
    assertThat(run("audit", table)).as(err.toString()).isZero();
    assertThat(safe()).contains(SHOWN);
  }

  @Test
  void servingFilesAreShown() throws IOException {
    Path file = folder.resolve("bench\u001b[2J\r\nSAME.json");
    String evil = new ObjectMapper().writeValueAsString(EVIL);
    Files.writeString(
        file,
        """
        {"completed": 2, "request_throughput": 1.0, "duration": 2.0, "mean_ttft_ms": 10.0,
         "median_ttft_ms": 10.0, "p99_ttft_ms": 12.0, "mean_tpot_ms": 5.0, "backend": %s,
         "model_id": %s, "endpoint_type": %s, "%s": 1}
        """
            .formatted(evil, evil, evil, evil.substring(1, evil.length() - 1)));
    assertThat(run("serving", file)).as(err.toString()).isZero();
    assertThat(safe()).contains("bench\\u001b[2J\\r\\nSAME.json");
    assertThat(run("serving", file, file)).isZero();
    safe();
  }
}
