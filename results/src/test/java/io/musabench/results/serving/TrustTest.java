package io.musabench.results.serving;

import static io.musabench.results.serving.Fixtures.SLO;
import static io.musabench.results.serving.Fixtures.analyse;
import static io.musabench.results.serving.Fixtures.content;
import static io.musabench.results.serving.Fixtures.finding;
import static io.musabench.results.serving.Fixtures.genAiPerf;
import static io.musabench.results.serving.Fixtures.has;
import static io.musabench.results.serving.Fixtures.own;
import static io.musabench.results.serving.Fixtures.read;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Numbers that would look right and are not: each input with what may be said about it. */
class TrustTest {
  private static final double EXACT = 1e-9;

  @TempDir Path folder;

  private static String text(List<Run> runs, Prediction prediction) {
    StringWriter out = new StringWriter();
    new ServingReport(analyse(runs, Definitions.COURSE, SLO), prediction)
        .text(new PrintWriter(out, true));
    return out.toString();
  }

  private static String json(List<Run> runs, Prediction prediction) throws Exception {
    StringWriter out = new StringWriter();
    new ServingReport(analyse(runs, Definitions.COURSE, SLO), prediction).json(out);
    return out.toString();
  }

  private static List<Run> both(String a, String b) {
    List<Run> runs = new ArrayList<>(read(a));
    runs.addAll(read(b));
    return runs;
  }

  /** One request a second of one second; every fourth fails after half of it. */
  private static String everyFourthFails() {
    StringBuilder file = new StringBuilder();
    for (int i = 0; i < 40; i++) {
      long start = i * 1_000_000_000L;
      file.append(
          i % 4 == 3
              ? own("\"start_ns\":" + start + ",\"status\":\"error\",\"end_ms\":500")
              : own(
                  "\"start_ns\":"
                      + start
                      + ",\"events\":[[100,1,\"content\"],[120,1,\"content\"]],\"end_ms\":900"));
    }
    return file.toString();
  }

  @Test
  void steadyGoodputThroughputAndShareAreOfTheSameRequests() {
    Definitions steady = Definitions.COURSE.with(Definitions.Duration.STEADY);
    Summary s = analyse(everyFourthFails(), steady, SLO);
    // From 0.9 s to 38 s (request 39 fails): requests 1 to 37 end in it, nine of which fail.
    assertThat(s.durationS()).isCloseTo(37.1, within(EXACT));
    assertThat(s.goodput().considered()).isEqualTo(37);
    assertThat(s.goodput().good()).isEqualTo(28);
    assertThat(s.goodput().requestsPerS()).isCloseTo(28 / 37.1, within(EXACT));
    assertThat(s.requestsPerS()).isCloseTo(28 / 37.1, within(EXACT));
    assertThat(s.stat(Metric.TTFT).p99WithFailures).isInfinite();
    // Answers of two tokens each, and none of a failed request.
    assertThat(s.allOutputTokensPerS()).isCloseTo(2 * 28 / 37.1, within(EXACT));
    // The 28 of 120 ms that start and end in the window.
    assertThat(s.meanConcurrency).isCloseTo(28 * 0.12 / 37.1, within(EXACT));
    Definitions genAi = Compat.GENAI_PERF.definitions().with(Definitions.Duration.STEADY);
    assertThat(analyse(everyFourthFails(), genAi, SLO).goodput().good())
        .isLessThan(30)
        .isGreaterThan(26);
  }

  private static String benchServe(String ttfts, String more) {
    return "{\"completed\":3,\"request_throughput\":1,\"duration\":3,\"max_concurrency\":1,"
        + "\"output_lens\":[3,3,3],\"ttfts\":"
        + ttfts
        + ",\"itls\":[[0.1,0.1],[0.1,0.1],[0.1,0.1]],\"errors\":[\"\",\"\",\"\"]"
        + more
        + "}";
  }

