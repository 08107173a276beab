package io.musabench.results.serving;

import static io.musabench.results.serving.Fixtures.analyse;
import static io.musabench.results.serving.Fixtures.check;
import static io.musabench.results.serving.Fixtures.finding;
import static io.musabench.results.serving.Fixtures.has;
import static io.musabench.results.serving.Fixtures.read;
import static io.musabench.results.serving.Fixtures.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers that others published, recomputed from their files. */
class GoldenNumbersTest {
  private static final Slo COURSE = Slo.of(1000, 50);

  private static Summary course(String file) {
    return analyse(read(shared(file)), Definitions.COURSE, COURSE).get(0);
  }

  private static Summary compat(String file, Compat compat) {
    return analyse(read(shared(file)), compat.definitions(), COURSE).get(0);
  }

  private static String printed(double value, int decimals) {
    return String.format(Locale.ROOT, "%." + decimals + "f", value);
  }

  @Test
  void aiperfRunOfAHundredRequests() {
    Summary s = course("aiperf/run1_profile_export.jsonl");
    assertThat(s.total()).isEqualTo(100);
    assertThat(s.count(Status.OK)).isEqualTo(89);
    assertThat(s.count(Status.CANCELLED)).isEqualTo(11);
    assertThat(s.count(Status.ERROR)).isZero();
    assertThat(printed(s.durationS(), 9)).isEqualTo("9.317788951");
    assertThat(printed(s.requestsPerS(), 6)).isEqualTo("9.551622");
    assertThat(printed(s.stat(Metric.TTFT).p99(), 6)).isEqualTo("3833.389400");
    assertThat(printed(s.stat(Metric.TPOT).p99(), 6)).isEqualTo("33.732248");
    assertThat(printed(s.stat(Metric.ITL).p99(), 6)).isEqualTo("140.534295");
    assertThat(printed(s.stat(Metric.TPOT).mean(), 6)).isEqualTo("27.763065");
    assertThat(printed(s.stat(Metric.ITL).mean(), 6)).isEqualTo("27.755153");
    assertThat(finding(s, "gap_count").what()).startsWith("4 of 89");
    assertThat(s.goodput().good()).isEqualTo(10);
    assertThat(s.goodput().considered()).isEqualTo(89);
    assertThat(printed(s.goodput().requestsPerS(), 6)).isEqualTo("1.073216");
  }

  @Test
  void percentileMethodsOfTheSameRun() {
    List<Run> runs = read(shared("aiperf/run1_profile_export.jsonl"));
    for (PercentileMethod m : List.of(PercentileMethod.NEAREST_RANK, PercentileMethod.INDEX)) {
      Summary s = analyse(runs, Definitions.COURSE.with(m), COURSE).get(0);
      assertThat(printed(s.stat(Metric.TTFT).p99(), 6)).isEqualTo("3853.857423");
    }
  }

  @Test
  void aiperfIsReproducedFromItsRecords() {
    Summary s = compat("aiperf/run1_profile_export.jsonl", Compat.AIPERF);
    Summary own = course("aiperf/run1_profile_export_aiperf.json");
    same(s.stat(Metric.TTFT), own.stat(Metric.TTFT));
    same(s.stat(Metric.ITL), own.stat(Metric.TPOT));
    same(s.others.get("icl"), own.stat(Metric.ITL));
    same(s.stat(Metric.E2E), own.stat(Metric.E2E));
    // Population standard deviation, whatever its documentation says.
    assertThat(printed(s.stat(Metric.TTFT).std, 3)).isEqualTo("1049.816");
  }

  @Test
  void guidellmIsReproducedFromItsRequests() {
    Summary s = compat("guidellm/benchmarks_v0.3.json", Compat.GUIDELLM);
    for (Reported r : s.run().reported) {
      Metric metric = r.called.equals("inter_token_latency_ms") ? Metric.ITL : r.formula.metric();
      same(s.stat(metric), Stat.of(r));
    }
    assertThat(s.stat(Metric.TPOT).formula()).isEqualTo(Formula.TPOT_OVER_N);
    // Its means of rates and of concurrency over time, from starts, ends and counts alone.
    assertThat(s.requestsPerS()).isCloseTo(s.run().requestsPerS, within(1e-8));
    assertThat(s.outputTokensPerS()).isCloseTo(s.run().outputTokensPerS, within(1e-6));
    assertThat(s.meanConcurrency).isCloseTo(s.run().meanConcurrency, within(1e-6));
    assertThat(printed(s.requestsPerS(), 7)).isEqualTo("9.7777647");
    assertThat(printed(s.outputTokensPerS(), 5)).isEqualTo("1251.53720");
  }

