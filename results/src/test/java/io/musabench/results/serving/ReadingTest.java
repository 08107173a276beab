package io.musabench.results.serving;

import static io.musabench.results.serving.Fixtures.analyse;
import static io.musabench.results.serving.Fixtures.check;
import static io.musabench.results.serving.Fixtures.own;
import static io.musabench.results.serving.Fixtures.read;
import static io.musabench.results.serving.Fixtures.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Formats as they come: odd numbers, appended documents, cut-off ends, several files. */
class ReadingTest {
  private static final String VLLM =
      "{\"completed\":2,\"failed\":1,\"num_prompts\":3,\"duration\":2.0,\"request_rate\":\"inf\","
          + "\"request_throughput\":1.0,\"request_goodput:\":0.5,\"mean_ttft_ms\":150.0,"
          + "\"median_ttft_ms\":150.0,\"p99_ttft_ms\":199.0,\"p99.9_ttft_ms\":199.9,"
          + "\"input_lens\":[10,10,10],\"output_lens\":[3,2,0],\"ttfts\":[0.1,0.2,0.0],"
          + "\"itls\":[[0.01,0.03],[0.02],[]],\"start_times\":[5.0,5.5,6.0],"
          + "\"generated_texts\":[\"a\",\"b\",\"\"],\"errors\":[\"\",\"\",\"refused\"],"
          + "\"musa_sdk\":\"5.1.0\"}";

  @TempDir Path folder;

  @Test
  void vllmDetailedArrays() {
    Summary s = analyse(VLLM);
    assertThat(s.total()).isEqualTo(3);
    assertThat(s.count(Status.ERROR)).isEqualTo(1);
    assertThat(s.stat(Metric.TTFT).mean()).isCloseTo(150, within(1e-9));
    assertThat(s.stat(Metric.ITL).count()).isEqualTo(3);
    assertThat(s.stat(Metric.TPOT).mean()).isCloseTo(20, within(1e-9));
    assertThat(s.run().goodputPerS).isEqualTo(0.5);
    assertThat(s.labels).containsEntry("musa_sdk", "5.1.0");
    // First start 5.0, last end 5.5 + 0.22 s.
    assertThat(s.durationS()).isCloseTo(0.72, within(1e-9));
    Summary own = analyse(VLLM, Compat.VLLM.definitions(), Fixtures.SLO);
    assertThat(own.durationS()).isEqualTo(2.0);
    assertThat(own.requestsPerS()).isEqualTo(1.0);
    assertThat(own.goodput().considered()).isEqualTo(2);
  }

  @Test
  void appendedDocumentsWithoutSeparatorAndACutOffEnd() {
    assertThat(read(VLLM + VLLM + "\n" + VLLM)).hasSize(3);
    List<Run> cut = read(VLLM + "\n" + VLLM.substring(0, 200));
    assertThat(cut).hasSize(1);
    assertThat(cut.get(0).notes).anyMatch(n -> n.contains("breaks off"));
    assertThat(cut.get(0).requests.size()).isEqualTo(3);
  }

  @Test
  void byteOrderMarkAndCrLfAndGzip() throws Exception {
    String crlf = own("\"events\":[[10,1,\"content\"]]").replace("\n", "\r\n").repeat(5);
    assertThat(read("\ufeff" + crlf).get(0).requests.size()).isEqualTo(5);
    Path gz = folder.resolve("whatever.bin");
    try (var out = new GZIPOutputStream(Files.newOutputStream(gz))) {
      out.write(crlf.getBytes(StandardCharsets.UTF_8));
    }
    assertThat(read(gz).get(0).requests.size()).isEqualTo(5);
    Path many = folder.resolve("many.gz");
    java.util.Random random = new java.util.Random(3);
    try (var out = new GZIPOutputStream(Files.newOutputStream(many))) {
      for (int i = 0; i < 5000; i++) {
        String line = own("\"events\":[[" + random.nextInt(1000) + ",1,\"content\"]]");
        out.write(line.getBytes(StandardCharsets.UTF_8));
      }
    }
    byte[] whole = Files.readAllBytes(many);
    Path cut =
        Files.write(folder.resolve("cut.gz"), java.util.Arrays.copyOf(whole, whole.length / 2));
    assertThat(read(cut).get(0).requests.size()).isBetween(1000, 4000);
    assertThat(read(cut).get(0).notes).anyMatch(n -> n.contains("cut off or damaged"));
  }