  @Test
  void noLatencyWithoutATtft() {
    for (String tool : new String[] {"", ",\"total_output_tokens_retokenized\":9"}) {
      Summary zero = analyse(benchServe("[0.5,0.0,0.5]", tool));
      assertThat(zero.stat(Metric.E2E).count()).isEqualTo(2);
      assertThat(zero.stat(Metric.E2E).min()).isCloseTo(700, within(EXACT));
      assertThat(zero.stat(Metric.ITL).count()).isEqualTo(6);
      assertThat(finding(zero, "zero_ttft").what()).startsWith("1 ");
      Summary single =
          analyse(
              benchServe("[0.5,0.0,0.5]", tool)
                  .replace("[3,3,3]", "[3,1,3]")
                  .replace("[[0.1,0.1],[0.1,0.1],", "[[0.1,0.1],[],"));
      assertThat(single.count(Status.OK)).isEqualTo(3);
      assertThat(single.stat(Metric.TTFT).count()).isEqualTo(2);
      Summary none = analyse(benchServe("[0.0,0.0,0.0]", tool));
      assertThat(none.stat(Metric.E2E).missing()).isTrue();
      assertThat(none.meanConcurrency).isNaN();
      assertThat(has(none, "littles_law")).isFalse();
      Summary few = analyse(benchServe("[0.5]", tool));
      assertThat(few.total()).isEqualTo(3);
      assertThat(few.stat(Metric.E2E).count()).isEqualTo(1);
      assertThat(few.notes).anyMatch(n -> n.contains("3 requests, but only 1 values in ttfts"));
    }
  }

  @Test
  void differentEndsAndDifferentFirstTokensAreNotComparable() throws Exception {
    String last = own("\"events\":[[100,1],[120,1]]");
    String end = "[{\"start_time\":1.0,\"end_time\":1.5,\"info\":{\"output_tokens\":5}}]";
    List<Run> runs = both(last, end);
    List<Summary> s = analyse(runs, Definitions.COURSE, SLO);
    assertThat(s.get(1).stat(Metric.E2E).formula()).isEqualTo(Formula.E2E_LAST_BYTE);
    List<Comparison.Row> rows = Comparison.of(s);
    assertThat(rows.get(0).comparable()).isTrue();
    assertThat(rows.get(1).stat(Metric.E2E)).isNull();
    assertThat(json(runs, null)).contains("\"e2e is e2e.last_byte here");
    assertThat(text(runs, null)).contains("not comparable: e2e is e2e.last_byte");
    StringWriter csv = new StringWriter();
    new ServingReport(s, null).csv(csv);
    assertThat(csv.toString()).contains("e2e is e2e.last_byte here");

    String answer =
        "{\"time_to_first_token\":{\"unit\":\"ms\",\"avg\":910.0},\"request_latency\":"
            + "{\"unit\":\"ms\",\"avg\":980.0}}";
    // No run tells reasoning from the answer.
    List<Comparison.Row> unknown =
        Comparison.of(analyse(both(last, answer), Definitions.COURSE, SLO));
    assertThat(unknown.get(0).stat(Metric.TTFT)).isNotNull();
    assertThat(unknown.get(1).stat(Metric.TTFT)).isNull();
    // One does, and there is none.
    String told = own("\"events\":[[100,1,\"content\"],[120,1,\"content\"]]");
    assertThat(
            Comparison.of(analyse(both(told, answer), Definitions.COURSE, SLO))
                .get(1)
                .stat(Metric.TTFT))
        .isNotNull();
  }

  @Test
  void severalRecordsOnOneLine() {
    String one = own("\"events\":[[100,1],[120,1]]").strip();
    assertThat(read(one + one + "\n" + one + "\n").get(0).requests.size()).isEqualTo(3);
    assertThat(read(one + " " + one + one).get(0).requests.size()).isEqualTo(3);
    Run other = read(one + "{\"schema\":\"x\"}" + one + "\n" + one + "\n").get(0);
    assertThat(other.requests.size()).isEqualTo(3);
    assertThat(other.unreadable).isEqualTo(1);
    Run broken = read(one + "}" + one + "\n" + one + "\n").get(0);
    assertThat(broken.requests.size()).isEqualTo(2);
    assertThat(broken.unreadable).isEqualTo(1);
    String aiperf =
        "{\"metadata\":{\"session_num\":1},\"metrics\":{\"request_latency\":{\"value\":5.0,"
            + "\"unit\":\"ms\"},\"output_sequence_length\":{\"value\":2,\"unit\":\"tokens\"}}}";
    assertThat(read(aiperf.repeat(5)).get(0).requests.size()).isEqualTo(5);
  }