  @ParameterizedTest
  @ValueSource(strings = {"groq_70b", "bedrock_13b"})
  void llmperfIsReproducedFromItsResponses(String name) {
    Summary s = compat("llmperf/llmperf_" + name + "_individual.json", Compat.LLMPERF);
    Summary own = course("llmperf/llmperf_" + name + "_summary.json");
    same(s.stat(Metric.TTFT), own.stat(Metric.TTFT));
    same(s.stat(Metric.ITL), own.stat(Metric.ITL));
    same(s.stat(Metric.E2E), own.stat(Metric.E2E));
    assertThat(s.stat(Metric.TTFT).std).isCloseTo(own.stat(Metric.TTFT).std, within(1e-9));
  }

  /** Equal but for the last bit of a sum: to the digits that the tools print. */
  private static void same(Stat ours, Stat theirs) {
    double[][] pairs = {
      {ours.mean, theirs.mean}, {ours.p50, theirs.p50}, {ours.p90, theirs.p90},
      {ours.p95, theirs.p95}, {ours.p99, theirs.p99}, {ours.min, theirs.min},
      {ours.max, theirs.max}
    };
    for (double[] p : pairs) {
      assertThat(p[0]).isCloseTo(p[1], within(1e-15 * Math.abs(p[1]) * 2));
    }
  }

  @Test
  void aiperfCountsSingleTokenAnswersAsBad() {
    Summary s = course("aiperf/v0.11.0_c128_EXCERPT.json");
    assertThat(s.count(Status.OK)).isEqualTo(5429);
    assertThat(s.run().goodCount).isEqualTo(5427);
    // By the limits that the file states, its own count is the goodput.
    Goodput own = analyse(List.of(s.run()), Definitions.COURSE, Slo.NONE).get(0).goodput();
    assertThat(own.basis()).isEqualTo("tool");
    assertThat(own.good()).isEqualTo(5427);
    assertThat(own.considered()).isEqualTo(5429);
    assertThat(printed(own.requestsPerS(), 3)).isEqualTo("18.092");
    assertThat(own.slo()).isEqualTo(Slo.of(1500, 300));
    assertThat(finding(s, "littles_law").what()).contains("126.1").contains("limit 128");
    assertThat(printed(s.stat(Metric.TPOT).p99(), 1)).isEqualTo("30.1");
    assertThat(printed(s.stat(Metric.ITL).p99(), 1)).isEqualTo("63.9");
  }

  @Test
  void llmperfReportsThePlainTpotToo() {
    Summary own = course("llmperf/llmperf_groq_70b_summary.json");
    Summary s = course("llmperf/llmperf_groq_70b_individual.json");
    assertThat(printed(own.stat(Metric.ITL).mean(), 3)).isEqualTo("5.384");
    assertThat(printed(own.stat(Metric.ITL).p99(), 3)).isEqualTo("6.566");
    assertThat(printed(s.stat(Metric.TPOT).mean(), 3)).isEqualTo("3.941");
    assertThat(printed(s.stat(Metric.TPOT).p99(), 3)).isEqualTo("4.563");
  }

  @Test
  void sglangTpotIsNotTheMeanOfItl() {
    Summary s = course("sglang/agg_local.jsonl");
    assertThat(printed(s.stat(Metric.TPOT).mean(), 2)).isEqualTo("23.81");
    assertThat(printed(s.stat(Metric.ITL).mean(), 2)).isEqualTo("13.43");
    assertThat(has(s, "itl_is_not_tpot")).isTrue();
    double flight = s.requestsPerS() * s.stat(Metric.E2E).mean() / 1000;
    assertThat(printed(flight, 2)).isEqualTo("168.13");
    assertThat(s.run().requestRate).isInfinite();
  }

  @Test
  void guidellmOldKeyIsLastMinusFirstOverN() {
    Run run = read(shared("guidellm/benchmarks_v0.3.json")).get(0);
    assertThat(printed(run.requests.toolTpot(0), 5)).isEqualTo("10.28873");
    Definitions overN = Definitions.COURSE.with(Formula.TPOT_OVER_N);
    assertThat(new Values(run, overN).tpot(0)).isCloseTo(10.28873, within(1e-4));
  }

  @Test
  void guidellmUnfinishedRowsDoNotCountTheLengthAskedFor() {
    Summary s = course("guidellm/benchmarks_v0.3.json");
    assertThat(s.count(Status.CUT)).isEqualTo(23);
    assertThat(s.goodput().considered()).isEqualTo(586);
    assertThat(s.allOutputTokensPerS()).isEqualTo(s.outputTokensPerS());
  }

  @Test
  void guidellmStrippedFileFallsBackToItsStatistics() {
    Summary s = course("guidellm/benchmarks_stripped.json");
    assertThat(s.run().hasRequests()).isFalse();
    assertThat(s.count(Status.OK)).isEqualTo(46);
    assertThat(s.run().notes.get(0)).contains("1 of 46");
  }

  @Test
  void consoleLogKeepsItsConcurrency() {
    Summary s = course("console/vllm_hygon_32-320-i10240-o256.log");
    assertThat(s.count(Status.OK)).isEqualTo(320);
    assertThat(printed(s.durationS(), 2)).isEqualTo("418.62");
    assertThat(s.stat(Metric.TTFT).mean()).isEqualTo(30731.82);
    assertThat(s.stat(Metric.TPOT).mean()).isEqualTo(43.62);
    double flight = 320 / 418.62 * (30.73182 + 255 * 0.04362);
    assertThat(printed(flight, 1)).isEqualTo("32.0");
    assertThat(finding(s, "peak_above_limit").what()).contains("64").contains("32");
  }