  @Test
  void aBrokenLineCostsOnlyItself() {
    String good = own("\"events\":[[10,1,\"content\"]]");
    Run run = read(good + "{\"schema\":\"musabench.requ\n" + good + good.substring(0, 30)).get(0);
    assertThat(run.requests.size()).isEqualTo(2);
    assertThat(run.unreadable).isEqualTo(1);
    assertThat(run.notes).anyMatch(n -> n.contains("last line"));
  }

  @Test
  void numbersInQuotesAndThousandsSeparators() {
    Summary s =
        analyse(
            "Metric,avg,min,max,p99,p95,p90,p75,p50,p25\r\n"
                + "Request Latency (ms),\"8,929.88\",1.00,\"9,000.00\",8.98,8.90,8.80,8.50,8.00,7.50\r\n"
                + "\r\nMetric,Value\r\nRequest Count (count),3.00\r\n");
    assertThat(s.stat(Metric.E2E).mean()).isEqualTo(8929.88);
    assertThat(s.count(Status.OK)).isEqualTo(3);
  }

  @Test
  void secondGenerationOfAiperfRecords() {
    String line =
        "{\"metadata\":{\"session_num\":0,\"x_request_id\":\"a\",\"request_start_ns\":"
            + "1759522419154829653,\"request_end_ns\":1759522420154829653,\"worker_id\":\"w\","
            + "\"benchmark_phase\":\"profiling\",\"was_cancelled\":false},\"metrics\":{"
            + "\"time_to_first_token\":{\"value\":200000000,\"unit\":\"ns\"},"
            + "\"request_latency\":{\"value\":1.0,\"unit\":\"sec\"},"
            + "\"output_sequence_length\":{\"value\":5,\"unit\":\"tokens\"},"
            + "\"inter_chunk_latency\":{\"value\":[200,200,200,200],\"unit\":\"ms\"}},"
            + "\"error\":null}\n";
    String warmup = line.replace("profiling", "warmup");
    Summary s = analyse(line + warmup + line);
    assertThat(s.total()).isEqualTo(2);
    assertThat(s.stat(Metric.TTFT).mean()).isCloseTo(200, within(1e-9));
    assertThat(s.stat(Metric.TPOT).mean()).isCloseTo(200, within(1e-9));
    assertThat(s.run().requests.startNs(0)).isEqualTo(1759522419154829653L);
    assertThat(s.run().notes).anyMatch(n -> n.contains("1 warm-up"));
  }

  @Test
  void guidellmNewLayoutLeavesOutWarmUp() {
    String row =
        "{\"request_id\":\"x\",\"info\":{\"timings\":{\"request_start\":%s,"
            + "\"first_token_iteration\":%s,\"last_token_iteration\":%s,\"token_iterations\":11,"
            + "\"request_end\":%s}},\"prompt_tokens\":10,\"output_tokens\":11,"
            + "\"time_to_first_token_ms\":100.0,\"time_per_output_token_ms\":27.27,"
            + "\"inter_token_latency_ms\":20.0,\"request_latency\":0.3}";
    String file =
        "{\"metadata\":{\"version\":1,\"guidellm_version\":\"0.5.0\"},\"benchmarks\":[{\"config\":{},"
            + "\"scheduler_metrics\":{\"measure_start_time\":1000.0,\"measure_end_time\":1010.0},"
            + "\"metrics\":{},\"requests\":{\"successful\":["
            + String.format(row, "990.0", "990.1", "990.3", "990.3")
            + ","
            + String.format(row, "999.9", "1000.0", "1000.2", "1000.2")
            + ","
            + String.format(row, "1005.0", "1005.1", "1005.3", "1005.3")
            + "],\"errored\":[],\"incomplete\":[]}}]}";
    Summary s = analyse(file);
    assertThat(s.total()).isEqualTo(2);
    assertThat(s.stat(Metric.TPOT).mean()).isCloseTo(20, within(1e-6));
    Summary own = analyse(file, Compat.GUIDELLM.definitions(), Fixtures.SLO);
    assertThat(own.stat(Metric.TPOT).mean()).isCloseTo(27.27, within(1e-9));
    assertThat(own.stat(Metric.TPOT).formula()).isEqualTo(Formula.TPOT_INCL_FIRST);
  }

