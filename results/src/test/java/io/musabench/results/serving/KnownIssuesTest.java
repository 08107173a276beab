package io.musabench.results.serving;

import static io.musabench.results.serving.Fixtures.SLO;
import static io.musabench.results.serving.Fixtures.analyse;
import static io.musabench.results.serving.Fixtures.check;
import static io.musabench.results.serving.Fixtures.content;
import static io.musabench.results.serving.Fixtures.delta;
import static io.musabench.results.serving.Fixtures.finding;
import static io.musabench.results.serving.Fixtures.finish;
import static io.musabench.results.serving.Fixtures.genAiPerf;
import static io.musabench.results.serving.Fixtures.has;
import static io.musabench.results.serving.Fixtures.own;
import static io.musabench.results.serving.Fixtures.read;
import static io.musabench.results.serving.Fixtures.role;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/**
 * What users of other tools ran into, each as an input with its right answer. The names in the
 * comments are those of the issue threads that describe them.
 */
class KnownIssuesTest {
  private static final double EXACT = 1e-9;

  /** An answered request: TTFT and TPOT in ms, n tokens one by one. */
  private static String request(double ttft, double tpot, int n) {
    StringBuilder events = new StringBuilder();
    for (int i = 0; i < n; i++) {
      events.append(i == 0 ? "" : ",");
      events.append('[').append(ttft + i * tpot).append(",1,\"content\"]");
    }
    return own("\"output_tokens\":" + n + ",\"events\":[" + events + "]");
  }

  private static Object[] at(double ms, String data) {
    return new Object[] {ms, data};
  }

  // perf_analyzer's goodput calculator
  @Test
  void goodputPairsTheValuesOfOneRequest() {
    String three = request(100, 0, 1) + request(2000, 10, 11) + request(100, 100, 11);
    Summary pass = analyse(three);
    assertThat(pass.goodput().good()).isEqualTo(1);
    assertThat(pass.goodput().considered()).isEqualTo(3);
    Summary fail = analyse(three, Definitions.COURSE.with(Definitions.SingleToken.FAIL), SLO);
    assertThat(fail.goodput().good()).isZero();
    Summary exclude = analyse(three, Definitions.COURSE.with(Definitions.SingleToken.EXCLUDE), SLO);
    assertThat(exclude.goodput().good()).isZero();
    assertThat(exclude.goodput().considered()).isEqualTo(2);
    // The tool itself pairs the first request's TTFT with the second one's TPOT.
    Summary genai = analyse(three, Compat.GENAI_PERF.definitions(), SLO);
    assertThat(genai.goodput().good()).isEqualTo(1);
    assertThat(genai.goodput().considered()).isEqualTo(2);
  }

  // vllm#3759, #15106
  @Test
  void roleChunkIsNotTheFirstToken() {
    Summary s =
        analyse(genAiPerf(10, at(900, role()), at(2200, content("H")), at(2220, content("i"))));
    assertThat(s.stat(Metric.TTFT).mean()).isCloseTo(2200, within(EXACT));
    assertThat(s.stat(Metric.ITL).count()).isEqualTo(1);
    assertThat(s.stat(Metric.ITL).mean()).isCloseTo(20, within(EXACT));
    Summary any =
        analyse(
            genAiPerf(10, at(900, role()), at(2200, content("H")), at(2220, content("i"))),
            Compat.VLLM.definitions(),
            SLO);
    assertThat(any.stat(Metric.TTFT).mean()).isCloseTo(900, within(EXACT));
  }

  // evalscope PR#1645
  @Test
  void finishChunkIsNoToken() {
    Summary s =
        analyse(
            genAiPerf(
                10,
                at(100, role()),
                at(450, content("H")),
                at(650, content("i")),
                at(900, finish())));
    assertThat(s.stat(Metric.TTFT).mean()).isCloseTo(450, within(EXACT));
    assertThat(s.stat(Metric.ITL).count()).isEqualTo(1);
    assertThat(s.stat(Metric.ITL).mean()).isCloseTo(200, within(EXACT));
    assertThat(s.stat(Metric.E2E).mean()).isCloseTo(650, within(EXACT));
    assertThat(s.stat(Metric.E2E).formula()).isEqualTo(Formula.E2E_LAST_TOKEN);
  }

