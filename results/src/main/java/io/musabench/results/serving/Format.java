package io.musabench.results.serving;

import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The formats that can be read, in the order in which they are tried. A file has the first format
 * whose marks its beginning carries.
 */
public enum Format {
  MUSABENCH(
      "musabench",
      "JSON Lines with \"schema\": \"" + OwnRecordsReader.SCHEMA + "\"",
      o -> o.has("schema") && o.hasAny("events", "output_tokens", "start_ns", "status", "end_ms"),
      OwnRecordsReader::new),
  GENAI_PERF_RAW(
      "genai-perf-raw",
      "profile_export.json: experiments[] with requests[]",
      o -> o.hasAny("experiments.[].requests", "experiments.[].experiment"),
      GenAiPerfRawReader::new),
  AIPERF_RECORDS(
      "aiperf-records",
      "profile_export.jsonl: metadata and metrics on every line",
      o ->
          o.has("metadata")
              && o.has("metrics")
              && o.hasAny(
                  "metadata.x_request_id",
                  "metadata.request_start_ns",
                  "metadata.timestamp_ns",
                  "metadata.worker_id",
                  "metadata.session_num"),
      AiperfRecordsReader::new),
  GUIDELLM(
      "guidellm",
      "benchmarks.json or .yaml: benchmarks[] with metrics",
      o ->
          o.hasAny("benchmarks.[].metrics", "benchmarks.[].requests", "benchmarks.[].run_stats")
              || o.section("benchmarks") && o.section("metrics"),
      GuideLlmReader::new),
  GUIDELLM_CSV(
      "guidellm-csv",
      "benchmarks.csv: \"Successful … mean\" or \"Run Info,…\" in its header",
      o -> line(o, "Successful Requests") || line(o, "Run Info") && line(o, "Request Counts"),
      GuideLlmCsvReader::new),
  INFERENCE_PERF(
      "inference-perf",
      "*_lifecycle_metrics.json: load_summary and successes",
      o ->
          !Companion.SERVER_METRICS.matches(o)
              && (o.hasAny("successes.latency", "successes.count") || o.has("load_summary")),
      () -> new InferencePerfReader(false)),
  INFERENCE_PERF_REQUESTS(
      "inference-perf-requests",
      "per_request_lifecycle_metrics.json: an array with start_time, end_time and info",
      o -> o.has("[].start_time") && o.has("[].end_time") && o.has("[].info"),
      () -> new InferencePerfReader(true)),
  LLMPERF_INDIVIDUAL(
      "llmperf-individual",
      "*_individual_responses.json: an array with end_to_end_latency_s",
      o -> o.hasAny("[].end_to_end_latency_s", "[].ttft_s"),
      () -> new LlmPerfReader(true)),
  LLMPERF(
      "llmperf",
      "*_summary.json: results_ttft_s_…",
      o ->
          o.hasAny(
              "results_ttft_s_mean",
              "results_end_to_end_latency_s_mean",
              "results_ttft_s_quantiles_p50",
              "results_inter_token_latency_s_mean"),
      () -> new LlmPerfReader(false)),
  EVALSCOPE(
      "evalscope",
      "benchmark_summary.json: \"Test Duration (s)\" or \"Time taken for tests (s)\"",
      o ->
          o.hasAny(
              "Test Duration (s)",
              "Time taken for tests (s)",
              "Avg Latency (s)",
              "Average latency (s)",
              "Req Throughput (req/s)",
              "Request throughput (req/s)",
              "Average QPS"),
      () -> new EvalScopeReader(EvalScopeReader.File.SUMMARY)),
  EVALSCOPE_PERCENTILES(
      "evalscope-percentiles",
      "benchmark_percentile.json: an array with \"Percentiles\"",
      o -> o.hasRoot("Percentiles", "Percentile"),
      () -> new EvalScopeReader(EvalScopeReader.File.PERCENTILES)),
  EVALSCOPE_ARGUMENTS(
      "evalscope-arguments",
      "benchmark_args.json: what a run was asked for; completes the summary beside it",
      o -> o.has("parallel") && o.has("number") && o.hasAny("url", "api") && o.has("dataset"),
      () -> new EvalScopeReader(EvalScopeReader.File.ARGUMENTS)),
  EVALSCOPE_WORKLOAD(
      "evalscope-workload",
      "workload_throughput.json: throughput over time; completes the summary beside it",
      o -> o.has("wall_time_s") && o.has("rows.[].steady_state"),
      () -> new EvalScopeReader(EvalScopeReader.File.WORKLOAD)),
  SGLANG(
      "sglang",
      "bench_serving: mean_e2e_latency_ms, total_output_tokens_retokenized or server_info",
      o ->
          o.hasRoot("mean_e2e_latency_ms", "total_output_tokens_retokenized")
              || o.hasRoot("server_info", "sharegpt_output_len", "random_range_ratio")
                  && o.hasRoot("dataset_name"),
      () -> new BenchServeReader(true)),
  VLLM(
      "vllm",
      "bench serve: completed with request_throughput, or ttfts and itls",
      o ->
          o.hasRoot("completed") && o.hasRoot("request_throughput", "mean_ttft_ms", "ttfts")
              || o.hasRoot("ttfts") && o.hasRoot("itls")
              || o.hasRoot("mean_ttft_ms") && o.hasRoot("request_throughput"),
      () -> new BenchServeReader(false)),
  VLLM_CSV(
      "vllm-csv",
      "summary.csv of a sweep: completed and request_throughput in its header",
      o -> line(o, "completed") && line(o, "request_throughput"),
      SweepCsvReader::new),
  AIPERF(
      "aiperf",
      "profile_export_aiperf.json: metrics with units, and schema_version or"
          + " inter_chunk_latency or records",
      o ->
          o.hasAny("records.request_latency", "records.ttft", "records.request_count")
              || o.hasAny("request_latency.unit", "time_to_first_token.unit", "request_count.unit")
                  && o.hasAny(
                      "schema_version",
                      "aiperf_version",
                      "inter_chunk_latency",
                      "benchmark_duration",
                      "total_osl",
                      "error_summary",
                      "input_config.loadgen"),
      () -> new MetricFileReader(true)),
  GENAI_PERF(
      "genai-perf",
      "*_genai_perf.json: request_latency or time_to_first_token with unit",
      o -> o.hasAny("request_latency.unit", "time_to_first_token.unit", "request_latency.avg"),
      () -> new MetricFileReader(false)),
  LLMSERVINGSIM(
      "llmservingsim",
      "requests.jsonl: input_toks and first_token_ts on every line",
      o -> o.has("input_toks") && o.hasAny("first_token_ts", "last_token_ts", "queued_ts"),
      ServingSimReader::new),
  LLMSERVINGSIM_CSV(
      "llmservingsim-csv",
      "sim.csv: request id, arrival, TTFT and ITL in its header",
      o -> line(o, "request id") && line(o, "arrival") && line(o, "TTFT"),
      SimulationCsvReader::new),
  LMBENCHMARK(
      "lmbenchmark",
      "CSV with prompt_tokens, generation_tokens, ttft",
      o -> line(o, "prompt_tokens") && line(o, "generation_tokens") && line(o, "ttft"),
      LmBenchmarkReader::new),
  GENAI_PERF_CSV(
      "genai-perf-csv",
      "CSV that begins Metric,avg,min,max,p99",
      o -> metricCsv(o) && descending(o),
      () -> new MetricCsvReader(false)),
  AIPERF_CSV(
      "aiperf-csv",
      "CSV that begins Metric,avg,min,max and has its percentiles in ascending order",
      Format::metricCsv,
      () -> new MetricCsvReader(true)),
  CONSOLE(
      "console", "a log with a block \"" + Console.HEADER + "\"", Outline::console, Console::new);