  @Test
  void splintersAndSeveralEventsInOneRecord() {
    String chunk = "data: " + Fixtures.content("a") + "\n\n";
    String two = Fixtures.quote(chunk + chunk);
    String head = Fixtures.quote(chunk.substring(0, 40));
    String tail = Fixtures.quote(chunk.substring(40));
    String file =
        "{\"experiments\":[{\"experiment\":{},\"requests\":[{\"timestamp\":0,"
            + "\"response_timestamps\":[1000000,2000000,3000000],\"response_outputs\":["
            + "{\"response\":"
            + two
            + "},{\"response\":"
            + head
            + "},{\"response\":"
            + tail
            + "}]}]}]}";
    Run run = read(file).get(0);
    assertThat(run.requests.chunks(0)).isEqualTo(3);
    assertThat(run.requests.firstToken(0)).isEqualTo(1.0);
    assertThat(run.requests.lastToken(0)).isEqualTo(3.0);
  }

  @Test
  void unknownFilesSayWhatTheyAre() {
    assertThatThrownBy(() -> ServingFiles.read(write("{\"a\":1}"), null))
        .isInstanceOf(ServingFormatException.class)
        .hasMessageEndingWith(": not a result file of a known tool (it is JSON with keys a)")
        .matches(e -> ((ServingFormatException) e).unknownFormat());
    assertThatThrownBy(() -> ServingFiles.read(write("hello"), null))
        .isInstanceOf(ServingFormatException.class)
        .hasMessageContaining("hello");
    assertThatThrownBy(() -> ServingFiles.read(write(""), null))
        .isInstanceOf(ServingFormatException.class);
  }

  @Test
  void jsonHasTheDocumentedFields() throws Exception {
    StringWriter out = new StringWriter();
    List<Summary> one = List.of(analyse(VLLM));
    new ServingReport(one, null).json(out);
    JsonNode root = Json.MAPPER.readTree(out.toString());
    assertThat(root.path("schema").asText()).isEqualTo("musabench.serving/1");
    JsonNode schema = Json.MAPPER.readTree(ServingReport.schema());
    JsonNode run = schema.path("$defs").path("run");
    for (JsonNode required : run.path("required")) {
      assertThat(root.has(required.asText())).as(required.asText()).isTrue();
    }
    for (String metric : List.of("ttft", "tpot", "itl", "e2e")) {
      for (JsonNode f : schema.path("$defs").path("statistics").path("required")) {
        assertThat(root.path("metrics").path(metric).has(f.asText())).isTrue();
      }
    }
    // And nothing that is not documented.
    root.fieldNames()
        .forEachRemaining(f -> assertThat(run.path("properties").has(f)).as(f).isTrue());
    StringWriter several = new StringWriter();
    new ServingReport(List.of(one.get(0), one.get(0)), null).json(several);
    assertThat(Json.MAPPER.readTree(several.toString()).path("runs")).hasSize(2);
  }

  @Test
  void csvAndTextHoldEveryRun() throws Exception {
    List<Summary> runs = analyse(read(VLLM + VLLM), Definitions.COURSE, Fixtures.SLO);
    StringWriter csv = new StringWriter();
    new ServingReport(runs, null).csv(csv);
    assertThat(csv.toString().lines()).hasSize(3);
    StringWriter identify = new StringWriter();
    List<Run> withFailed = new java.util.ArrayList<>(read(VLLM + VLLM));
    withFailed.addAll(
        read("{\"completed\":0,\"failed\":3,\"request_throughput\":0.0,\"duration\":1}"));
    new ServingReport(analyse(withFailed, Definitions.COURSE, Fixtures.SLO), null)
        .endToEndCsv(identify);
    assertThat(identify.toString().lines()).hasSize(3);
    assertThat(identify.toString()).startsWith("config,ttft_p50_ms,ttft_p99_ms,tpot_ms");
    StringWriter text = new StringWriter();
    new ServingReport(runs, null).text(new PrintWriter(text));
    assertThat(text.toString())
        .contains("ttft.first_any")
        .contains("Comparison")
        .contains("strict");
  }

