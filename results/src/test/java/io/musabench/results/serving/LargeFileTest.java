package io.musabench.results.serving;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * A file larger than anybody wants to keep in memory, in AIPerf's format.
 *
 * <p>{@code -Dmusabench.large.requests=1000000 -Dmusabench.large.tokens=64} makes it large, {@code
 * -Dmusabench.large.file=FILE} keeps it, so that other programs can be timed on it. The regular run
 * is small.
 */
class LargeFileTest {
  @Test
  void isReadInOnePass() throws IOException {
    int requests = Integer.getInteger("musabench.large.requests", 20_000);
    int tokens = Integer.getInteger("musabench.large.tokens", 16);
    String kept = System.getProperty("musabench.large.file");
    Path file = kept == null ? Files.createTempFile("large", ".jsonl") : Path.of(kept);
    try {
      write(file, requests, tokens);
      long start = System.nanoTime();
      List<Run> runs = ServingFiles.read(file, null);
      Summary s = Fixtures.analyse(runs, Definitions.COURSE, Slo.of(1000, 50)).get(0);
      double seconds = (System.nanoTime() - start) / 1e9;
      double megabytes = Files.size(file) / 1e6;
      System.out.printf(
          "%d requests, %.0f MB, heap of %d MiB at most: %.1f s, %.0f MB/s%n",
          requests,
          megabytes,
          Runtime.getRuntime().maxMemory() >> 20,
          seconds,
          megabytes / seconds);
      assertThat(s.count(Status.OK)).isEqualTo(requests);
      assertThat(s.stat(Metric.ITL).count()).isEqualTo((long) requests * (tokens - 1));
    } finally {
      if (kept == null) {
        Files.delete(file);
      }
    }
  }

  private static void write(Path file, int requests, int tokens) throws IOException {
    Random random = new Random(1);
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < requests; i++) {
        line.setLength(0);
        long start = 1_759_522_419_154_829_652L + i * 1_000_000L;
        double ttft = (200_000_000 + random.nextInt(500_000_000)) / 1e6;
        double latency = ttft;
        StringBuilder gaps = new StringBuilder();
        for (int t = 1; t < tokens; t++) {
          double gap = (20_000_000 + random.nextInt(9_999_999)) / 1e6;
          latency += gap;
          gaps.append(t == 1 ? "" : ",").append(gap);
        }
        line.append("{\"metadata\":{\"x_request_id\":\"c087da26-5552-4785-958a-cad75c7b22de\",")
            .append("\"session_num\":")
            .append(i)
            .append(",\"turn_index\":0,\"request_start_ns\":")
            .append(start)
            .append(",\"worker_id\":\"worker_1d62deaa\",\"benchmark_phase\":\"profiling\",")
            .append(
                "\"was_cancelled\":false},\"metrics\":{\"input_sequence_length\":{\"value\":550,")
            .append("\"unit\":\"tokens\"},\"time_to_first_token\":{\"value\":")
            .append(ttft)
            .append(",\"unit\":\"ms\"},\"request_latency\":{\"value\":")
            .append(latency)
            .append(",\"unit\":\"ms\"},\"output_sequence_length\":{\"value\":")
            .append(tokens)
            .append(",\"unit\":\"tokens\"},\"inter_chunk_latency\":{\"value\":[")
            .append(gaps)
            .append("],\"unit\":\"ms\"}},\"error\":null}\n");
        out.append(line);
      }
    }
  }
}
