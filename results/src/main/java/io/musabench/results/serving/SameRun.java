package io.musabench.results.serving;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Tools leave several files about one run: requests, statistics, the same as CSV. Counted once, not
 * three times.
 */
final class SameRun {
  private SameRun() {}

  /** A file of a directory with what was read from it. */
  record Found(Path file, Format format, List<Run> runs) {}

  static List<Run> merge(List<Found> found, List<String> notes) {
    Map<String, List<Found>> groups = new LinkedHashMap<>();
    for (Found f : found) {
      groups.computeIfAbsent(key(f), k -> new ArrayList<>()).add(f);
    }
    List<Run> runs = new ArrayList<>();
    for (List<Found> group : groups.values()) {
      if (group.stream().flatMap(f -> f.runs().stream()).allMatch(r -> r.argumentsOnly)) {
        group.forEach(f -> notes.add("left out " + f.file().getFileName() + ": no results in it"));
      } else if (group.size() == 1) {
        runs.addAll(group.get(0).runs());
      } else {
        runs.addAll(merge(group));
        notes.add(
            "read as one run: "
                + String.join(
                    ", ", group.stream().map(f -> f.file().getFileName().toString()).toList()));
      }
    }
    return sweep(runs, found, notes);
  }

  /** The directory, the tool, and the file's name without what tells its files apart. */
  private static String key(Found f) {
    Run run = f.runs().get(0);
    String stem = f.file().getFileName().toString().replaceFirst("\\.gz$", "");
    switch (f.format()) {
      case AIPERF, AIPERF_CSV, AIPERF_RECORDS ->
          stem = stem.replaceFirst("(_aiperf)?\\.[a-z]+$", "");
      case GENAI_PERF, GENAI_PERF_CSV, GENAI_PERF_RAW ->
          stem = stem.replaceFirst("(_genai_perf)?\\.[a-z]+$", "");
      case GUIDELLM, GUIDELLM_CSV -> stem = stem.replaceFirst("\\.[a-z]+$", "");
      case LLMPERF, LLMPERF_INDIVIDUAL ->
          stem = stem.replaceFirst("_(summary|individual_responses|individual)\\.json$", "");
      case EVALSCOPE, EVALSCOPE_PERCENTILES, EVALSCOPE_ARGUMENTS, EVALSCOPE_WORKLOAD ->
          stem = "benchmark";
      case INFERENCE_PERF, INFERENCE_PERF_REQUESTS ->
          stem = stem.replaceFirst("(summary|per_request)_lifecycle_metrics\\.json$", "");
      default -> {
        // One file is one run, or several of its own.
      }
    }
    return f.file().getParent() + "|" + run.tool() + "|" + stem;
  }

  private static List<Run> merge(List<Found> group) {
    for (Found f : group) {
      if (f.runs().stream().anyMatch(Run::hasRequests)) {
        if (f.runs().size() == 1) {
          group.stream().filter(o -> o != f).forEach(o -> complete(f.runs().get(0), o.runs()));
        }
        return f.runs();
      }
    }
    Found first =
        group.stream()
            .min(Comparator.comparingInt(f -> rank(f.runs().get(0))))
            .orElse(group.get(0));
    if (first.runs().size() == 1) {
      group.stream().filter(o -> o != first).forEach(o -> complete(first.runs().get(0), o.runs()));
    }
    return first.runs();
  }

  /** The file that tells most is completed by the others. */
  private static int rank(Run run) {
    return run.argumentsOnly ? 2 : run.ok < 0 ? 1 : 0;
  }

  /** Takes over from other files what this one does not say. */
  private static void complete(Run run, List<Run> others) {
    for (Run o : others) {
      for (Reported r : o.reported) {
        Reported mine =
            run.reported.stream().filter(m -> m.formula == r.formula).findFirst().orElse(null);
        if (mine == null) {
          run.reported.add(r);
        } else {
          r.percentiles.forEach(mine.percentiles::putIfAbsent);
          mine.mean = known(mine.mean, r.mean);
          mine.min = known(mine.min, r.min);
          mine.max = known(mine.max, r.max);
          mine.std = known(mine.std, r.std);
        }
      }
      run.toolVersion = run.toolVersion == null ? o.toolVersion : run.toolVersion;
      run.streaming = run.streaming == null ? o.streaming : run.streaming;
      run.slo = run.slo == null ? o.slo : run.slo;
      run.total = run.total < 0 ? o.total : run.total;
      run.ok = run.ok < 0 ? o.ok : run.ok;
      run.errors = run.errors < 0 ? o.errors : run.errors;
      run.cancelled = run.cancelled < 0 ? o.cancelled : run.cancelled;
      run.durationS = known(run.durationS, o.durationS);
      run.requestsPerS = known(run.requestsPerS, o.requestsPerS);
      run.outputTokensPerS = known(run.outputTokensPerS, o.outputTokensPerS);
      run.goodputPerS = known(run.goodputPerS, o.goodputPerS);
      run.goodCount = known(run.goodCount, o.goodCount);
      run.askedInput = known(run.askedInput, o.askedInput);
      run.askedOutput = known(run.askedOutput, o.askedOutput);
      run.meanInput = known(run.meanInput, o.meanInput);
      run.meanOutput = known(run.meanOutput, o.meanOutput);
      run.stdInput = known(run.stdInput, o.stdInput);
      run.promptLengths = run.promptLengths == null ? o.promptLengths : run.promptLengths;
      run.concurrencyLimit = known(run.concurrencyLimit, o.concurrencyLimit);
      run.requestRate = known(run.requestRate, o.requestRate);
      run.scheduleDelayMeanS = known(run.scheduleDelayMeanS, o.scheduleDelayMeanS);
      run.scheduleDelayP99S = known(run.scheduleDelayP99S, o.scheduleDelayP99S);
      if (o.argumentsOnly) {
        run.notes.addAll(o.notes);
      }
      o.labels.forEach(run.labels::putIfAbsent);
    }
  }

  private static double known(double mine, double other) {
    return Double.isNaN(mine) ? other : mine;
  }

  private static boolean vllm(Found f) {
    return f.format() == Format.VLLM || f.format() == Format.VLLM_CSV;
  }

  /** vLLM's sweeps repeat every {@code run=N.json} in {@code summary.json} and in a CSV. */
  private static List<Run> sweep(List<Run> runs, List<Found> found, List<String> notes) {
    List<Run> kept = new ArrayList<>(runs);
    List<Found> left = new ArrayList<>();
    for (Found f : found) {
      boolean summary = f.runs().size() > 1 || f.format() == Format.VLLM_CSV;
      if (!vllm(f) || !summary) {
        continue;
      }
      boolean repeated =
          f.runs().stream()
              .allMatch(
                  r ->
                      found.stream()
                          .filter(o -> o != f && o.format() == Format.VLLM)
                          .filter(o -> sameTree(f.file(), o.file()))
                          .filter(o -> !left.contains(o))
                          .flatMap(o -> o.runs().stream())
                          .anyMatch(o -> same(r, o)));
      if (repeated) {
        left.add(f);
        kept.removeAll(f.runs());
        notes.add("left out " + f.file().getFileName() + ": it repeats the single runs");
      }
    }
    return kept;
  }

  private static boolean sameTree(Path summary, Path run) {
    return run.startsWith(summary.getParent());
  }

  private static boolean same(Run a, Run b) {
    return a.durationS == b.durationS && a.requestsPerS == b.requestsPerS && a.ok == b.ok;
  }
}