  @Test
  void aPredictionIsPutBesideTheMeasurement() throws Exception {
    Prediction p =
        Prediction.read(
            write(
                "{\"mode\":\"graph\",\"predictions\":[{\"concurrency\":4,\"input_tokens\":99,\"tpot\":"
                    + "{\"value_ms\":16.0,\"low_ms\":15.0,\"high_ms\":17.0}},"
                    + "{\"concurrency\":8,\"tpot\":{\"value_ms\":30.0}}]}"));
    StringWriter out = new StringWriter();
    Summary eight = analyse(VLLM.replace("\"completed\"", "\"max_concurrency\":8,\"completed\""));
    new ServingReport(List.of(analyse(VLLM), eight), p).json(out);
    JsonNode runs = Json.MAPPER.readTree(out.toString()).path("runs");
    assertThat(runs.path(0).path("predictions")).hasSize(2);
    JsonNode prediction = runs.path(0).path("predictions").path(0);
    assertThat(prediction.path("unexplained_ms").asDouble()).isCloseTo(4.0, within(1e-9));
    assertThat(prediction.path("predicted_low_ms").asDouble()).isEqualTo(15);
    assertThat(prediction.path("name").asText())
        .isEqualTo("mode=graph concurrency=4 input_tokens=99");
    // The run with a concurrency of 8 is held against the prediction for 8.
    assertThat(runs.path(1).path("predictions")).hasSize(1);
    assertThat(runs.path(1).path("predictions").path(0).path("predicted_tpot_ms").asDouble())
        .isEqualTo(30);
    StringWriter beside = new StringWriter();
    new ServingReport(List.of(analyse(VLLM)), p).text(new PrintWriter(beside));
    assertThat(beside.toString())
        .contains("(outside the interval)")
        .contains("not the same load: measured with 10 tokens in and 2.500 out");
    Prediction plain = Prediction.read(write("{\"tpot_ms\":16.0}"));
    StringWriter text = new StringWriter();
    new ServingReport(List.of(analyse(VLLM)), plain).text(new PrintWriter(text));
    assertThat(text.toString()).contains("16.000 ms predicted, 20.000 ms measured: +4.000 ms");
    assertThatThrownBy(() -> Prediction.read(write("{\"x\":1}")))
        .isInstanceOf(ServingFormatException.class);
  }

  @Test
  void theChecklistPassesWhenEverythingIsThere() {
    String labels =
        "\"output_tokens\":%d,\"input_tokens\":%d,\"start_ns\":%d000000000,"
            + "\"events\":[[100,1,\"content\"],[120,1,\"content\"]]";
    StringBuilder prefill = new StringBuilder();
    StringBuilder decode = new StringBuilder();
    for (int i = 0; i < 1000; i++) {
      prefill.append(own(String.format(labels, 64, 4096, i)));
      decode.append(own(String.format(labels, 2048, 256, i)));
    }
    List<Run> runs = new java.util.ArrayList<>(read(prefill.toString()));
    runs.addAll(read(decode.toString()));
    Map<String, String> versions =
        Map.of("musa-sdk", "5.1.0", "torch_musa", "2.9.0", "vllm_musa", "abc", "GPU", "S5000");
    List<Summary> s = new Analysis(Definitions.COURSE, Fixtures.SLO, versions).of(runs);
    assertThat(s.get(0).checklist()).allMatch(c -> c.verdict() == Check.Verdict.PASS);
    assertThat(new ServingReport(s, null).checklistPasses()).isTrue();
    List<Summary> without = analyse(runs.subList(0, 1), Definitions.COURSE, Slo.NONE);
    assertThat(check(without.get(0), "slo_stated").verdict()).isEqualTo(Check.Verdict.FAIL);
    assertThat(check(without.get(0), "versions_stated").reason()).contains("musa_sdk");
    assertThat(check(without.get(0), "prefill_and_decode_runs").verdict())
        .isEqualTo(Check.Verdict.FAIL);
  }

  @Test
  void mixedPromptLengthsGetATableByLength() {
    String one = "\"input_tokens\":%d,\"events\":[[%d,1,\"content\"],[900,1,\"content\"]]";
    StringBuilder file = new StringBuilder();
    for (int i = 0; i < 20; i++) {
      file.append(own(String.format(one, 100, 50)));
      file.append(own(String.format(one, 5000, 800)));
    }
    Summary s = analyse(file.toString());
    assertThat(check(s, "prompt_lengths_not_mixed").verdict()).isEqualTo(Check.Verdict.FAIL);
    assertThat(s.byLength).hasSize(2);
    assertThat(s.byLength.get(0).ttft().p50()).isEqualTo(50);
    assertThat(s.byLength.get(1).ttft().p50()).isEqualTo(800);
  }

  @Test
  void durations() {
    assertThat(Slo.milliseconds("1000ms")).isEqualTo(1000);
    assertThat(Slo.milliseconds("1.5s")).isEqualTo(1500);
    assertThat(Slo.milliseconds("500 us")).isEqualTo(0.5);
    assertThatThrownBy(() -> Slo.milliseconds("50")).hasMessageContaining("50ms or 50s");
    assertThatThrownBy(() -> Slo.milliseconds("soon")).hasMessageContaining("1000ms");
    assertThatThrownBy(() -> Slo.milliseconds("-1s")).isInstanceOf(IllegalArgumentException.class);
  }
}