  // evalscope#1694
  @Test
  void reasoningHasATtftAndZerosAmongPercentilesAreCaught() {
    Summary s =
        analyse(
            genAiPerf(
                10,
                at(300, delta("{\"reasoning\":\"hm\"}")),
                at(9555, content("So")),
                at(9600, content("!"))));
    assertThat(s.stat(Metric.TTFT).mean()).isCloseTo(300, within(EXACT));
    Summary table =
        analyse(
            "[{\"Percentiles\":\"25%\",\"TTFT (ms)\":0.0,\"Latency (s)\":9.9},"
                + "{\"Percentiles\":\"50%\",\"TTFT (ms)\":9555.0,\"Latency (s)\":10.1}]");
    assertThat(finding(table, "zero_percentile").level()).isEqualTo(Finding.Level.WARN);
  }

  // inference-perf#559, guidellm#737, genai-bench#81, perf_analyzer PR#433, aisix PR#869
  @Test
  void reasoningAndContentAreTwoMetrics() {
    Summary s =
        analyse(
            genAiPerf(
                10,
                at(1175, delta("{\"reasoning_content\":\"Let\"}")),
                at(183_600, content("42"))));
    assertThat(s.stat(Metric.TTFT).mean()).isCloseTo(1175, within(EXACT));
    assertThat(s.stat(Metric.TTFO).mean()).isCloseTo(183_600, within(EXACT));
    assertThat(s.stat(Metric.TTFO).formula().id()).isEqualTo("ttft.first_content");
  }

  // vllm#6531
  @Test
  void meanItlBelowMeanTpotIsLegal() {
    Summary s =
        analyse(
            "{\"completed\":10,\"request_throughput\":1.0,\"mean_ttft_ms\":10.0,"
                + "\"mean_tpot_ms\":30.0,\"mean_itl_ms\":20.0}");
    assertThat(finding(s, "itl_is_not_tpot").level()).isEqualTo(Finding.Level.NOTE);
    assertThat(finding(s, "itl_is_not_tpot").effect()).startsWith("legal");
  }

  // vllm#7242
  @Test
  void ttftIsTakenOutOfTheGaps() {
    Summary s =
        analyse(
            "{\"completed\":1,\"request_throughput\":1,\"input_lens\":[5],\"output_lens\":[3],"
                + "\"ttfts\":[0.5],\"itls\":[[0.5,0.02,0.02]],\"errors\":[\"\"]}");
    assertThat(s.stat(Metric.ITL).count()).isEqualTo(2);
    assertThat(s.stat(Metric.ITL).mean()).isCloseTo(20, within(EXACT));
    assertThat(has(s, "ttft_among_gaps")).isTrue();
  }

  // sglang PR#12064, #12156
  @Test
  void chunkGapsAndTokenGapsAreToldApart() {
    StringBuilder events = new StringBuilder("[100,1,\"content\"]");
    double t = 100;
    int tokens = 1;
    int[] accepted = {3, 2, 3, 3, 2};
    for (int i = 0; i < 10; i++) {
      t += 8.72;
      tokens += accepted[i % 5];
      events.append(",[").append(t).append(',').append(accepted[i % 5]).append(",\"content\"]");
    }
    String file = own("\"output_tokens\":" + tokens + ",\"events\":[" + events + "]");
    Summary chunk = analyse(file);
    assertThat(chunk.stat(Metric.ITL).mean()).isCloseTo(8.72, within(1e-6));
    assertThat(chunk.stat(Metric.ITL).formula().id()).isEqualTo("itl.chunk");
    Summary spread = analyse(file, Definitions.COURSE.with(Formula.ITL_SPREAD), SLO);
    assertThat(spread.stat(Metric.ITL).mean()).isCloseTo(8.72 / 2.6, within(1e-6));
    assertThat(spread.stat(Metric.ITL).formula().id()).isEqualTo("itl.spread");
    assertThat(chunk.stat(Metric.TPOT).mean()).isCloseTo(8.72 / 2.6, within(1e-6));
  }