  @Test
  void gapsAddUpToTheLastTokenAndNotToTheEndOfTheResponse() {
    Object[][] events = {
      {100, content("a")}, {150, content("b")}, {200, content("c")}, {900, "[DONE]"}
    };
    assertThat(has(analyse(genAiPerf(3, events)), "gap_sum")).isFalse();
    String aiperf =
        "{\"metadata\":{\"session_num\":1},\"metrics\":{\"time_to_first_token\":{\"value\":50,"
            + "\"unit\":\"ms\"},\"request_latency\":{\"value\":%s,\"unit\":\"ms\"},"
            + "\"inter_chunk_latency\":{\"value\":[20,20,20],\"unit\":\"ms\"},"
            + "\"output_sequence_length\":{\"value\":4,\"unit\":\"tokens\"}}}\n";
    assertThat(has(analyse(String.format(aiperf, "115")), "gap_sum")).isFalse();
    assertThat(has(analyse(String.format(aiperf, "190")), "gap_sum")).isTrue();
    assertThat(has(analyse(String.format(aiperf, "90")), "gap_sum")).isTrue();
  }

  @Test
  void percentilesOfAFewProveLess() {
    // Linear interpolation: P50 of 4 lies between the second and the third of them.
    String file =
        "{\"completed\":4,\"failed\":0,\"request_throughput\":1,\"duration\":4,"
            + "\"median_ttft_ms\":%s,\"p99_ttft_ms\":900}";
    Slo ttft = Slo.of(500, Double.NaN);
    Goodput inside = analyse(String.format(file, "499"), Definitions.COURSE, ttft).goodput();
    assertThat(inside.low()).isEqualTo(0.5);
    // P99 above the limit proves that the last one is bad; P99 below it only proves three.
    assertThat(inside.high()).isEqualTo(0.75);
    Goodput outside = analyse(String.format(file, "501"), Definitions.COURSE, ttft).goodput();
    assertThat(outside.low()).isZero();
    assertThat(outside.high()).isEqualTo(0.5);
    Goodput all =
        analyse(String.format(file, "499"), Definitions.COURSE, Slo.of(901, Double.NaN)).goodput();
    assertThat(all.low()).isEqualTo(0.75);
    String unknown =
        "{\"request_latency\":{\"unit\":\"ms\",\"avg\":980.0},\"time_to_first_token\":"
            + "{\"unit\":\"ms\",\"p50\":499}}";
    Goodput assumed = analyse(unknown, Definitions.COURSE, ttft).goodput();
    assertThat(assumed.note()).contains("many are assumed");
  }

  @Test
  void valuesWeightedByTokensHaveNoIntervalByOrder() {
    StringBuilder file = new StringBuilder();
    for (int i = 0; i < 400; i++) {
      file.append(own("\"output_tokens\":3,\"events\":[[100,1],[120,1],[" + (140 + i) + ",1]]"));
    }
    Summary weighted = analyse(file.toString(), Compat.GUIDELLM.definitions(), SLO);
    assertThat(weighted.stat(Metric.TPOT).count()).isEqualTo(1200);
    assertThat(weighted.stat(Metric.TPOT).p99Low).isNaN();
    assertThat(weighted.stat(Metric.ITL).p99High).isNaN();
    assertThat(analyse(file.toString()).stat(Metric.TPOT).p99Low).isPositive();
  }

