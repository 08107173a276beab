package io.musabench.results.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * Every reader on damaged files: whatever happens to a file, it is read or refused with the one
 * documented exception, in bounded time.
 *
 * <p>{@code -Dmusabench.fuzz.seconds=60} fuzzes for that long instead of the short regular run.
 */
class ReaderFuzzTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Map<Format, String> SEEDS = seeds();
  private static final String[] NASTY = {
    "null",
    "-1",
    "0",
    "1e999",
    "-1e308",
    "NaN",
    "Infinity",
    "-Infinity",
    "9223372036854775808",
    "1e400000000",
    "1e-400000000",
    "\"\"",
    "\"inf\"",
    "{}",
    "[]",
    "[[",
    "}}",
    "true",
    "\\u0000",
    "\"\\ud800\"",
    "data: [DONE]\n\n",
    "\n\n",
    ",",
    ":",
    "\"p99\"",
    "18446744073709551616",
    "\ufeff"
  };

  private static Map<Format, String> seeds() {
    Map<Format, String> seeds = new EnumMap<>(Format.class);
    String ok =
        Fixtures.own(
            "\"start_ns\":5,\"scheduled_ns\":1,\"status\":\"ok\",\"end_ms\":50,"
                + "\"events\":[[10,1,\"content\"],[20,2,\"reasoning\"],[30,0,\"empty\"]],"
                + "\"input_tokens\":7,\"output_tokens\":3,\"prompt\":\"p\"");
    seeds.put(Format.MUSABENCH, ok.repeat(3));
    seeds.put(
        Format.GENAI_PERF_RAW,
        Fixtures.genAiPerf(
            10,
            new Object[] {1, Fixtures.role()},
            new Object[] {2, Fixtures.content("a")},
            new Object[] {3, "{\"choices\":[],\"usage\":{\"completion_tokens\":2}}"},
            new Object[] {4, "[DONE]"}));
    seeds.put(
        Format.AIPERF_RECORDS,
        ("{\"metadata\":{\"x_request_id\":\"a\",\"request_start_ns\":1759522419154829653,"
                + "\"benchmark_phase\":\"profiling\"},\"metrics\":{\"ttft\":{\"value\":20.5,"
                + "\"unit\":\"ms\"},\"request_latency\":{\"value\":60.5,\"unit\":\"ms\"},"
                + "\"output_sequence_length\":{\"value\":3,\"unit\":\"tokens\"},"
                + "\"inter_chunk_latency\":{\"value\":[20,20],\"unit\":\"ms\"}},\"error\":null}\n")
            .repeat(3));
    String stats =
        "{\"mean\":1.0,\"median\":1.0,\"min\":0.5,\"max\":2,\"count\":3,\"p99\":2,"
            + "\"percentiles\":{\"p50\":1,\"p99\":2,\"p999\":2}}";
    seeds.put(
        Format.GUIDELLM,
        "{\"metadata\":{\"guidellm_version\":\"0.5\"},\"benchmarks\":[{\"config\":{},"
            + "\"scheduler_metrics\":{\"measure_start_time\":1.0,\"measure_end_time\":9.0},"
            + "\"metrics\":{\"time_to_first_token_ms\":{\"successful\":"
            + stats
            + "}},"
            + "\"requests\":{\"successful\":[{\"info\":{\"timings\":{\"request_start\":2.0,"
            + "\"first_token_iteration\":2.1,\"last_token_iteration\":3,\"request_end\":3}},"
            + "\"output_tokens\":5,\"request_latency\":1.0}],\"incomplete\":[{}]}}]}");
    seeds.put(
        Format.INFERENCE_PERF,
        "{\"load_summary\":{\"count\":3,\"schedule_delay\":"
            + stats
            + "},\"successes\":{\"count\":3,"
            + "\"latency\":{\"request_latency\":"
            + stats
            + ",\"time_to_first_token\":"
            + stats
            + "},\"throughput\":{\"requests_per_sec\":2.0}},\"failures\":{\"count\":0}}");
    seeds.put(
        Format.INFERENCE_PERF_REQUESTS,
        "[{\"start_time\":1.5,\"end_time\":3.5,\"request\":\"r\",\"response\":\"x\",\"info\":{"
            + "\"input_tokens\":3,\"output_tokens\":3,\"output_token_times\":[2,2.5,2.5]},"
            + "\"error\":null}]");
    seeds.put(
        Format.LLMPERF_INDIVIDUAL,
        "[{\"error_code\":null,\"ttft_s\":\"0.5\",\"end_to_end_latency_s\":0.68,"
            + "\"inter_token_latency_s\":0.068,\"number_output_tokens\":10}]");
    seeds.put(
        Format.LLMPERF,
        "{\"results_ttft_s_mean\":0.5,\"results_ttft_s_quantiles_p99\":0.9,"
            + "\"results_num_requests_started\":\"3\",\"results_number_errors\":0}");
    seeds.put(
        Format.EVALSCOPE,
        "{\"Test Duration (s)\":10,\"Avg TTFT (ms)\":221.0,\"Total Requests\":10,"
            + "\"Success Requests\":10,\"Avg Latency (s)\":1.5}");
    seeds.put(
        Format.EVALSCOPE_PERCENTILES,
        "[{\"Percentiles\":\"50%\",\"TTFT (ms)\":9.0,\"Latency (s)\":1,\"ITL (ms)\":-1},"
            + "{\"Percentiles\":\"max\",\"TTFT (ms)\":10}]");
    String detail =
        "\"output_lens\":[3,2],\"input_lens\":[4,4],\"ttfts\":[0.1,0.2],"
            + "\"itls\":[[0.01,0.02],[0.03]],\"errors\":[\"\",\"x\"],\"start_times\":[1.0,2.0]}";
    seeds.put(
        Format.SGLANG,
        "{\"backend\":\"sglang\",\"completed\":2,\"request_rate\":Infinity,\"duration\":1.0,"
            + "\"mean_e2e_latency_ms\":120.0,\"mean_ttft_ms\":100.0,\"server_info\":{\"version\":\"1\"},"
            + detail);
    seeds.put(
        Format.VLLM,
        "{\"completed\":2,\"failed\":0,\"request_rate\":\"inf\",\"request_throughput\":1.0,"
            + "\"mean_ttft_ms\":10,\"p99_ttft_ms\":20,"
            + detail);
    seeds.put(
        Format.AIPERF,
        "{\"schema_version\":\"1.3\",\"request_latency\":{\"unit\":\"ms\",\"avg\":9.5,\"p99\":12},"
            + "\"request_count\":{\"unit\":\"requests\",\"avg\":5},\"error_summary\":[{\"count\":1,"
            + "\"error_details\":{\"type\":\"Cancel\"}}],\"input_config\":{\"slos\":{}}}");
    seeds.put(
        Format.GENAI_PERF,
        "{\"request_latency\":{\"unit\":\"ms\",\"avg\":9.5,\"p99\":12,\"std\":1},"
            + "\"time_to_first_token\":{\"unit\":\"ms\",\"avg\":1.5}}");
    seeds.put(
        Format.LLMSERVINGSIM,
        ("{\"request_id\":\"a\",\"input_toks\":5,\"output_toks\":9,\"arrival_time\":1787267980.08,"
                + "\"queued_ts\":27536.66,\"first_token_ts\":27537.35,\"last_token_ts\":27554.2}\n")
            .repeat(3));
    seeds.put(
        Format.LMBENCHMARK,
        "prompt_tokens,generation_tokens,ttft,generation_time,launch_time,finish_time\n"
            + "689,275,0.19,15.9,1746155905.33,1746155921.48\n5,1,0.1,0,1.0,1.1\n");
    seeds.put(
        Format.GENAI_PERF_CSV,
        "Metric,avg,min,max,p99,p50\r\nRequest Latency (ms),\"8,929.88\",1,2,3,4\r\n\r\n"
            + "Metric,Value\r\nRequest Count (count),3\r\n");
    seeds.put(
        Format.AIPERF_CSV,
        "Metric,avg,min,max,p50,p99\nRequest Latency (ms),8.5,1,2,3,4\n\n"
            + "Metric,Value\nRequest Count,3\n");
    seeds.put(
        Format.CONSOLE,
        "Namespace(max_concurrency=32, goodput=['ttft:500'], random_output_len=5)\n"
            + "============ Serving Benchmark Result ============\nSuccessful requests: 3\n"
            + "Mean TTFT (ms): 5.5\nP99 TTFT (ms): 6\nBenchmark duration (s): 4\n======\n");
    seeds.put(
        Format.GUIDELLM_CSV,
        "Run Info,Timings,Request Counts,Time to First Token,Time to First Token,Runtime Info\n"
            + "Run ID,Duration,Successful,Successful ms,Successful ms,Metadata\n,Sec,,Mean,"
            + "Percentiles,\nr,30.0,60,110.0,\"[50, 51, 52, 53, 54, 55, 150, 160, 170, 190.5, 200]\","
            + "\"{\"\"guidellm_version\"\":\"\"0.6.0\"\"}\"\n");
    seeds.put(
        Format.EVALSCOPE_ARGUMENTS,
        "{\"model\":\"q\",\"api\":\"openai\",\"url\":\"u\",\"number\":[40],\"parallel\":[4],"
            + "\"rate\":-1,\"dataset\":\"random\",\"stream\":true,\"min_tokens\":8,\"max_tokens\":8}");
    seeds.put(
        Format.EVALSCOPE_WORKLOAD,
        "{\"wall_time_s\":20.0,\"warmup_frac\":0.2,\"rows\":[{\"metric\":\"Completion tok/s\","
            + "\"overall\":249.6,\"last_window\":249.6,\"steady_state\":260.5}]}");
    seeds.put(
        Format.VLLM_CSV,
        ",duration,completed,failed,request_throughput,mean_ttft_ms,p99_ttft_ms\n"
            + "0,2.0,4,0,2.0,12.25,40.0\n1,2.5,4,0,1.6,13.5,\n");
    seeds.put(
        Format.LLMSERVINGSIM_CSV,
        "instance id,request id,model,input,output,arrival,end_time,latency,queuing_delay,TTFT,TPOT,"
            + "ITL\n0,0,m,100,4,1000000,191000000,190000000,5,100000000,3,\"[20000000, 30000000]\"\n");
    assertThat(seeds.keySet()).containsExactlyInAnyOrder(Format.values());
    return seeds;
  }

  /** The other syntax that one of the formats comes in. */
  private static final String YAML =
      "benchmarks:\n- config:\n    strategy:\n      type_: poisson\n  metrics:\n"
          + "    time_to_first_token_ms:\n      successful:\n        mean: 5.5\n  requests:\n"
          + "    successful:\n    - info:\n        timings:\n          request_start: 2.0\n"
          + "          first_token_iteration: 2.1\n          last_token_iteration: 3.0\n"
          + "      output_tokens: 5\n      request_latency: 1.0\n  scheduler_metrics:\n"
          + "    measure_end_time: 9.0\n    measure_start_time: 1.0\nmetadata:\n"
          + "  guidellm_version: '0.5'\n";

  /** No format before it takes it for its own. */
  @Example
  void undamagedFilesAreRecognised() throws IOException {
    for (Map.Entry<Format, String> seed : SEEDS.entrySet()) {
      Source source = new Source(Fixtures.write(seed.getValue()), "seed");
      assertThat(ServingFiles.recognise(source)).isEqualTo(seed.getKey());
    }
  }

  // The same damage every time: forAsLongAsAsked looks for other.
  @Property(tries = 1500, seed = "20260101")
  void damagedFilesAreReadOrRefused(@ForAll long seed, @ForAll @IntRange(min = 1, max = 8) int hits)
      throws IOException {
    attempt(new Random(seed), hits);
  }

  @Property(tries = 1)
  void forAsLongAsAsked() throws IOException {
    long seconds = Long.getLong("musabench.fuzz.seconds", 2);
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    Random random = new Random(20260101);
    long n = 0;
    while (System.nanoTime() < end) {
      attempt(random, 1 + random.nextInt(12));
      n++;
    }
    System.out.println(
        "fuzzed " + n + " files of " + SEEDS.size() + " formats in " + seconds + " s");
  }

  private static void attempt(Random random, int hits) throws IOException {
    List<Format> formats = new ArrayList<>(SEEDS.keySet());
    Format format = formats.get(random.nextInt(formats.size()));
    boolean yaml = format == Format.GUIDELLM && random.nextBoolean();
    byte[] bytes = mutate(yaml ? YAML : SEEDS.get(format), random, hits);
    Path file = Files.createTempFile("fuzz", ".x");
    try {
      Files.write(file, bytes);
      boolean forced = random.nextInt(4) != 0;
      // Sometimes as another format: --format can be wrong.
      Format as = random.nextInt(10) == 0 ? formats.get(random.nextInt(formats.size())) : format;
      assertTimeoutPreemptively(
          LIMIT, () -> readOrRefuse(file, forced ? as : null, random), () -> format + " hangs");
    } catch (AssertionError | StackOverflowError e) {
      throw new AssertionError(format + ": " + new String(bytes, StandardCharsets.UTF_8), e);
    } finally {
      Files.delete(file);
    }
  }

  private static void readOrRefuse(Path file, Format as, Random random) throws IOException {
    try {
      report(ServingFiles.read(file, as), random);
    } catch (ServingFormatException e) {
      if (e.getMessage() == null || e.getMessage().isBlank()) {
        fail("an exception without a message");
      }
    }
  }

  private static void report(List<Run> runs, Random random) throws IOException {
    Definitions d = Definitions.COURSE;
    if (random.nextBoolean()) {
      d = Compat.values()[random.nextInt(Compat.values().length)].definitions();
    }
    List<Summary> s = new Analysis(d, Slo.of(500, 50), Map.of()).of(runs);
    ServingReport report = new ServingReport(s, null);
    StringWriter json = new StringWriter();
    report.json(json);
    report.csv(new StringBuilder());
    report.text(new PrintWriter(new StringWriter()));
    new com.fasterxml.jackson.databind.ObjectMapper().readTree(json.toString());
  }

  private static byte[] mutate(String seed, Random random, int hits) {
    StringBuilder text = new StringBuilder(seed);
    for (int i = 0; i < hits && !text.isEmpty(); i++) {
      int at = random.nextInt(text.length());
      int to = Math.min(text.length(), at + 1 + random.nextInt(20));
      switch (random.nextInt(8)) {
        case 0 -> text.delete(at, to);
        case 1 -> text.insert(at, NASTY[random.nextInt(NASTY.length)]);
        case 2 -> text.replace(at, to, NASTY[random.nextInt(NASTY.length)]);
        case 3 -> text.setLength(at);
        case 4 -> text.insert(at, text.substring(at, to));
        case 5 -> text.setCharAt(at, (char) random.nextInt(256));
        case 6 -> replaceNumber(text, random);
        default -> text.insert(at, "[".repeat(random.nextInt(400)));
      }
    }
    if (random.nextInt(20) == 0) {
      return text.insert(0, '\ufeff').toString().getBytes(StandardCharsets.UTF_16LE);
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** Puts something nasty in the place of a whole value: damage that is still JSON. */
  private static void replaceNumber(StringBuilder text, Random random) {
    int from = random.nextInt(text.length());
    while (from < text.length() && !Character.isDigit(text.charAt(from))) {
      from++;
    }
    int to = from;
    while (to < text.length() && "0123456789.".indexOf(text.charAt(to)) >= 0) {
      to++;
    }
    text.replace(from, to, NASTY[random.nextInt(NASTY.length)]);
  }
}
