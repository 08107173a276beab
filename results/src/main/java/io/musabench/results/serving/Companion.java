package io.musabench.results.serving;

import java.util.Arrays;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Files that the tools leave beside their results and that hold none: recognised, so that a message
 * can say what to read instead.
 */
enum Companion {
  SERVER_METRICS(
      "the server's own metrics as inference-perf scraped them, not what the clients saw; read"
          + " *_lifecycle_metrics.json",
      o ->
          !o.has("successes.latency")
              && o.hasAny("successes.queue_len", "successes.rate", "successes.request_latency")),
  SESSIONS(
      "inference-perf's statistics of sessions, not of requests; read summary_lifecycle_metrics.json",
      o -> o.has("num_sessions") || o.has("[].session_id") && o.has("[].num_events")),
  AIPERF_AGGREGATE(
      "AIPerf's statistics over several runs: percentiles of runs are no percentiles of requests;"
          + " read the profile_export.jsonl or profile_export_aiperf.json of each run",
      o ->
          o.hasAny(
              "metadata.aggregation_type", "metadata.num_profile_runs", "per_combination_metrics")),
  AIPERF_SLICES(
      "AIPerf's statistics by slice of time; read profile_export.jsonl or profile_export_aiperf.json",
      o -> o.hasAny("timeslices", "timeslices.[].metrics")),
  AIPERF_RAW(
      "AIPerf's raw requests and responses; read profile_export.jsonl beside it",
      o -> o.has("metadata") && o.hasAny("responses", "payload", "start_perf_ns")),
  INPUTS(
      "the prompts that were sent; read profile_export.json or profile_export.jsonl",
      o -> o.hasAny("data.[].payload", "data.[].payloads", "data.[].session_id")),
  EVALSCOPE_TIMELINE(
      "evalscope's token counts over time; read benchmark_summary.json",
      o -> o.has("wall_start") && o.has("points") || o.has("n_traces")),
  DATABASE(
      "a SQLite database; evalscope's holds pickled objects, which are not decoded: read"
          + " benchmark_summary.json",
      o -> !o.json() && o.firstLine().startsWith("SQLite format 3")),
  PYTORCH(
      "the PyTorch dashboard's copy of a vLLM result; read the .json of the same name",
      o -> o.has("[].benchmark") && o.has("[].metric")),
  SIMULATOR(
      "the description of a LLMServingSim run; read requests.jsonl",
      o -> o.has("engine_kwargs") && o.has("dataset_path"));

  private final String what;
  private final Predicate<Outline> matches;

  Companion(String what, Predicate<Outline> matches) {
    this.what = what;
    this.matches = matches;
  }

  boolean matches(Outline outline) {
    return matches.test(outline);
  }

  /** What the file is and what to read instead. */
  String what() {
    return what;
  }

  static Optional<Companion> of(Outline outline) {
    return Arrays.stream(values()).filter(c -> c.matches(outline)).findFirst();
  }
}