  @Test
  void negativeAndInfiniteTimesAreMissing() {
    String good = own("\"output_tokens\":2,\"events\":[[100,1],[120,1]]");
    Summary s =
        analyse(
            good
                + own("\"output_tokens\":2,\"events\":[[-100,1],[120,1]]")
                + own("\"output_tokens\":2,\"events\":[[100,1],[Infinity,1]]")
                + own("\"output_tokens\":2,\"events\":[[100,1],[-1,1]],\"end_ms\":-5"));
    assertThat(s.stat(Metric.TTFT).count()).isEqualTo(3);
    assertThat(s.stat(Metric.TTFT).min()).isEqualTo(100);
    assertThat(s.stat(Metric.TPOT).mean()).isEqualTo(20);
    assertThat(s.stat(Metric.E2E).max()).isEqualTo(120);
    assertThat(s.goodput().good()).isEqualTo(1);
    assertThat(s.goodput().notEvaluable()).isEqualTo(3);
    assertThat(finding(s, "negative_times").level()).isEqualTo(Finding.Level.WARN);
    assertThat(has(s, "infinite_times")).isTrue();
    Summary epoch = analyse(good + own("\"output_tokens\":2,\"events\":[[1e308,1],[1.76e12,1]]"));
    assertThat(epoch.stat(Metric.TTFT).max()).isEqualTo(100);
    assertThat(finding(epoch, "infinite_times").what()).startsWith("2 ");
    Summary table =
        analyse(
            "{\"completed\":4,\"request_throughput\":1,\"duration\":Infinity,"
                + "\"median_ttft_ms\":-3,\"p99_ttft_ms\":900,\"mean_ttft_ms\":Infinity}");
    assertThat(table.stat(Metric.TTFT).p50()).isNaN();
    assertThat(table.stat(Metric.TTFT).mean()).isNaN();
    assertThat(has(table, "impossible_statistics")).isTrue();
    assertThat(table.notes).anyMatch(n -> n.contains("duration of Infinity"));
  }

  @Test
  void contradictingPercentilesGiveNoShare() {
    Goodput g =
        analyse(
                "{\"completed\":100,\"request_throughput\":1,\"median_ttft_ms\":900,"
                    + "\"p99_ttft_ms\":100}",
                Definitions.COURSE,
                Slo.of(500, Double.NaN))
            .goodput();
    assertThat(g.basis()).isEqualTo("none");
    assertThat(g.note()).contains("contradict");
  }

  @Test
  void nothingToJudgeIsNoPercentage() {
    List<Run> runs = read(own("\"status\":\"cancelled\",\"events\":[[100,1],[120,1]]"));
    assertThat(text(runs, null)).doesNotContain("NaN").contains("no request can be judged");
  }

  @Test
  void vllmUsesItsOwnLatency() {
    String file = benchServe("[0.5,0.5,0.5]", ",\"latencies\":[0.75,0.75,0.75]");
    Summary course = analyse(file);
    assertThat(course.stat(Metric.E2E).mean()).isCloseTo(700, within(EXACT));
    Summary vllm = analyse(file, Compat.VLLM.definitions(), SLO);
    assertThat(vllm.stat(Metric.E2E).mean()).isCloseTo(750, within(EXACT));
    assertThat(vllm.stat(Metric.E2E).formula()).isEqualTo(Formula.E2E_LAST_BYTE);
    assertThat(vllm.stat(Metric.TPOT).mean()).isCloseTo(125, within(EXACT));
    Summary asked = analyse(file, Definitions.COURSE.with(Formula.E2E_LAST_BYTE), SLO);
    assertThat(asked.stat(Metric.E2E).mean()).isCloseTo(750, within(EXACT));
    Summary without = analyse(benchServe("[0.5,0.5,0.5]", ""), Compat.VLLM.definitions(), SLO);
    assertThat(without.stat(Metric.E2E).formula()).isEqualTo(Formula.E2E_LAST_TOKEN);
  }

  @Test
  void equalLengthsAloneAreNotTheLengthAskedFor() {
    String file = benchServe("[0.5,0.5,0.5]", "").replace("[3,3,3]", "[9,9,9]");
    assertThat(has(analyse(file), "outputs_equal_asked")).isFalse();
    String asked = file.replace("\"duration\"", "\"random_output_len\":9,\"duration\"");
    assertThat(has(analyse(asked), "outputs_equal_asked")).isTrue();
  }