  // sglang PR#26497
  @Test
  void chunkOfNoTokenIsSkipped() {
    Summary s =
        analyse(
            own("\"events\":[[100,1,\"content\"],[110,0,\"content\"],[120,1,\"content\"]]"),
            Definitions.COURSE.with(Formula.ITL_SPREAD),
            SLO);
    assertThat(s.stat(Metric.ITL).count()).isEqualTo(1);
    assertThat(s.stat(Metric.ITL).mean()).isCloseTo(20, within(EXACT));
  }

  // sglang#10746
  @Test
  void theLengthAskedForIsNotTheLengthThatCame() {
    List<Object[]> events = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      events.add(at(50 + i * 50, content("x")));
    }
    Summary s = analyse(genAiPerf(1024, events.toArray(Object[][]::new)));
    assertThat(s.stat(Metric.E2E).mean()).isCloseTo(5000, within(EXACT));
    assertThat(s.stat(Metric.TPOT).mean()).isCloseTo(50, within(EXACT));
    // The same from a tool that writes the requested length: not repairable, but not silent.
    StringBuilder gaps = new StringBuilder("0.05");
    for (int i = 2; i < 100; i++) {
      gaps.append(",0.05");
    }
    Summary wrong =
        analyse(
            "{\"completed\":2,\"request_throughput\":1,\"mean_e2e_latency_ms\":5000,"
                + "\"random_output_len\":1024,\"output_lens\":[1024,1024],\"ttfts\":[0.05,0.05],"
                + "\"itls\":[["
                + gaps
                + "],["
                + gaps
                + "]],\"errors\":[\"\",\"\"]}");
    assertThat(has(wrong, "outputs_equal_asked")).isTrue();
  }

  // sglang#9585, PR#36047
  @Test
  void aTtftOfZeroIsUnmeasured() {
    Summary s =
        analyse(
            "{\"completed\":1,\"request_throughput\":1,\"output_lens\":[1000],\"ttfts\":[0.0],"
                + "\"itls\":[[]],\"latencies\":[0.33],\"errors\":[\"\"]}");
    assertThat(s.count(Status.OK)).isEqualTo(1);
    assertThat(s.stat(Metric.TTFT).missing()).isTrue();
    assertThat(s.stat(Metric.TPOT).missing()).isTrue();
    assertThat(has(s, "zero_ttft")).isTrue();
    assertThat(s.goodput().notEvaluable()).isEqualTo(1);
    Summary printed =
        analyse(
            "============ Serving Benchmark Result ============\nBackend: sglang\n"
                + "Successful requests: 996\nMean TTFT (ms): 2074.09\nMean ITL (ms): 0.00\n"
                + "Median ITL (ms): 0.00\nP99 ITL (ms): 0.00\n====\n");
    assertThat(printed.stat(Metric.ITL).missing()).isTrue();
  }

  // vllm#6064
  @Test
  void allEmptyAnswersHaveNoMedian() {
    Summary s =
        analyse(
            "{\"completed\":2,\"request_throughput\":1,\"output_lens\":[0,0],\"ttfts\":[0.0,0.0],"
                + "\"itls\":[[],[]],\"errors\":[\"\",\"\"]}");
    assertThat(s.stat(Metric.TTFT).p50()).isNaN();
    assertThat(s.count(Status.OK)).isZero();
    assertThat(has(s, "empty_answers")).isTrue();
  }

  // vllm PR#26478, InferenceX#357, guidellm#444
  @Test
  void refusedRequestsHaveNoLatencyAndNoGoodput() {
    String refused = own("\"status\":\"error\",\"end_ms\":1.0");
    Summary all = analyse(refused.repeat(8));
    assertThat(all.count(Status.OK)).isZero();
    assertThat(all.stat(Metric.TTFT).p99()).isNaN();
    assertThat(all.goodput().requestsPerS()).isZero();
    assertThat(all.goodput().considered()).isEqualTo(8);
    Summary some = analyse(request(100, 10, 5).repeat(80) + refused.repeat(20));
    assertThat(some.stat(Metric.TTFT).p99()).isCloseTo(100, within(EXACT));
    assertThat(some.stat(Metric.TTFT).p99WithFailures).isInfinite();
    assertThat(finding(some, "failed_requests").what()).contains("20 of 100");
  }

  // guidellm#529, #514
  @Test
  void unfinishedRequestsMakeTokensToo() {
    StringBuilder file = new StringBuilder();
    for (int i = 0; i < 5; i++) {
      file.append(
          own(
              "\"start_ns\":0,\"end_ms\":10000,\"output_tokens\":100,"
                  + "\"events\":[[100,1,\"content\"],[10000,99,\"content\"]]"));
      file.append(
          own(
              "\"start_ns\":0,\"end_ms\":10000,\"status\":\"cut\",\"output_tokens\":80,"
                  + "\"events\":[[100,80,\"content\"]]"));
    }
    Summary s = analyse(file.toString());
    assertThat(s.outputTokensPerS()).isCloseTo(50, within(EXACT));
    assertThat(s.allOutputTokensPerS()).isCloseTo(90, within(EXACT));
  }

  // vllm#54101, PR#54136
  @Test
  void waitingInTheClientIsShown() {
    StringBuilder file = new StringBuilder();
    for (int i = 0; i < 8; i++) {
      long planned = i * 100_000_000L;
      long sent = i * 500_000_000L;
      file.append(
          own(
              "\"start_ns\":"
                  + sent
                  + ",\"scheduled_ns\":"
                  + planned
                  + ",\"end_ms\":500,"
                  + "\"output_tokens\":2,\"events\":[[250,1,\"content\"],[500,1,\"content\"]]"));
    }
    Summary s = analyse(file.toString());
    assertThat(s.stat(Metric.E2E).mean()).isCloseTo(500, within(EXACT));
    // From the schedule: 0.5, 0.9, … 3.3 s.
    assertThat(finding(s, "client_delay").what()).contains("1900 ms mean").contains("3272 ms P99");
  }

  // vllm#56653, PR#56647
  @Test
  void backToBackIsNotAtOnce() {
    StringBuilder file = new StringBuilder();
    for (int i = 0; i < 3; i++) {
      file.append(
          own(
              "\"start_ns\":"
                  + i * 1_000_000_000L
                  + ",\"end_ms\":1000,"
                  + "\"events\":[[500,1,\"content\"],[1000,1,\"content\"]]"));
    }
    assertThat(analyse(file.toString()).peakConcurrency).isEqualTo(1);
  }

  // vllm#37666
  @Test
  void aPeakBelowTheMeanIsNoPeak() {
    Summary s =
        analyse(
            "{\"completed\":8,\"request_throughput\":1,\"mean_ttft_ms\":10,"
                + "\"output_throughput\":199.4,\"max_output_tokens_per_s\":128.0}");
    assertThat(has(s, "peak_below_mean")).isTrue();
  }

  // vllm#12845
  @Test
  void throughputAndTpotTogetherGiveTheBatch() {
    Summary s =
        analyse(
            "{\"completed\":57,\"request_throughput\":5.29,\"mean_ttft_ms\":0.1,"
                + "\"mean_tpot_ms\":108.0,\"output_throughput\":529.0,\"total_output_tokens\":5700,"
                + "\"max_concurrency\":57,\"request_rate\":\"inf\"}");
    assertThat(finding(s, "littles_law").level()).isEqualTo(Finding.Level.OK);
    assertThat(s.requestsPerS() * 99 * 0.108).isCloseTo(57, within(1.0));
  }

  // vllm#52884, PR#53920
  @Test
  void samePromptsInTwoRunsWarn() {
    String one = own("\"prompt\":\"tell me\",\"events\":[[10,1,\"content\"]]");
    List<Run> runs = new ArrayList<>(read(one.repeat(3)));
    runs.addAll(read(one.repeat(3)));
    List<Summary> s = analyse(runs, Definitions.COURSE, SLO);
    assertThat(has(s.get(0), "same_prompts")).isFalse();
    assertThat(has(s.get(1), "same_prompts")).isTrue();
    assertThat(has(s.get(0), "repeated_prompts")).isTrue();
  }

  // LMBenchmark#35
  @Test
  void aCachedLongPromptIsAnOutlier() {
    StringBuilder csv =
        new StringBuilder(
            "prompt_tokens,generation_tokens,ttft,generation_time,launch_time,finish_time\n");
    for (int i = 0; i < 30; i++) {
      csv.append("20000,100,2.").append(i).append(",3.0,").append(i).append(".0,").append(i + 5);
      csv.append(".5\n");
    }
    csv.append("21000,100,0.06,3.0,40.0,43.06\n");
    Summary s = analyse(csv.toString());
    assertThat(finding(s, "prefix_cache_outliers").what()).contains("21000").contains("60.0 ms");
  }

  // llmperf PR#99
  @Test
  void ttftIsNotPartOfItl() {
    Summary s =
        analyse(
            "[{\"error_code\":null,\"ttft_s\":0.5,\"end_to_end_latency_s\":0.68,"
                + "\"inter_token_latency_s\":0.068,\"number_output_tokens\":10}]");
    assertThat(s.stat(Metric.TPOT).mean()).isCloseTo(20, within(EXACT));
    Summary own =
        analyse(
            "[{\"error_code\":null,\"ttft_s\":0.5,\"end_to_end_latency_s\":0.68,"
                + "\"inter_token_latency_s\":0.068,\"number_output_tokens\":10}]",
            Compat.LLMPERF.definitions(),
            SLO);
    assertThat(own.stat(Metric.ITL).mean()).isCloseTo(68, within(EXACT));
  }

  // llmperf PR#93
  @Test
  void chunkWithoutChoicesIsSkipped() {
    Summary s =
        analyse(
            genAiPerf(
                10,
                at(10, "{\"choices\":[]}"),
                at(20, "{\"choices\":[{}]}"),
                at(100, content("a")),
                at(120, content("b")),
                at(
                    130,
                    "{\"choices\":[],\"usage\":{\"completion_tokens\":2,\"prompt_tokens\":7}}")),
            Compat.VLLM.definitions(),
            SLO);
    assertThat(s.stat(Metric.TTFT).mean()).isCloseTo(100, within(EXACT));
    assertThat(s.meanOutput).isEqualTo(2);
    assertThat(s.tokenSources).containsKey("usage");
  }

  // evalscope#585, #721; aiperf PR#1279
  @Test
  void aFirstChunkOfSeveralTokensLeavesFewerToDivideBy() {
    StringBuilder events = new StringBuilder("[200,5,\"content\"]");
    for (int i = 1; i <= 20; i++) {
      events.append(",[").append(200 + 50 * i).append(",1,\"content\"]");
    }
    Summary s = analyse(own("\"output_tokens\":25,\"events\":[" + events + "]"));
    assertThat(s.stat(Metric.TPOT).mean()).isCloseTo(50, within(EXACT));
    Summary aiperf =
        analyse(
            own("\"output_tokens\":25,\"events\":[" + events + "]"),
            Compat.AIPERF.definitions(),
            SLO);
    assertThat(aiperf.stat(Metric.TPOT).mean()).isCloseTo(1000.0 / 24, within(EXACT));
  }

  // evalscope#413
  @Test
  void withoutStreamingThereIsNoTtft() {
    String one = own("\"output_tokens\":300,\"end_ms\":32000,\"events\":[[32000,300,\"content\"]]");
    Summary s = analyse(one.repeat(3));
    assertThat(s.stat(Metric.TTFT).missing()).isTrue();
    assertThat(s.stat(Metric.TTFT).note).contains("not streaming");
    assertThat(s.stat(Metric.E2E).mean()).isEqualTo(32000);
    assertThat(check(s, "streaming").verdict()).isEqualTo(Check.Verdict.FAIL);
    assertThat(s.goodput().basis()).isEqualTo("none");
  }

  // evalscope#708, #408
  @Test
  void theReportNamesTheClockPoints() {
    String vllm = "{\"completed\":9,\"request_throughput\":1,\"mean_ttft_ms\":900}";
    String guide =
        "{\"completed\":9,\"request_throughput\":1,\"mean_e2e_latency_ms\":9000,"
            + "\"mean_ttft_ms\":2200}";
    List<Run> runs = new ArrayList<>(read(vllm));
    runs.addAll(read(guide));
    List<Summary> s = analyse(runs, Definitions.COURSE, SLO);
    assertThat(s.get(0).stat(Metric.TTFT).formula().id()).isEqualTo("ttft.first_any");
    assertThat(s.get(1).stat(Metric.TTFT).formula().id()).isEqualTo("ttft.first_content");
    List<Comparison.Row> rows = Comparison.of(s);
    assertThat(rows.get(0).comparable()).isFalse();
    assertThat(rows.get(0).stat(Metric.TTFT)).isNull();
    assertThat(rows.get(1).comparable()).isTrue();
    Summary seconds =
        analyse(
            "{\"Time taken for tests (s)\":10,\"Average time to first token (s)\":22.1,"
                + "\"Total requests\":10,\"Succeed requests\":10,\"Failed requests\":0}");
    assertThat(seconds.stat(Metric.TTFT).mean()).isCloseTo(22_100, within(1e-6));
    Summary ms =
        analyse(
            "{\"Test Duration (s)\":10,\"Avg TTFT (ms)\":221.0,\"Total Requests\":10,"
                + "\"Success Requests\":10,\"Failed Requests\":0}");
    assertThat(ms.stat(Metric.TTFT).mean()).isCloseTo(221, within(1e-6));
  }

  // aiperf#339, perf_analyzer#298, dynamo#723
  @Test
  void outputsFarFromTheLengthAskedForAreFlagged() {
    Summary s =
        analyse(
            "{\"request_latency\":{\"unit\":\"ms\",\"avg\":100.0},\"schema_version\":\"1.0\","
                + "\"output_sequence_length\":{\"unit\":\"tokens\",\"avg\":382.0},"
                + "\"input_config\":{\"input\":{\"prompt\":{\"output_tokens\":{\"mean\":5000}}}}}");
    assertThat(finding(s, "output_length_off").what()).contains("382.0").contains("5000");
    assertThat(check(s, "prefill_and_decode_runs").verdict()).isNotEqualTo(Check.Verdict.PASS);
    Summary raw = analyse(genAiPerf(5000, at(10, content("a")), at(20, content("b"))));
    assertThat(finding(raw, "output_length_off").what()).contains("2.0 tokens").contains("5000");
  }

  // aiperf#340
  @Test
  void chunksOfOnePacketAreNoticed() {
    String one =
        own("\"events\":[[100,1,\"content\"],[100.0079,1,\"content\"],[120,1,\"content\"]]");
    assertThat(has(analyse(one.repeat(4)), "coalesced_chunks")).isTrue();
  }

  // inference-perf PR#410, #364
  @Test
  void chunkCountsAreSummedToTokens() {
    Summary s =
        analyse(own("\"events\":[[100,3,\"content\"],[120,4,\"content\"],[140,2,\"content\"]]"));
    assertThat(s.meanOutput).isEqualTo(9);
    assertThat(s.tokenSources).containsOnlyKeys("events");
  }

  // inference-perf#580, #644
  @Test
  void theServersCountWins() {
    Summary s =
        analyse(
            "[{\"start_time\":1.0,\"end_time\":2.0,\"request\":\"x\",\"info\":{\"input_tokens\":5,"
                + "\"output_tokens\":129,\"output_token_times\":[1.1,1.2],"
                + "\"server_usage\":{\"completion_tokens\":128}},\"error\":null}]");
    assertThat(s.meanOutput).isEqualTo(128);
    assertThat(s.tokenSources).containsOnlyKeys("usage");
    assertThat(finding(s, "token_counts_differ").what()).startsWith("1 requests").endsWith("1");
  }

  // flexible-inference-bench#66
  @Test
  void spacesAreTokensToo() {
    List<Object[]> events = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      events.add(at(100 + 10 * i, content(" ")));
    }
    Summary s = analyse(genAiPerf(100, events.toArray(Object[][]::new)));
    assertThat(s.meanOutput).isEqualTo(100);
    assertThat(s.stat(Metric.TPOT).mean()).isCloseTo(10, within(EXACT));
  }

  // perf_analyzer#393, client PR#695
  @Test
  void ratesAreOverTheTimeThatWasUsed() {
    String one =
        own(
            "\"start_ns\":0,\"end_ms\":400,"
                + "\"events\":[[100,1,\"content\"],[400,1,\"content\"]]");
    assertThat(analyse(one.repeat(20)).requestsPerS()).isCloseTo(50, within(EXACT));
  }

  // client PR#646
  @Test
  void emptyAnswersAreFailures() {
    Summary s = analyse(genAiPerf(10, at(3, role()), at(8, "[DONE]")));
    assertThat(s.count(Status.ERROR)).isEqualTo(1);
    assertThat(s.stat(Metric.TTFT).missing()).isTrue();
    Summary none = analyse(genAiPerf(10));
    assertThat(none.count(Status.ERROR)).isEqualTo(1);
  }

  // tokenomics PR#16
  @Test
  void anErrorEventAfterHttp200IsAFailure() {
    Summary s =
        analyse(
            genAiPerf(
                10, at(100, content("a")), at(110, "event: error\ndata: {\"message\":\"oom\"}")));
    assertThat(s.count(Status.ERROR)).isEqualTo(1);
    Summary reasoning =
        analyse(
            genAiPerf(
                10,
                at(100, delta("{\"reasoning\":\"a\"}")),
                at(110, content("b")),
                at(
                    120,
                    "{\"choices\":[],\"usage\":{\"completion_tokens\":9,"
                        + "\"completion_tokens_details\":{\"reasoning_tokens\":5}}}")));
    assertThat(reasoning.meanOutput).isEqualTo(9);
  }

  // LMCache PR#2970
  @Test
  void meanAndPercentilesOfTwoPopulationsAreCaught() {
    Summary s =
        analyse(
            "{\"completed\":9,\"request_throughput\":1,\"mean_ttft_ms\":10,"
                + "\"median_ttft_ms\":100,\"p99_ttft_ms\":110}");
    assertThat(has(s, "mean_outside")).isTrue();
    Summary legal =
        analyse(
            "{\"completed\":9,\"request_throughput\":1,\"mean_ttft_ms\":80,"
                + "\"median_ttft_ms\":100,\"p99_ttft_ms\":110}");
    assertThat(has(legal, "mean_outside")).isFalse();
  }

  // AiDotNet PR#1888
  @Test
  void aMissingTpotDoesNotPass() {
    String file = own("\"output_tokens\":20,\"events\":[[100,1,\"content\"]]");
    String noEnd =
        "[{\"error_code\":null,\"ttft_s\":0.1,\"end_to_end_latency_s\":null,"
            + "\"number_output_tokens\":20}]";
    Summary s = analyse(noEnd);
    assertThat(s.goodput().good()).isZero();
    assertThat(s.goodput().considered()).isZero();
    assertThat(s.goodput().notEvaluable()).isEqualTo(1);
    assertThat(analyse(file).goodput().good()).isLessThanOrEqualTo(1);
  }

  // guidellm PR#1085
  @Test
  void errorsAreBadAndCutOnesAreLeftOut() {
    String file =
        request(100, 10, 5)
            + own("\"status\":\"error\"")
            + own("\"status\":\"cut\",\"output_tokens\":3")
            + own("\"status\":\"cancelled\"");
    Summary s = analyse(file);
    assertThat(s.goodput().good()).isEqualTo(1);
    assertThat(s.goodput().considered()).isEqualTo(2);
    assertThat(
            analyse(file, Definitions.COURSE.with(Definitions.Failed.EXCLUDE), SLO)
                .goodput()
                .considered())
        .isEqualTo(1);
    assertThat(
            analyse(file, Definitions.COURSE.with(Definitions.Failed.ALL_BAD), SLO)
                .goodput()
                .considered())
        .isEqualTo(4);
  }

  // paiml/probar#29, cs249r_book#1936
  @Test
  void p99OfThreeIsNotTheMiddle() {
    Sample s = new Sample();
    for (double v : new double[] {10, 20, 30}) {
      s.add(v);
    }
    assertThat(PercentileMethod.LINEAR.of(s, 99)).isCloseTo(29.8, within(EXACT));
    assertThat(PercentileMethod.NEAREST_RANK.of(s, 99)).isEqualTo(30);
    assertThat(PercentileMethod.INDEX.of(s, 99)).isEqualTo(30);
  }

  // llm-d-benchmark#261, tt-inference-server#259, gpustack PR#2324
  @Test
  void scheduleDelayIsVisible() {
    Summary s =
        analyse(
            "{\"load_summary\":{\"count\":10,\"schedule_delay\":{\"mean\":3.5,\"p99\":9.0}},"
                + "\"successes\":{\"count\":10,\"latency\":{\"request_latency\":{\"mean\":1.0}}},"
                + "\"failures\":{\"count\":0}}");
    assertThat(finding(s, "client_delay").what()).contains("3.50 s late");
  }

  // sglang PR#30918, inference-perf#615; mlcommons/endpoints#86
  @Test
  void theSteadyWindowLeavesOutBurstAndDrain() {
    StringBuilder file = new StringBuilder();
    for (int wave = 0; wave < 10; wave++) {
      for (int i = 0; i < 4; i++) {
        double ttft = wave == 0 ? 900 : 100;
        long start = wave * 1_000_000_000L + i * 1_000_000L;
        file.append(
            own(
                "\"start_ns\":"
                    + start
                    + ",\"end_ms\":990,\"events\":[["
                    + ttft
                    + ",1,\"content\"],[990,1,\"content\"]]"));
      }
    }
    Summary all = analyse(file.toString());
    assertThat(all.stat(Metric.TTFT).max()).isEqualTo(900);
    assertThat(finding(all, "first_wave").what())
        .contains("first 4")
        .contains("900")
        .contains("100");
    Summary steady =
        analyse(file.toString(), Definitions.COURSE.with(Definitions.Duration.STEADY), SLO);
    assertThat(steady.stat(Metric.TTFT).max()).isEqualTo(100);
    assertThat(steady.durationHow).isEqualTo("steady");
    // Nine waves end in eight seconds: the edges of so short a run show.
    assertThat(steady.requestsPerS()).isCloseTo(4, within(0.5));
  }

  // GuideLLM's renamed meaning
  @Test
  void oneKeyTwoFormulasByVersion() {
    String metrics =
        "\"metrics\":{\"time_per_output_token_ms\":{\"successful\":{\"mean\":5.0,\"count\":3}}}";
    Run old =
        read("{\"benchmarks\":[{\"run_stats\":{},\"request_totals\":{\"total\":3},"
                + metrics
                + "}]}")
            .get(0);
    Run now =
        read("{\"metadata\":{\"guidellm_version\":\"0.5.0\"},\"benchmarks\":[{\"config\":{},"
                + metrics
                + "}]}")
            .get(0);
    assertThat(old.reported.get(0).formula).isEqualTo(Formula.TPOT_OVER_N);
    assertThat(now.reported.get(0).formula).isEqualTo(Formula.TPOT_INCL_FIRST);
    assertThat(now.toolVersion).isEqualTo("0.5.0");
  }

  // The vLLM documentation's example of four policies for one chunk of three tokens.
  @Test
  void fourPoliciesForOneChunk() {
    String file =
        own(
            "\"output_tokens\":5,"
                + "\"events\":[[100,1,\"content\"],[140,1,\"content\"],[180,3,\"content\"]]");
    double[] means = {40, 20, 20, 20};
    Formula[] formulas = {
      Formula.ITL_CHUNK, Formula.ITL_SPREAD, Formula.ITL_ZERO, Formula.ITL_REQUEST_MEAN
    };
    long[] counts = {2, 4, 4, 1};
    for (int i = 0; i < 4; i++) {
      Stat itl = analyse(file, Definitions.COURSE.with(formulas[i]), SLO).stat(Metric.ITL);
      assertThat(itl.mean()).as(formulas[i].id()).isCloseTo(means[i], within(EXACT));
      assertThat(itl.count()).as(formulas[i].id()).isEqualTo(counts[i]);
    }
    assertThat(analyse(file).stat(Metric.TPOT).mean()).isCloseTo(20, within(EXACT));
  }

  @Test
  void exactlyAtTheLimitIsBadForTheCourseAndGoodForTheTools() {
    String at = request(500, 50, 3);
    assertThat(analyse(at).goodput().good()).isZero();
    for (Compat tool : List.of(Compat.VLLM, Compat.AIPERF, Compat.GENAI_PERF)) {
      assertThat(analyse(at, tool.definitions(), SLO).goodput().good())
          .as(tool.id().toLowerCase(Locale.ROOT))
          .isEqualTo(1);
    }
  }
}
