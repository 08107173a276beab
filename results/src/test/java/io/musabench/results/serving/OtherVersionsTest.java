package io.musabench.results.serving;

import static io.musabench.results.serving.Fixtures.analyse;
import static io.musabench.results.serving.Fixtures.check;
import static io.musabench.results.serving.Fixtures.finding;
import static io.musabench.results.serving.Fixtures.read;
import static io.musabench.results.serving.Fixtures.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Versions of the tools of which no real file is at hand: their keys and shapes as their writers
 * have them, values of our own.
 */
class OtherVersionsTest {
  private static final double EXACT = 1e-9;

  @TempDir Path folder;

  private Path file(String name, String content) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, content);
  }

  private static void refused(String content, String... words) {
    assertThatThrownBy(() -> ServingFiles.read(write(content), null))
        .isInstanceOf(ServingFormatException.class)
        .hasMessageContainingAll(words);
  }

  // ---- vLLM ----

  private static String vllm(double duration, double ttft) {
    return "{\"date\":\"20260101-120000\",\"endpoint_type\":\"openai\",\"num_prompts\":4,"
        + "\"request_rate\":\"inf\",\"max_concurrency\":2,\"max_num_seqs\":8,\"run_number\":0,"
        + "\"duration\":"
        + duration
        + ",\"completed\":4,\"failed\":0,\"total_input_tokens\":40,\"total_output_tokens\":80,"
        + "\"request_throughput\":"
        + 4 / duration
        + ",\"output_throughput\":"
        + 80 / duration
        + ",\"mean_ttft_ms\":"
        + ttft
        + ",\"median_ttft_ms\":9.5,\"p99_ttft_ms\":40.0}";
  }

  @Test
  void aSweepsSummariesRepeatItsRuns() throws Exception {
    file("combo/run=0.json", vllm(2.0, 12.25));
    file("combo/run=1.json", vllm(2.5, 13.5));
    file("combo/summary.json", "[" + vllm(2.0, 12.25) + "," + vllm(2.5, 13.5) + "]");
    Path csv =
        file(
            "summary.csv",
            ",max_num_seqs,duration,completed,failed,request_throughput,mean_ttft_ms,p99_ttft_ms\n"
                + "0,8,2.0,4,0,2.0,12.25,40.0\n1,8,2.5,4,0,1.6,13.5,40.0\n");
    ServingFiles.Directory d = ServingFiles.readDirectory(folder, null);
    assertThat(d.runs()).hasSize(2).allMatch(r -> r.source().contains("run="));
    assertThat(d.notes()).anyMatch(n -> n.contains("summary.csv"));
    Files.delete(folder.resolve("combo/run=0.json"));
    Files.delete(folder.resolve("combo/run=1.json"));
    Files.delete(folder.resolve("combo/summary.json"));
    List<Summary> alone = analyse(read(csv), Definitions.COURSE, Fixtures.SLO);
    assertThat(alone).hasSize(2);
    assertThat(alone.get(1).stat(Metric.TTFT).mean()).isEqualTo(13.5);
    assertThat(alone.get(1).labels).containsEntry("max_num_seqs", "8");
    assertThat(alone.get(1).count(Status.OK)).isEqualTo(4);
  }

  @Test
  void latenciesThatWereLeftInAFileWithoutDetails() {
    Summary s =
        analyse(
            vllm(2.0, 10).replace("\"duration\"", "\"latencies\":[0.1,0.2,0.3,0.4],\"duration\""));
    assertThat(s.stat(Metric.E2E).mean()).isCloseTo(250, within(EXACT));
    assertThat(s.stat(Metric.E2E).p99()).isCloseTo(397, within(EXACT));
    assertThat(s.run().hasRequests()).isFalse();
    // One of them may be a failed request's: then they say nothing.
    Summary other =
        analyse(vllm(2.0, 10).replace("\"duration\"", "\"latencies\":[0.1,0.2],\"duration\""));
    assertThat(other.stat(Metric.E2E).missing()).isTrue();
  }

  @Test
  void consoleLinesBehindPrefixesAndColours() {
    String prefix = "2026-01-01T00:00:00Z pod-7 stdout F ";
    Summary s =
        analyse(
            prefix
                + "============ Serving Benchmark Result ============\n"
                + prefix
                + "\u001b[32mSuccessful requests:                     50        \u001b[0m\n"
                + prefix
                + "Failed requests: 2\n"
                + prefix
                + "Benchmark duration (s):                  10.00     \n"
                + prefix
                + "Request throughput (req/s):              5.00      \n"
                + prefix
                + "Request goodput (req/s): 4.20\n"
                + prefix
                + "Mean TTFT (ms): 120.50\n"
                + prefix
                + "P99.9 TTFT (ms): 300.10\n"
                + prefix
                + "P99 E2EL (ms): 900.00\n"
                + prefix
                + "Acceptance length: 2.60\n"
                + prefix
                + "==================================================\n");
    assertThat(s.count(Status.OK)).isEqualTo(50);
    assertThat(s.count(Status.ERROR)).isEqualTo(2);
    assertThat(s.stat(Metric.TTFT).mean()).isEqualTo(120.5);
    assertThat(s.stat(Metric.E2E).p99()).isEqualTo(900);
    assertThat(s.run().goodputPerS).isEqualTo(4.2);
    assertThat(s.run().acceptLength).isEqualTo(2.6);
  }

  // ---- SGLang ----

  @Test
  void sglangsClientsSpreadTheGapsOrNot() {
    String file =
        "{\"backend\":\"%s\",\"dataset_name\":\"random\",\"request_rate\":Infinity,"
            + "\"completed\":3,\"duration\":1.5,\"mean_e2e_latency_ms\":90.0,\"mean_itl_ms\":7.5,"
            + "\"p90_itl_ms\":9.0}";
    assertThat(analyse(String.format(file, "sglang-native")).stat(Metric.ITL).formula())
        .isEqualTo(Formula.ITL_SPREAD);
    assertThat(analyse(String.format(file, "sglang-oai-chat")).stat(Metric.ITL).formula())
        .isEqualTo(Formula.ITL_CHUNK);
    String block =
        "============ Serving Benchmark Result ============\nBackend: sglang-oai\n"
            + "Max request concurrency: not set\nSuccessful requests: 5\nConcurrency: 3.10\n"
            + "Mean E2E Latency (ms): 80.5\nMean ITL (ms): 4.0\nMax ITL (ms): 9.0\n====\n";
    Summary s = analyse(block);
    assertThat(s.stat(Metric.E2E).mean()).isEqualTo(80.5);
    assertThat(s.stat(Metric.ITL).max()).isEqualTo(9);
    assertThat(s.run().meanConcurrency).isEqualTo(3.1);
    assertThat(s.run().concurrencyLimit).isNaN();
  }

  @Test
  void aFileThatBreaksOffSaysSo() {
    refused(
        "{\"tag\":null,\"backend\":\"sglang\",\"dataset_name\":\"random\",\"request_rate\":Infinity,"
            + "\"random_range_ratio\":0.5,\"server_info\":{\"version\":\"0.5\",\"a\":[1,2",
        "breaks off in the middle at line 1");
    refused("{\"completed_at\":1,\"values\":[1,2", "breaks off");
    refused("{\"a\":1,\"b\":}", "damaged");
    refused("{\"a\":1,", "breaks off in the middle at line 1, column 8");
    refused("SQLite format 3\u0000\u0010", "pickled", "benchmark_summary.json");
  }

  // ---- GuideLLM ----

  private static String guideRow(double start, double first, double last, double end, int n) {
    return "{\"request_id\":\"r\",\"info\":{\"timings\":{\"targeted_start\":"
        + (start - 0.5)
        + ",\"request_start\":"
        + start
        + ",\"first_token_iteration\":"
        + first
        + ",\"last_token_iteration\":"
        + last
        + ",\"token_iterations\":"
        + n
        + ",\"request_end\":"
        + end
        + "}},\"prompt_tokens\":10,\"output_tokens\":"
        + n
        + ",\"request_latency\":"
        + (end - start)
        + ",\"time_to_first_token_ms\":"
        + 1000 * (first - start)
        + ",\"time_per_output_token_ms\":"
        + 1000 * (last - start) / n
        + ",\"inter_token_latency_ms\":"
        + (n > 1 ? 1000 * (last - first) / (n - 1) : null)
        + "}";
  }

  private static String guide(String strategy, String more) {
    return "{\"metadata\":{\"version\":2,\"guidellm_version\":\"0.8.0\"},\"args\":{\"model\":\"m\","
        + "\"data\":[\"prompt_tokens=10,output_tokens=11\"]},\"benchmarks\":[{\"config\":{"
        + "\"strategy\":{\"type_\":\""
        + strategy
        + "\",\"streams\":4,\"rate\":2.0},\"slo\":{\"ttft_ms\":150.0,\"tpot_ms\":25.0}},"
        + "\"scheduler_metrics\":{\"measure_start_time\":100.0,\"measure_end_time\":104.0},"
        + "\"metrics\":{\"request_totals\":{\"successful\":3,\"incomplete\":0,\"errored\":1,"
        + "\"total\":4},\"requests_per_second\":{\"successful\":{\"mean\":0.5}},"
        + "\"slo_attainment\":0.5,\"slo_determined_requests\":4,"
        + "\"request_goodput\":{\"successful\":{\"mean\":0.5}}"
        + more
        + "},\"requests\":{\"successful\":["
        + guideRow(100.5, 100.6, 100.8, 100.9, 11)
        + ","
        + guideRow(101.0, 101.2, 101.4, 101.5, 11)
        + ","
        + guideRow(103.8, 103.9, 104.0, 104.1, 1)
        + ","
        + guideRow(90.0, 90.1, 90.3, 90.4, 11)
        + "],\"errored\":[{\"info\":{\"timings\":{\"request_start\":102.0,\"request_end\":102.1}}}],"
        + "\"incomplete\":[],\"total\":null}}]}";
  }

  @Test
  void guidellmWithGoodput() {
    Summary s = analyse(guide("concurrent", ""), Compat.GUIDELLM.definitions(), Slo.NONE);
    assertThat(s.goodput().slo()).isEqualTo(Slo.of(150, 25));
    // Good: the first. Bad: the second (TTFT) and the error. The single token is not judged.
    assertThat(s.goodput().good()).isEqualTo(1);
    assertThat(s.goodput().considered()).isEqualTo(3);
    // Two of three end inside of the measured four seconds.
    assertThat(s.requestsPerS()).isCloseTo(0.5, within(EXACT));
    assertThat(s.goodput().requestsPerS()).isCloseTo(0.25, within(EXACT));
    assertThat(s.run().goodputPerS).isEqualTo(0.5);
    assertThat(s.run().goodCount).isEqualTo(2);
    assertThat(s.run().concurrencyLimit).isEqualTo(4);
    assertThat(s.run().askedOutput).isEqualTo(11);
    assertThat(s.labels).containsEntry("model", "m");
    assertThat(s.stat(Metric.ITL).mean()).isCloseTo(20, within(1e-6));
  }

  @Test
  void onlyPlannedStartsTellOfDelays() {
    assertThat(Fixtures.has(analyse(guide("concurrent", "")), "client_delay")).isFalse();
    assertThat(finding(analyse(guide("poisson", "")), "client_delay").what()).contains("500.0 ms");
    assertThat(analyse(guide("poisson", "")).run().requestRate).isEqualTo(2);
  }

  @Test
  void theRowsSayWhichTpotItIs() {
    String row =
        "{\"start_time\":10.0,\"first_token_time\":10.1,\"last_token_time\":10.3,\"end_time\":10.3,"
            + "\"output_tokens\":10,\"time_to_first_token_ms\":100.0,\"request_latency\":0.3,"
            + "\"time_per_output_token_ms\":%s}";
    String report = "{\"benchmarks\":[{\"run_stats\":{},\"requests\":{\"successful\":[%s]}}]}";
    Run old = read(String.format(report, String.format(row, "20.0"))).get(0);
    Run now = read(String.format(report, String.format(row, "30.0"))).get(0);
    assertThat(old.toolTpot).isEqualTo(Formula.TPOT_OVER_N);
    assertThat(now.toolTpot).isEqualTo(Formula.TPOT_INCL_FIRST);
    String between =
        "{\"scheduler_info\":{\"request_timings\":{\"request_start\":5.0,\"first_iteration\":5.2,"
            + "\"last_iteration\":5.6,\"request_end\":5.7}},\"output_tokens\":5}";
    Run four = read(String.format(report, between)).get(0);
    assertThat(four.requests.firstToken(0)).isCloseTo(200, within(1e-6));
    assertThat(four.requests.lastToken(0)).isCloseTo(600, within(1e-6));
  }

  @Test
  void guidellmYamlHasItsKeysInAlphabeticalOrder() {
    String row =
        "      - info:\n          timings:\n            first_token_iteration: %1$s.1\n"
            + "            last_token_iteration: %1$s.3\n            request_end: %1$s.3\n"
            + "            request_start: %1$s.0\n        output_tokens: 11\n"
            + "        request_latency: 0.3\n";
    String yaml =
        "args:\n  data:\n  - prompt_tokens=10\nbenchmarks:\n- config:\n    strategy:\n"
            + "      type_: synchronous\n  metrics:\n    requests_per_second:\n"
            + "      successful:\n        mean: 0.5\n  requests:\n    errored: []\n"
            + "    successful:\n"
            + String.format(row, "90")
            + String.format(row, "101")
            + "    total: null\n  scheduler_metrics:\n    measure_end_time: 104.0\n"
            + "    measure_start_time: 100.0\n  type_: generative_benchmark\n"
            + "metadata:\n  guidellm_version: 0.5.3\n";
    Summary s = analyse(yaml);
    assertThat(s.count(Status.OK)).isEqualTo(1);
    assertThat(s.stat(Metric.TPOT).mean()).isCloseTo(20, within(1e-6));
    assertThat(s.run().toolVersion).isEqualTo("0.5.3");
    assertThat(s.run().notes).anyMatch(n -> n.contains("warm-up"));
  }

  @Test
  void guidellmCsvOfBothLayouts() {
    String early =
        "Type,Run Id,Id,Name,Start Time,End Time,Duration,Successful Requests,"
            + "Successful Request latency mean,Successful Time to first token ms mean,"
            + "Successful Time to first token ms median,"
            + "\"Successful Time to first token ms [min, 0.1, 1, 5, 10, 25, 75, 90, 95, 99, max]\","
            + "Errored Requests,Total Requests,Request Loader\n"
            + "generative_benchmark,a,b,constant@2,x,y,30.0,60,1.5,110.0,100.0,"
            + "\"[50.0, 51, 52, 53, 54, 55, 150, 160, 170, 190.5, 200.0]\",2,62,{}\n";
    Summary s = analyse(early);
    assertThat(s.count(Status.OK)).isEqualTo(60);
    assertThat(s.count(Status.ERROR)).isEqualTo(2);
    assertThat(s.stat(Metric.TTFT).p99()).isEqualTo(190.5);
    assertThat(s.stat(Metric.TTFT).min()).isEqualTo(50);
    assertThat(s.stat(Metric.TTFT).p50()).isEqualTo(100);
    assertThat(s.stat(Metric.E2E).mean()).isEqualTo(1500);
    String later =
        "Run Info,Timings,Request Counts,Time to First Token,Time to First Token,"
            + "Inter Token Latency,Runtime Info\n"
            + "Run ID,Duration,Successful,Successful ms,Successful ms,Successful ms,Metadata\n"
            + ",Sec,,Mean,Percentiles,Mean,\n"
            + "r,30.0,60,110.0,\"[50.0, 51, 52, 53, 54, 55, 150, 160, 170, 190.5, 200.0]\",21.5,"
            + "\"{\"\"guidellm_version\"\":\"\"0.6.0\"\"}\"\n";
    Summary t = analyse(later);
    assertThat(t.run().toolVersion).isEqualTo("0.6.0");
    assertThat(t.durationS()).isEqualTo(30);
    assertThat(t.stat(Metric.TTFT).max()).isEqualTo(200);
    assertThat(t.stat(Metric.TPOT).mean()).isEqualTo(21.5);
    assertThat(t.stat(Metric.TPOT).formula()).isEqualTo(Formula.TPOT_TOKEN_WEIGHTED);
  }

  @Test
  void severalFilesOfOneGuidellmReportAreOneRun() throws Exception {
    file("benchmarks.json", guide("concurrent", ""));
    file(
        "benchmarks.csv",
        "Run Info,Request Counts,Request Latency\nRun ID,Successful,Successful Sec\n,,Mean\nr,3,1\n");
    assertThat(ServingFiles.readDirectory(folder, null).runs()).hasSize(1);
  }

  // ---- evalscope ----

  @Test
  void evalscopesDirectoryIsOneRun() throws Exception {
    String run = "parallel_4_number_40/";
    file(
        run + "benchmark_summary.json",
        "{\"Test Duration (s)\":20.0,\"Concurrency\":4,\"Request Rate (req/s)\":-1,"
            + "\"Total Requests\":40,\"Success Requests\":39,\"Failed Requests\":1,"
            + "\"Req Throughput (req/s)\":1.95,\"Avg Latency (s)\":2.0,\"TTFT (ms)\":250.5,"
            + "\"TPOT (ms)\":12.5,\"ITL (ms)\":null,\"Avg Input Tokens\":1000.0,"
            + "\"Avg Output Tokens\":128.0,\"Output Throughput (tok/s)\":249.6}");
    file(
        run + "benchmark_percentile.json",
        "[{\"Percentiles\":\"min\",\"TTFT (ms)\":200.0,\"Input tokens\":990},"
            + "{\"Percentiles\":\"50%\",\"TTFT (ms)\":240.0,\"Latency (s)\":1.9,\"ITL (ms)\":-1},"
            + "{\"Percentiles\":\"99%\",\"TTFT (ms)\":400.0,\"Latency (s)\":3.1},"
            + "{\"Percentiles\":\"max\",\"TTFT (ms)\":410.0,\"Input tokens\":1010}]");
    file(
        run + "benchmark_args.json",
        "{\"model\":\"q\",\"api\":\"openai\",\"url\":\"u\",\"number\":40,\"parallel\":4,\"rate\":-1,"
            + "\"dataset\":\"random\",\"stream\":true,\"min_tokens\":128,\"max_tokens\":128,"
            + "\"min_prompt_length\":1000,\"max_prompt_length\":1000,\"prefix_length\":0}");
    file(
        run + "workload_throughput.json",
        "{\"n_samples\":39,\"wall_time_s\":20.0,\"last_window_s\":30.0,\"warmup_frac\":0.2,\"rows\":"
            + "[{\"metric\":\"Completion tok/s\",\"overall\":249.6,\"last_window\":249.6,"
            + "\"steady_state\":260.5}]}");
    file(run + "workload_timeline.json", "{\"wall_start\":1.0,\"points\":[]}");
    ServingFiles.Directory d = ServingFiles.readDirectory(folder, null);
    assertThat(d.runs()).hasSize(1);
    Summary s = analyse(d.runs(), Definitions.COURSE, Fixtures.SLO).get(0);
    assertThat(s.run().source()).endsWith("benchmark_summary.json");
    assertThat(s.stat(Metric.TTFT).mean()).isEqualTo(250.5);
    assertThat(s.stat(Metric.TTFT).p99()).isEqualTo(400);
    assertThat(s.stat(Metric.TTFT).min()).isEqualTo(200);
    assertThat(s.stat(Metric.E2E).p50()).isEqualTo(1900);
    assertThat(s.stat(Metric.ITL).missing()).isTrue();
    assertThat(s.run().askedOutput).isEqualTo(128);
    assertThat(s.run().askedInput).isEqualTo(1000);
    assertThat(s.labels).containsEntry("model", "q");
    assertThat(s.notes).anyMatch(n -> n.contains("260.50 without the first 20 %"));
    assertThat(check(s, "streaming").verdict()).isEqualTo(Check.Verdict.PASS);
    assertThat(check(s, "prompt_lengths_not_mixed").verdict()).isEqualTo(Check.Verdict.PASS);
    assertThat(s.run().requestRate).isNaN();
    refused(Files.readString(folder.resolve(run + "benchmark_args.json")), "no results in it");
    refused(Files.readString(folder.resolve(run + "workload_timeline.json")), "benchmark_summary");
  }

  @Test
  void evalscopesOlderPercentiles() {
    String rows = "[{\"Percentile\":\"99%\",\"TTFT (s)\":0.25,\"Latency (s)\":2.0}]";
    assertThat(analyse(rows).stat(Metric.TTFT).p99()).isEqualTo(250);
    String columns =
        "{\"Percentiles\":[\"50%\",\"99%\"],\"TTFT (s)\":[0.1,0.25],\"ITL (s)\":[0.01,0.02]}";
    assertThat(analyse(columns).stat(Metric.TTFT).p50()).isEqualTo(100);
    assertThat(analyse(columns).stat(Metric.ITL).p99()).isEqualTo(20);
  }

  // ---- inference-perf ----

  @Test
  void inferencePerfSummaryWithGoodput() {
    Summary s =
        analyse(
            "{\"benchmark_time_seconds\":50.0,\"load_summary\":{\"count\":100,\"requested_rate\":2.0,"
                + "\"concurrency\":8},\"successes\":{\"count\":98,\"latency\":{\"request_latency\":"
                + "{\"mean\":1.0,\"median\":0.9},\"time_to_first_token\":{\"mean\":0.2,\"p99\":0.4},"
                + "\"inter_token_latency\":{\"mean\":0.02}},\"throughput\":{\"requests_per_sec\":1.96},"
                + "\"prompt_len\":{\"mean\":100.0,\"min\":10,\"max\":400,\"p25\":20,\"p75\":180},"
                + "\"goodput_metrics\":{\"request_goodput\":1.5,\"good_requests\":75,"
                + "\"goodput_percentage\":76.5}},\"failures\":{\"count\":2}}");
    assertThat(s.durationS()).isEqualTo(50);
    assertThat(s.run().goodputPerS).isEqualTo(1.5);
    assertThat(s.run().goodCount).isEqualTo(75);
    assertThat(s.count(Status.ERROR)).isEqualTo(2);
    assertThat(check(s, "prompt_lengths_not_mixed").verdict()).isEqualTo(Check.Verdict.FAIL);
  }

  @Test
  void whatTheServerSaysIsNoResult() {
    refused(
        "{\"load_summary\":{},\"successes\":{\"count\":9,\"rate\":1.5,\"queue_len\":{\"mean\":2},"
            + "\"request_latency\":{\"mean\":2.5}},\"failures\":{}}",
        "server's own metrics",
        "lifecycle_metrics");
    refused("{\"num_sessions\":3,\"total_events\":9}", "sessions");
  }

  @Test
  void inferencePerfRequestsOfBothCounts() {
    String two =
        "[{\"start_time\":10.0,\"end_time\":11.0,\"request\":\"r\",\"response\":\"x\",\"info\":{"
            + "\"request_metrics\":{\"text\":{\"input_tokens\":7}},\"response_metrics\":{"
            + "\"output_tokens\":6,\"output_token_times\":[10.2,10.4,10.4,10.7],"
            + "\"server_usage\":{\"prompt_tokens\":8,\"completion_tokens\":5}}},\"error\":null},"
            + "{\"start_time\":10.0,\"end_time\":14.0,\"request\":\"s\",\"info\":null,"
            + "\"error\":{\"error_type\":\"TimeoutError\",\"error_msg\":\"\"}}]";
    Summary course = analyse(two);
    assertThat(course.stat(Metric.TPOT).mean()).isCloseTo(125, within(1e-6));
    assertThat(course.durationS()).isCloseTo(1, within(EXACT));
    Summary own = analyse(two, Compat.INFERENCE_PERF.definitions(), Fixtures.SLO);
    // 0.5 s over the five gaps of six tokens of text; four seconds from first start to last end.
    assertThat(own.stat(Metric.TPOT).mean()).isCloseTo(100, within(1e-6));
    assertThat(own.durationS()).isCloseTo(4, within(EXACT));
    assertThat(own.requestsPerS()).isCloseTo(0.25, within(EXACT));
    assertThat(own.outputTokensPerS()).isCloseTo(1.5, within(EXACT));
    assertThat(own.stat(Metric.ITL).count()).isEqualTo(3);
    assertThat(own.stat(Metric.ITL).min()).isZero();
    assertThat(own.goodput().considered()).isEqualTo(1);
  }

  // ---- GenAI-Perf and AIPerf ----

  @Test
  void genAiPerfBeforeItHadSections() {
    Summary s =
        analyse(
            "{\"request_throughput\":{\"unit\":\"requests/sec\",\"avg\":5.0},\"request_latency\":"
                + "{\"unit\":\"ms\",\"avg\":900.0,\"p99\":1200.0},\"time_to_first_token\":"
                + "{\"unit\":\"ms\",\"avg\":100.0},\"request_goodput\":{\"unit\":\"requests/sec\","
                + "\"avg\":-1.0},\"telemetry_stats\":{},\"input_config\":{\"model\":[\"m\"],"
                + "\"streaming\":true,\"concurrency\":16,\"request_rate\":null,"
                + "\"output_tokens_mean\":256,\"synthetic_input_tokens_mean\":1024,"
                + "\"goodput\":{\"time_to_first_token\":500.0,\"inter_token_latency\":40.0}}}");
    assertThat(s.run().tool()).isEqualTo("genai-perf");
    assertThat(s.run().concurrencyLimit).isEqualTo(16);
    assertThat(s.run().askedOutput).isEqualTo(256);
    assertThat(s.run().slo).isEqualTo(Slo.of(500, 40));
    assertThat(s.run().goodputPerS).isNaN();
    assertThat(s.labels).containsEntry("model", "m");
    assertThat(check(s, "streaming").verdict()).isEqualTo(Check.Verdict.PASS);
    Summary csv =
        analyse(
            "Metric,avg,min,max,p99,p95,p90,p75,p50,p25\r\n"
                + "Time To First Token (ns),\"13,266,974\",\"11,818,732\",\"18,351,779\","
                + "\"16,513,479\",1,1,1,\"13,000,000\",1\r\nNum Output Token,20,1,1,1,1,1,1,1,1\r\n\r\n"
                + "Metric,Value\r\nRequest Throughput (per sec),4.44\r\n");
    assertThat(csv.stat(Metric.TTFT).mean()).isCloseTo(13.266974, within(EXACT));
    assertThat(csv.meanOutput).isEqualTo(20);
    assertThat(csv.requestsPerS()).isEqualTo(4.44);
  }

  @Test
  void tritonsStreamHasNoChoices() {
    Summary s =
        analyse(
            Fixtures.genAiPerf(
                10,
                new Object[] {50, "{\"model_name\":\"e\",\"text_output\":\"\"}"},
                new Object[] {80, "{\"model_name\":\"e\",\"text_output\":\"H\"}"},
                new Object[] {95, "{\"model_name\":\"e\",\"text_output\":\"i\"}"}));
    assertThat(s.stat(Metric.TTFT).mean()).isCloseTo(80, within(EXACT));
    assertThat(s.stat(Metric.ITL).mean()).isCloseTo(15, within(EXACT));
  }

  @Test
  void aiperfKeepsItsSlosInTwoPlaces() {
    String file =
        "{\"schema_version\":\"1.0\",\"request_latency\":{\"unit\":\"ms\",\"avg\":9.0},"
            + "\"request_count\":{\"unit\":\"requests\",\"avg\":5.0},\"goodput\":{\"unit\":"
            + "\"requests/sec\",\"avg\":2.5},\"input_config\":{%s}}";
    String slos = "{\"time_to_first_token\":300.0,\"inter_token_latency\":20.0}";
    Slo expected = Slo.of(300, 20);
    assertThat(read(String.format(file, "\"slos\":" + slos)).get(0).slo).isEqualTo(expected);
    assertThat(read(String.format(file, "\"input\":{\"goodput\":" + slos + "}")).get(0).slo)
        .isEqualTo(expected);
  }

  @Test
  void aiperfRecordsWithTheServersCount() {
    String line =
        "{\"metadata\":{\"session_num\":0,\"x_request_id\":\"a\",\"request_start_ns\":5,"
            + "\"request_end_ns\":9,\"worker_id\":\"w\",\"benchmark_phase\":\"profiling\"},"
            + "\"metrics\":{\"time_to_first_token\":{\"value\":100,\"unit\":\"ms\"},"
            + "\"request_latency\":{\"value\":300,\"unit\":\"ms\"},%s},\"error\":null}\n";
    Summary usage =
        analyse(
            String.format(line, "\"usage_completion_tokens\":{\"value\":11,\"unit\":\"tokens\"}"));
    assertThat(usage.stat(Metric.TPOT).mean()).isCloseTo(20, within(EXACT));
    assertThat(usage.tokenSources).containsOnlyKeys("usage");
    Summary sum =
        analyse(
            String.format(
                line,
                "\"output_token_count\":{\"value\":5,\"unit\":\"tokens\"},"
                    + "\"reasoning_token_count\":{\"value\":6,\"unit\":\"tokens\"}"));
    assertThat(sum.meanOutput).isEqualTo(11);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"schema_version\":\"1.0\",\"metadata\":{\"aggregation_type\":\"confidence\"},"
            + "\"metrics\":{\"time_to_first_token_p99\":{\"mean\":1.0,\"unit\":\"ms\"}}}",
        "{\"timeslices\":[{\"start_ns\":1,\"request_latency\":{\"avg\":1.0,\"unit\":\"ms\"}}]}",
        "{\"metadata\":{\"session_num\":1},\"start_perf_ns\":5,\"responses\":[]}",
        "{\"data\":[{\"session_id\":\"a\",\"payloads\":[{\"messages\":[]}]}]}"
      })
  void filesBesideResultsSayWhatToReadInstead(String content) {
    refused(content, "no results in it", "profile_export");
  }

  // ---- the others ----

  @Test
  void aFormatThatWasForcedOnAnotherFileIsRefused() {
    String vllm = vllm(2, 10);
    String array = "[{\"a\":1},{\"b\":2}]";
    String own = Fixtures.own("\"events\":[[10,1,\"content\"]]");
    for (Format f : Format.values()) {
      for (String content : List.of(own, array, "hello\n", "{\"a\":{\"b\":[1]}}")) {
        if (f != Format.MUSABENCH || !content.equals(own)) {
          assertThatThrownBy(() -> ServingFiles.read(write(content), f))
              .as(f + " on " + content)
              .isInstanceOf(ServingFormatException.class);
        }
      }
      if (f != Format.VLLM && f != Format.SGLANG) {
        assertThatThrownBy(() -> ServingFiles.read(write(vllm), f))
            .as(f.id())
            .isInstanceOf(ServingFormatException.class);
      }
    }
  }

  @Test
  void aSimulationIsReadAndCalledOne() {
    Summary s =
        analyse(
            "instance id,request id,model,input,output,arrival,end_time,latency,queuing_delay,TTFT,"
                + "TPOT,ITL\n0,0,m,100,4,1000000,191000000,190000000,5,100000000,30000000,"
                + "\"[20000000, 30000000, 40000000]\"\n");
    assertThat(s.stat(Metric.TTFT).mean()).isEqualTo(100);
    assertThat(s.stat(Metric.TPOT).mean()).isCloseTo(30, within(EXACT));
    assertThat(s.stat(Metric.ITL).max()).isEqualTo(40);
    assertThat(s.run().notes).contains("simulated, not measured");
  }

  @Test
  void reasoningMakesTheFirstTokenOfTheAnswerAnotherThing() {
    List<Run> runs =
        new java.util.ArrayList<>(
            read(
                Fixtures.own(
                    "\"events\":[[100,1,\"reasoning\"],[900,1,\"content\"],[950,1,\"content\"]]")));
    runs.addAll(
        read(
            "{\"time_to_first_token\":{\"unit\":\"ms\",\"avg\":910.0},\"request_latency\":"
                + "{\"unit\":\"ms\",\"avg\":980.0}}"));
    List<Comparison.Row> rows = Comparison.of(analyse(runs, Definitions.COURSE, Fixtures.SLO));
    assertThat(rows.get(0).stat(Metric.TTFT).mean()).isEqualTo(100);
    assertThat(rows.get(1).stat(Metric.TTFT)).isNull();
    assertThat(rows.get(1).blanked().get(0)).contains("ttft.first_content");
    List<Summary> alone = analyse(runs.subList(1, 2), Definitions.COURSE, Fixtures.SLO);
    assertThat(Comparison.of(alone).get(0).comparable()).isTrue();
  }

  @Test
  void failuresMakeTheP99OfAFileOfStatisticsInfinite() {
    String failed =
        vllm(2, 10).replace("\"completed\":4,\"failed\":0", "\"completed\":98,\"failed\":%d");
    assertThat(analyse(String.format(failed, 2)).stat(Metric.TTFT).p99WithFailures).isInfinite();
    assertThat(analyse(String.format(failed, 0)).stat(Metric.TTFT).p99WithFailures).isNaN();
  }

  @Test
  void whatPowerShellRedirects() throws Exception {
    String log =
        "============ Serving Benchmark Result ============\r\nSuccessful requests: 7\r\n"
            + "Mean TTFT (ms): 5.5\r\n====\r\n";
    String lines = Fixtures.own("\"events\":[[10,1,\"content\"]],\"prompt\":\"说\"").repeat(40_000);
    for (Charset c : List.of(StandardCharsets.UTF_16LE, StandardCharsets.UTF_16BE)) {
      Path f = folder.resolve(c.name());
      Files.write(f, ("\ufeff" + log).getBytes(c));
      assertThat(ServingFiles.read(f, null).get(0).ok).isEqualTo(7);
      Files.write(f, ("\ufeff" + lines).getBytes(c));
      assertThat(ServingFiles.read(f, null).get(0).requests.size()).isEqualTo(40_000);
    }
  }

  @Test
  void compatOfAnotherToolNeedsRequests() {
    Summary s = analyse(vllm(2, 10), Compat.AIPERF.definitions(), Fixtures.SLO);
    assertThat(s.notes).anyMatch(n -> n.contains("vllm's definitions"));
    assertThat(analyse(vllm(2, 10), Compat.VLLM.definitions(), Fixtures.SLO).notes).isEmpty();
    assertThat(new Analysis(Definitions.COURSE, Slo.NONE, Map.of()).of(read(vllm(2, 10))))
        .hasSize(1);
  }
}