  @Test
  void servingsimGoodput() {
    Summary s = course("servingsim/servingsim_RTX4090_Llama-3.1-8B_requests.jsonl");
    assertThat(s.count(Status.OK)).isEqualTo(300);
    assertThat(s.goodput().good()).isEqualTo(21);
    assertThat(printed(s.goodput().requestsPerS(), 4)).isEqualTo("0.1144");
    assertThat(printed(s.requestsPerS(), 4)).isEqualTo("1.6343");
    assertThat(s.stat(Metric.TTFT).min()).isPositive();
  }

  @Test
  void inferencePerfShowsTheClientsDelay() {
    Summary s = course("inference-perf/inferenceperf_kubecon_summary.json");
    assertThat(finding(s, "client_delay").what()).contains("12.57 s").contains("52.45 s");
    assertThat(printed(s.stat(Metric.TTFT).mean(), 3)).isEqualTo("1543.454");
  }

  @Test
  void allFailedIsMissingAndNotFast() {
    Summary s = course("vllm/vllm0251_all_failed.json");
    assertThat(s.count(Status.ERROR)).isEqualTo(8);
    assertThat(s.stat(Metric.TTFT).missing()).isTrue();
    assertThat(s.stat(Metric.TPOT).missing()).isTrue();
    assertThat(s.stat(Metric.ITL).missing()).isTrue();
    assertThat(s.goodput().requestsPerS()).isZero();
    assertThat(s.goodput().share()).isZero();
    assertThat(has(s, "all_zero")).isTrue();
  }

  @Test
  void coldStartOfASweepIsNamed() {
    List<Summary> runs =
        analyse(read(shared("vllm/vllm0251_sweep_mns4_summary.json")), Definitions.COURSE, COURSE);
    assertThat(printed(runs.get(0).stat(Metric.TTFT).mean(), 1)).isEqualTo("217.3");
    assertThat(printed(runs.get(1).stat(Metric.TTFT).mean(), 1)).isEqualTo("39.3");
    assertThat(printed(runs.get(0).requestsPerS(), 2)).isEqualTo("5.86");
    assertThat(printed(runs.get(1).requestsPerS(), 2)).isEqualTo("12.46");
    assertThat(has(runs.get(1), "cold_start")).isTrue();
    assertThat(has(runs.get(0), "peak_below_mean")).isTrue();
  }

  @Test
  void genAiPerfFixtureGivesTheValuesOfItsOwnTests() {
    Summary s =
        compat("genai-perf/fixture_openai_completions_profile_data.json", Compat.GENAI_PERF);
    // Starts 1 and 2 ns; tokens at 3, 5, 8 and at 4, 7, 11, 15 ns.
    assertThat(s.stat(Metric.TTFT).min()).isEqualTo(2e-6);
    assertThat(s.stat(Metric.TTFT).max()).isEqualTo(2e-6);
    assertThat(s.stat(Metric.E2E).min()).isEqualTo(7e-6);
    assertThat(s.stat(Metric.E2E).max()).isEqualTo(13e-6);
    // (7 - 2) / 2 = 2.5 and (13 - 2) / 3 = 3.67, rounded half to even and up.
    assertThat(s.stat(Metric.TPOT).min()).isEqualTo(2e-6);
    assertThat(s.stat(Metric.TPOT).max()).isEqualTo(4e-6);
  }

  @Test
  void nanosecondEpochsStayWhole() {
    Run run = read(shared("aiperf/run1_profile_export.jsonl")).get(0);
    assertThat(run.requests.startNs(0)).isEqualTo(1759522419154829652L);
  }

  @Test
  void aDirectoryCountsEveryRunOnce() throws Exception {
    ServingFiles.Directory d = ServingFiles.readDirectory(shared("aiperf"), null);
    assertThat(d.runs()).hasSize(2);
    assertThat(d.runs().stream().filter(Run::hasRequests)).hasSize(1);
    ServingFiles.Directory sweep = ServingFiles.readDirectory(shared("vllm"), null);
    assertThat(sweep.runs()).hasSize(4);
    assertThat(sweep.notes()).anyMatch(n -> n.contains("summary.json"));
  }

  @Test
  void everySharedFileIsReadOrSaysWhatItLookedFor() throws Exception {
    Path root = shared("aiperf").getParent();
    ServingFiles.Directory d = ServingFiles.readDirectory(root, null);
    assertThat(d.runs().size()).isGreaterThan(20);
    List<Summary> all = new Analysis(Definitions.COURSE, COURSE, Map.of()).of(d.runs());
    for (Summary s : all) {
      assertThat(check(s, "slo_stated").verdict()).isEqualTo(Check.Verdict.PASS);
    }
  }
}
