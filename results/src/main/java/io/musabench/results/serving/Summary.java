package io.musabench.results.serving;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Everything that is reported about one run. */
public final class Summary {
  final Run run;
  final Definitions definitions;

  long total = -1;
  long ok = -1;
  long errors = -1;
  long cancelled = -1;
  long cut = -1;

  double durationS = Double.NaN;
  String durationHow = "unknown";
  double requestsPerS = Double.NaN;
  double outputTokensPerS = Double.NaN;
  double allOutputTokensPerS = Double.NaN;
  double meanInput = Double.NaN;
  double stdInput = Double.NaN;
  double meanOutput = Double.NaN;
  double askedOutput = Double.NaN;
  double peakConcurrency = Double.NaN;
  double meanConcurrency = Double.NaN;
  boolean notStreaming;
  long singleToken;
  final Map<String, Long> tokenSources = new LinkedHashMap<>();

  final Map<Metric, Stat> metrics = new EnumMap<>(Metric.class);

  /** Statistics beside the five, such as AIPerf's ICL under its own definitions. */
  final Map<String, Stat> others = new LinkedHashMap<>();

  Goodput goodput;
  final List<LengthBucket> byLength = new ArrayList<>();
  final List<Check> checklist = new ArrayList<>();
  final List<Finding> audit = new ArrayList<>();
  final Map<String, String> labels = new LinkedHashMap<>();

  /** The run's notes, and what the definitions add to them. */
  final List<String> notes = new ArrayList<>();

  /** Requests of one range of prompt lengths. */
  record LengthBucket(int from, int to, long count, Stat ttft, Stat tpot, Stat e2e) {}

  Summary(Run run, Definitions definitions) {
    this.run = run;
    this.definitions = definitions;
  }

  /** The run it is about. */
  public Run run() {
    return run;
  }

  /** The statistics of a metric; never null. */
  public Stat stat(Metric metric) {
    return metrics.get(metric);
  }

  /** The goodput; never null. */
  public Goodput goodput() {
    return goodput;
  }

  /** Requests by outcome, -1 if unknown. */
  public long count(Status status) {
    return switch (status) {
      case OK -> ok;
      case ERROR -> errors;
      case CANCELLED -> cancelled;
      case CUT -> cut;
    };
  }

  /** All requests, -1 if unknown. */
  public long total() {
    return total;
  }

  /** What rates are divided by, in seconds; NaN if unknown. */
  public double durationS() {
    return durationS;
  }

  /** Answered requests a second. */
  public double requestsPerS() {
    return requestsPerS;
  }

  /** Output tokens of answered requests a second. */
  public double outputTokensPerS() {
    return outputTokensPerS;
  }

  /** Output tokens a second, those of cut-off and cancelled requests included. */
  public double allOutputTokensPerS() {
    return allOutputTokensPerS;
  }

  /** Mean tokens of a prompt, NaN if unknown. */
  public double meanInputTokens() {
    return meanInput;
  }

  /** Mean tokens of an answer, NaN if unknown. */
  public double meanOutputTokens() {
    return meanOutput;
  }

  /** Requests in flight that the client kept, NaN if the file does not say. */
  public double concurrencyLimit() {
    return run.concurrencyLimit;
  }

  /** The course's checklist, in its order. */
  public List<Check> checklist() {
    return List.copyOf(checklist);
  }

  /** What the audit found. */
  public List<Finding> audit() {
    return List.copyOf(audit);
  }

  /** Whether no item of the checklist is {@code fail} or {@code unknown}. */
  public boolean checklistPasses() {
    return checklist.stream().allMatch(c -> c.verdict() == Check.Verdict.PASS);
  }
}