  private final String id;
  private final String marks;
  private final Predicate<Outline> matches;
  private final Supplier<Reader> reader;

  Format(String id, String marks, Predicate<Outline> matches, Supplier<Reader> reader) {
    this.id = id;
    this.marks = marks;
    this.matches = matches;
    this.reader = reader;
  }

  private static boolean line(Outline o, String word) {
    return !o.json() && Arrays.asList(o.firstLine().replace("\"", "").split(",")).contains(word);
  }

  private static boolean metricCsv(Outline o) {
    return !o.json() && o.firstLine().replace("\"", "").startsWith("Metric,");
  }

  private static boolean descending(Outline o) {
    String header = "," + o.firstLine().replace("\"", "") + ",";
    int p99 = header.indexOf(",p99,");
    int p50 = header.indexOf(",p50,");
    return p99 >= 0 && p50 >= 0 && p99 < p50;
  }

  /** The name that {@code --format} takes. */
  public String id() {
    return id;
  }

  /** What a file of this format is recognised by, in words. */
  public String marks() {
    return marks;
  }

  boolean matches(Outline outline) {
    return matches.test(outline);
  }

  Reader reader() {
    return reader.get();
  }

  /** The format of that name. */
  public static java.util.Optional<Format> named(String id) {
    return Arrays.stream(values()).filter(f -> f.id.equals(id)).findFirst();
  }

  /** All names. */
  public static List<String> names() {
    return Arrays.stream(values()).map(Format::id).toList();
  }
}