  @Test
  void predictionNamesTheBaseOfItsPercentage() throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("tpot.json"),
            "{\"predictions\":[{\"tpot\":{\"value_ms\":15},\"input_tokens\":4096,"
                + "\"output_tokens\":64}]}");
    Prediction p = Prediction.read(file);
    List<Run> runs =
        read(own("\"input_tokens\":10,\"output_tokens\":2,\"events\":[[100,1],[120,1]]"));
    assertThat(text(runs, p))
        .contains("+5.000 ms (+25.0 % of the measured)")
        .contains("not the same load");
    assertThat(json(runs, p))
        .contains("\"unexplained_share\" : 0.25")
        .contains("\"unexplained_share_of\" : \"measured\"")
        .contains("\"load_mismatch\" : \"not the same load");
  }

  @Test
  void directoriesAreReadByContent() throws Exception {
    Files.writeString(folder.resolve("results"), own("\"events\":[[100,1],[120,1]]"));
    Files.writeString(folder.resolve("README.md"), "# notes");
    Files.write(folder.resolve("perf.db"), new byte[] {'{', 0, 1});
    ServingFiles.Directory d = ServingFiles.readDirectory(folder, null);
    assertThat(d.runs()).hasSize(1);
    assertThat(d.notes()).containsExactly("left out 2 files of other kinds: README.md, perf.db");
  }

  @Test
  void aPipeIsReadOnce() throws Exception {
    Path pipe = folder.resolve("pipe");
    int rc = new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor();
    org.junit.jupiter.api.Assumptions.assumeTrue(rc == 0, "skipped: no named pipes here");
    String record = own("\"events\":[[100,1],[120,1]]");
    Thread writer =
        new Thread(
            () -> {
              try {
                Files.writeString(pipe, record.repeat(3), java.nio.file.StandardOpenOption.WRITE);
              } catch (java.io.IOException e) {
                throw new java.io.UncheckedIOException(e);
              }
            });
    writer.setDaemon(true);
    writer.start();
    List<Run> runs = read(pipe);
    assertThat(runs.get(0).requests.size()).isEqualTo(3);
    assertThat(runs.get(0).source()).isEqualTo(pipe.toString());
  }

  @Test
  void nothingIsCountedFromATtftThatIsNone() {
    Summary bench = analyse(benchServe("[0.5,-0.05,0.5]", ""));
    assertThat(bench.stat(Metric.E2E).count()).isEqualTo(2);
    assertThat(finding(bench, "negative_times").what()).startsWith("1 ");
    Summary csv =
        analyse(
            "prompt_tokens,generation_tokens,ttft,generation_time,launch_time,finish_time\n"
                + "100,10,-1.5,0.3,100,100.3\n100,10,0.1,0.2,101,101.3\n");
    assertThat(csv.stat(Metric.TTFT).mean()).isEqualTo(100);
    assertThat(has(csv, "negative_times")).isTrue();
  }

  @Test
  void aRecordWithoutAnyTimeIsNoAnswer() {
    Summary s = analyse(own("\"events\":[[100,1],[120,1]]") + own("\"output_tokens\":5"));
    assertThat(s.count(Status.OK)).isEqualTo(1);
    assertThat(finding(s, "no_times").what()).startsWith("1 ");
  }

  @Test
  void aFormulaThatCannotBeHadIsSaid() {
    Summary s =
        analyse(
            benchServe("[0.5,0.5,0.5]", ""), Definitions.COURSE.with(Formula.E2E_LAST_BYTE), SLO);
    assertThat(s.notes).anyMatch(n -> n.contains("what e2e.last_byte needs"));
    Summary table =
        analyse(
            "{\"completed\":4,\"request_throughput\":1,\"mean_ttft_ms\":3,\"mean_itl_ms\":4}",
            Definitions.COURSE.with(Formula.ITL_SPREAD),
            SLO);
    assertThat(table.notes).anyMatch(n -> n.contains("what itl.spread needs"));
  }

  @Test
  void aCsvDoesNotTellCancelledRequestsFromErrors() {
    Run run =
        read("Metric,avg,min,max,p1,p50,p99\nTime to First Token (ms),10,10,10,10,10,10\n\n"
                + "Metric,Value\nRequest Count,90\nError Request Count,10\n")
            .get(0);
    assertThat(run.tool()).isEqualTo("aiperf");
    assertThat(run.errors).isEqualTo(10);
    assertThat(run.cancelled).isEqualTo(-1);
    assertThat(run.notes).anyMatch(n -> n.contains("cancelled"));
  }
}
