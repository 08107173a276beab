package io.musabench.results.serving;

import static io.musabench.results.serving.Finding.Level.NOTE;
import static io.musabench.results.serving.Finding.Level.OK;
import static io.musabench.results.serving.Finding.Level.WARN;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Whether the numbers of a run agree with each other and with what they claim to be. */
final class Audit {
  /** By this factor a prompt must be faster than nine in ten others to look like a cache hit. */
  private static final double CACHE_FACTOR = 5;

  private static final int CACHE_MIN_PROMPT = 1000;

  /** Little's law is off when the means disagree by more than this. */
  private static final double LITTLE = 0.10;

  /** So much longer than the others' must the mean TTFT of the first requests be. */
  private static final double FIRST_WAVE = 2;

  private static final int MAX_SORTED = 4_000_000;

  private final Summary s;
  private final Run run;
  private final List<Finding> findings = new ArrayList<>();

  private Audit(Summary s) {
    this.s = s;
    this.run = s.run;
  }

  static List<Finding> of(Summary s, List<Summary> all) {
    Audit a = new Audit(s);
    a.littlesLaw();
    a.peaks();
    a.statistics();
    a.sampleSize();
    a.tokens();
    a.clientDelay();
    a.failures();
    a.rates();
    a.againstOthers(all);
    if (run(s) != null) {
      a.requests();
      a.cacheHits();
      a.fromSchedule();
      a.counts();
      a.firstWave();
      a.repeatedPrompts();
    }
    return a.findings;
  }

  private static RequestTable run(Summary s) {
    return s.run.requests;
  }

  private void add(Finding.Level level, String id, String effect, String what, Object... values) {
    findings.add(new Finding(id, level, String.format(Locale.ROOT, what, values), effect));
  }

  private void littlesLaw() {
    Stat e2e = s.stat(Metric.E2E);
    Stat ttft = s.stat(Metric.TTFT);
    Stat tpot = s.stat(Metric.TPOT);
    double latency = e2e.mean;
    String how = "latency";
    if (Double.isNaN(latency) && tpot.formula != Formula.TPOT_INCL_FIRST) {
      latency = ttft.mean + (s.meanOutput - 1) * tpot.mean;
      how = "TTFT + (n-1)·TPOT";
    }
    double implied = s.requestsPerS * latency / 1000;
    if (Double.isNaN(implied)) {
      return;
    }
    double limit = run.concurrencyLimit;
    String law =
        String.format(
            Locale.ROOT,
            "Little's law: %.4g req/s · %.4g s (%s) = %.1f requests in flight",
            s.requestsPerS,
            latency / 1000,
            how,
            implied);
    if (Double.isNaN(limit) || !(limit > 0)) {
      add(OK, "littles_law", "nothing to compare with: no concurrency limit known", "%s", law);
    } else if (implied > limit * 1.02) {
      add(
          WARN,
          "littles_law",
          "more than can be in flight: rate or latency is not what it says",
          "%s, above the limit of %.0f",
          law,
          limit);
    } else if (implied < limit * (1 - LITTLE) && Double.isInfinite(rate())) {
      add(
          NOTE,
          "littles_law",
          "the run was short of load for part of its time (ramp-up, drain, idle client): its rate"
              + " is below what the concurrency gives",
          "%s, %.0f %% of the limit of %.0f",
          law,
          100 * implied / limit,
          limit);
    } else {
      add(OK, "littles_law", "rate and latency agree", "%s, limit %.0f", law, limit);
    }
  }

  /** The rate of arrivals; infinite for a closed loop and where nothing is said. */
  private double rate() {
    return run.requestRate > 0 ? run.requestRate : Double.POSITIVE_INFINITY;
  }

  private void peaks() {
    if (run.peakOutputTokensPerS < s.outputTokensPerS) {
      add(
          WARN,
          "peak_below_mean",
          "chunks were counted instead of tokens; do not use the peak",
          "peak of %.1f output tokens/s below the mean of %.1f",
          run.peakOutputTokensPerS,
          s.outputTokensPerS);
    }
    if (run.peakConcurrency > run.concurrencyLimit) {
      add(
          WARN,
          "peak_above_limit",
          "the tool counts requests that follow each other as simultaneous; do not use the peak",
          "peak of %.0f concurrent requests above the limit of %.0f",
          run.peakConcurrency,
          run.concurrencyLimit);
    }
  }

  private void statistics() {
    for (String name : run.allZero) {
      add(
          WARN,
          "all_zero",
          "nothing was measured; taken as missing, not as a fast server",
          "every statistic of %s is exactly 0",
          name);
    }
    for (String name : run.impossible) {
      add(
          WARN,
          "impossible_statistics",
          "no duration is like that: taken as missing",
          "some statistics of %s are below zero, infinite or years long",
          name);
    }
    for (Reported r : run.reported) {
      order(r);
    }
    Stat ttft = s.stat(Metric.TTFT);
    Stat e2e = s.stat(Metric.E2E);
    if (ttft.mean > e2e.mean * (1 + 1e-9)) {
      add(
          WARN,
          "ttft_after_latency",
          "the two have different clocks or populations",
          "mean TTFT %.4g ms above mean latency %.4g ms",
          ttft.mean,
          e2e.mean);
    }
    Stat itl = s.stat(Metric.ITL);
    Stat tpot = s.stat(Metric.TPOT);
    boolean course = itl.formula == Formula.ITL_CHUNK || itl.formula == Formula.ITL_SPREAD;
    if (course && Math.abs(itl.mean - tpot.mean) > 0.02 * tpot.mean) {
      add(
          NOTE,
          "itl_is_not_tpot",
          "legal: ITL pools gaps (long answers weigh more, a chunk of several tokens is one gap),"
              + " TPOT has one value a request",
          "mean ITL %.4g ms, mean TPOT %.4g ms",
          itl.mean,
          tpot.mean);
    }
    if (run.acceptLength > 1 && !itl.missing() && itl.formula == Formula.ITL_CHUNK) {
      add(
          NOTE,
          "speculative_decoding",
          "ITL is per chunk here, not per token",
          "accept length %.2f: a chunk gap of %.4g ms is about %.4g ms a token",
          run.acceptLength,
          itl.mean,
          itl.mean / run.acceptLength);
    }
  }

  private void order(Reported r) {
    double previous = r.min;
    boolean zero = false;
    boolean positive = false;
    for (var e : r.percentiles.entrySet()) {
      if (e.getValue() < previous) {
        add(
            WARN,
            "percentiles_out_of_order",
            "the statistics are not of one population",
            "%s: P%s is %.4g ms, below a lower one of %.4g ms",
            r.called,
            Text.number(e.getKey()),
            e.getValue(),
            previous);
        break;
      }
      previous = e.getValue();
      zero |= e.getValue() == 0;
      positive |= e.getValue() > 0;
    }
    if (zero && positive && r.formula.metric() != Metric.ITL) {
      add(
          WARN,
          "zero_percentile",
          "requests without a value were counted as 0; every statistic of it is wrong",
          "%s: some percentiles are exactly 0",
          r.called);
    }
    // A share 1 - p of non-negative values is at least the p-quantile, so the mean is at least
    // this.
    double atLeast = Double.isNaN(r.min) ? 0 : r.min;
    for (var e : r.percentiles.entrySet()) {
      atLeast = Math.max(atLeast, (1 - e.getKey() / 100) * e.getValue());
    }
    double slack = 1e-3 * Math.abs(r.mean) + 0.01;
    if (r.mean < atLeast - slack || r.mean > r.max + slack) {
      add(
          WARN,
          "mean_outside",
          "mean and percentiles are of different populations",
          "%s: a mean of %.4g ms is impossible with these percentiles",
          r.called,
          r.mean);
    }
  }

  private void sampleSize() {
    long n = Math.max(s.stat(Metric.TTFT).count, s.stat(Metric.E2E).count);
    n = n < 0 ? s.ok : n;
    if (n <= 0) {
      return;
    }
    Intervals.Ranks ranks = Intervals.percentileRanks(n, 99);
    if (ranks.high() > n) {
      add(
          WARN,
          "sample_size",
          "P99 is \"near the maximum\": 368 requests are the fewest that bound it from above at 95 %",
          "%d requests: P99 lies above rank %d and has no upper bound",
          n,
          ranks.low());
    } else {
      add(
          OK,
          "sample_size",
          "P99 has both bounds at 95 %",
          "%d requests: P99 lies between ranks %d and %d",
          n,
          ranks.low(),
          ranks.high());
    }
  }

  private void tokens() {
    double asked = s.askedOutput;
    double mean = s.meanOutput;
    if (Math.abs(mean - asked) > 0.1 * asked) {
      add(
          WARN,
          "output_length_off",
          "latency, throughput and the label of the load belong to the length that came",
          "outputs of %.1f tokens on average, %.0f asked for",
          mean,
          asked);
    }
    if (s.singleToken > 0) {
      add(
          NOTE,
          "single_token",
          "they have no TPOT; in goodput: " + Definitions.lower(s.definitions.singleToken()),
          "%d answers of one token",
          s.singleToken);
    }
    long guessed = s.tokenSources.getOrDefault(TokenSource.CHUNKS.id(), 0L);
    if (guessed > 0) {
      add(
          NOTE,
          "tokens_from_chunks",
          "TPOT and token throughput are off by the tokens per chunk if chunks hold several",
          "%d answers have no token count: one token a chunk assumed",
          guessed);
    }
  }

  private void clientDelay() {
    if (run.scheduleDelayMeanS > 0.1) {
      add(
          WARN,
          "client_delay",
          "waiting in the client is in no latency here (coordinated omission): what a user would"
              + " have felt is longer by this much",
          "requests were sent %.2f s late on average, %.2f s at P99",
          run.scheduleDelayMeanS,
          run.scheduleDelayP99S);
    }
  }

  private void failures() {
    long lost = Math.max(0, s.errors);
    if (lost > 0 && s.total > 0) {
      add(
          WARN,
          "failed_requests",
          "latencies are those of the rest; with failures as infinite, P99 is "
              + (lost >= 0.01 * (lost + Math.max(0, s.ok)) ? "infinite" : "higher"),
          "%d of %d requests failed (%.1f %%)",
          lost,
          s.total,
          100.0 * lost / s.total);
    }
    if (run.unreadable > 0) {
      add(
          WARN,
          "unreadable_lines",
          "they are in no number",
          "%d lines could not be read",
          run.unreadable);
    }
    if (!Double.isNaN(run.goodputPerS) && run.slo == null) {
      add(
          NOTE,
          "goodput_without_slo",
          "it cannot be interpreted",
          "the file says goodput %.4g req/s but not under which limits",
          run.goodputPerS);
    }
  }

  private void rates() {
    boolean own = run.requests != null && s.durationHow.equals("span");
    if (own && Math.abs(run.requestsPerS - s.requestsPerS) > 0.01 * s.requestsPerS) {
      add(
          NOTE,
          "rate_differs",
          "the tool divides by its own duration or counts other requests",
          "the tool says %.4g req/s, first start to last end gives %.4g",
          run.requestsPerS,
          s.requestsPerS);
    }
    double counted = run.ok / run.durationS;
    if (run.ok > 0 && Math.abs(run.requestsPerS - counted) > 0.01 * counted + 0.005) {
      add(
          WARN,
          "rate_inconsistent",
          "two fields of one file contradict each other",
          "%d answers in %.4g s are %.4g req/s, the file says %.4g",
          run.ok,
          run.durationS,
          counted,
          run.requestsPerS);
    }
  }

  private void againstOthers(List<Summary> all) {
    int me = all.indexOf(s);
    SamePrompts.of(s, all).ifPresent(findings::add);
    for (int i = 0; i < me; i++) {
      Summary o = all.get(i);
      boolean sameSetup =
          o.run.tool.equals(run.tool)
              && o.labels.equals(s.labels)
              && o.total == s.total
              && o.run.inputTokens == run.inputTokens;
      double ratio = o.stat(Metric.TTFT).mean / s.stat(Metric.TTFT).mean;
      if (sameSetup && ratio > 2) {
        add(
            NOTE,
            "cold_start",
            "the earlier run paid for warm-up; do not average the two",
            "mean TTFT was %.1f times as long in %s, the same set-up",
            ratio,
            o.run.source);
      }
    }
  }

  private void requests() {
    RequestTable t = run.requests;
    RequestTable.Anomalies a = t.anomalies();
    count(
        a.zeroTtft,
        "zero_ttft",
        "unmeasured: left out of TTFT and TPOT, not taken as instant",
        "%d answered requests have a TTFT of exactly 0");
    count(
        a.empty,
        "empty_answers",
        "counted as failed; their zeros are in no statistic",
        "%d answers without a single token");
    count(
        a.noTimes,
        "no_times",
        "counted as failed: nothing shows that they were answered",
        "%d records without any time");
    count(
        a.backwards,
        "ttft_after_latency",
        "left out of TPOT and latency",
        "%d requests end before their first token");
    count(
        a.ttftAmongGaps,
        "ttft_among_gaps",
        "taken out again; the tool's own ITL is too long",
        "%d lists of gaps begin with the TTFT");
    count(
        a.gapSumOff,
        "gap_sum",
        "gaps are missing or doubled: ITL and TPOT disagree",
        "%d requests whose gaps do not add up to last token - first token");
    count(
        a.negative,
        "negative_times",
        "events out of order or two clocks: taken as missing, in no statistic, never good",
        "%d times or gaps are below zero");
    count(
        a.infinite,
        "infinite_times",
        "no duration is like that: taken as missing, in no statistic, never good",
        "%d times or gaps are infinite or longer than three years");
    if (a.severalTokens > 0) {
      add(
          NOTE,
          "several_tokens_in_a_chunk",
          "itl.chunk shows fewer and longer gaps than itl.spread; TPOT is not touched",
          "%d chunks carried several tokens",
          a.severalTokens);
    }
    long ok = t.count(Status.OK);
    if (a.firstTwoTogether > 0.05 * ok) {
      add(
          NOTE,
          "coalesced_chunks",
          "they came in one packet: time to second token and the lowest gaps are the network's",
          "first two chunks arrived together in %d of %d requests (%d gaps below 0.05 ms)",
          a.firstTwoTogether,
          ok,
          a.gapsTogether);
    }
    gapCounts(t, ok);
    if (s.notStreaming) {
      add(
          WARN,
          "not_streaming",
          "TTFT and TPOT are withheld: they would be the whole latency and nothing",
          "TTFT equals the latency in all %d answered requests",
          ok);
    }
  }

  private void count(long n, String id, String effect, String what) {
    if (n > 0) {
      add(WARN, id, effect, what, n);
    }
  }

  private void gapCounts(RequestTable t, long ok) {
    long differ = 0;
    long known = 0;
    long likeAsked = 0;
    long asked = 0;
    for (int i = 0; i < t.size(); i++) {
      if (!t.ok(i)) {
        continue;
      }
      int n = t.output(i);
      if (t.chunks(i) != Request.MISSING && n != Request.MISSING) {
        known++;
        differ += t.chunks(i) != n ? 1 : 0;
      }
      if (t.asked(i) != Request.MISSING || run.askedOutput > 0) {
        asked++;
        double want = t.asked(i) != Request.MISSING ? t.asked(i) : run.askedOutput;
        likeAsked += n == want ? 1 : 0;
      }
    }
    if (differ > 0) {
      add(
          NOTE,
          "gap_count",
          "chunks are not tokens: ITL per chunk and TPOT differ",
          "%d of %d requests have other than n - 1 gaps for n tokens",
          differ,
          known);
    }
    // Only where it is known what was asked for: equal lengths alone may be the server's limit.
    if (ok > 1 && asked == ok && likeAsked == ok && differ > 0.5 * ok) {
      add(
          WARN,
          "outputs_equal_asked",
          "the requested length may have been taken for the real one: TPOT would be too short",
          "all %d answers have exactly the tokens that were asked for, but %d not that many chunks",
          ok,
          differ);
    }
  }

  private void cacheHits() {
    RequestTable t = run.requests;
    Sample rates = new Sample();
    for (int i = 0; i < t.size(); i++) {
      rates.add(prefillRate(t, i));
    }
    if (rates.count() < 5) {
      return;
    }
    double usual = PercentileMethod.LINEAR.of(rates, 90);
    long hits = 0;
    int longest = 0;
    double ttft = 0;
    for (int i = 0; i < t.size(); i++) {
      boolean fast = prefillRate(t, i) > CACHE_FACTOR * usual;
      if (fast && t.input(i) >= CACHE_MIN_PROMPT) {
        hits++;
        if (t.input(i) > longest) {
          longest = t.input(i);
          ttft = t.firstToken(i);
        }
      }
    }
    if (hits > 0) {
      add(
          NOTE,
          "prefix_cache_outliers",
          "a prompt that was cached already: it pulls TTFT down",
          "%d requests, such as %d prompt tokens with a TTFT of %.1f ms, are %.0f times as fast as"
              + " nine in ten others",
          hits,
          longest,
          ttft,
          CACHE_FACTOR);
    }
  }

  /** Prompt tokens a millisecond until the first token. */
  private static double prefillRate(RequestTable t, int i) {
    return t.ok(i) && t.input(i) > 0 ? t.input(i) / t.firstToken(i) : Double.NaN;
  }

  private void fromSchedule() {
    RequestTable t = run.requests;
    Sample delays = new Sample();
    Sample fromSchedule = new Sample();
    Sample service = new Sample();
    for (int i = 0; i < t.size(); i++) {
      double delay = t.scheduleDelay(i);
      if (t.ok(i) && !Double.isNaN(delay)) {
        double latency = t.lastSign(i);
        delays.add(delay);
        service.add(latency);
        fromSchedule.add(latency + delay);
      }
    }
    if (delays.count() > 0 && delays.mean() > Math.max(10, 0.01 * service.mean())) {
      add(
          WARN,
          "client_delay",
          "waiting in the client is in no latency (coordinated omission)",
          "sent %.4g ms late on average: latency from the schedule is %.4g ms mean, %.4g ms P99,"
              + " not %.4g ms mean",
          delays.mean(),
          fromSchedule.mean(),
          PercentileMethod.LINEAR.of(fromSchedule, 99),
          service.mean());
    }
  }

  /** The server's count of output tokens against the tool's own. */
  private void counts() {
    RequestTable t = run.requests;
    long differ = 0;
    long most = 0;
    for (int i = 0; i < t.size(); i++) {
      int off = t.ok(i) ? Math.abs(t.toolOutput(i) - t.output(i)) : 0;
      differ += off > 0 ? 1 : 0;
      most = Math.max(most, off);
    }
    if (differ > 0) {
      add(
          NOTE,
          "token_counts_differ",
          "the server's count is used here; the tool's own TPOT and token rate are by its count",
          "%d requests have another number of output tokens by the server's count than by the"
              + " tool's, by up to %d",
          differ,
          most);
    }
  }

  /** A closed loop begins with all its requests at once: they wait for each other's prefill. */
  private void firstWave() {
    RequestTable t = run.requests;
    double limit = run.concurrencyLimit > 0 ? run.concurrencyLimit : s.peakConcurrency;
    if (!(limit >= 2) || t.size() < 4 * limit || t.size() > MAX_SORTED) {
      return;
    }
    long[] starts = new long[t.size()];
    for (int i = 0; i < t.size(); i++) {
      starts[i] = t.startNs(i);
    }
    java.util.Arrays.sort(starts);
    long lastOfWave = starts[(int) limit - 1];
    if (starts[0] == Request.NO_START) {
      return;
    }
    Sample wave = new Sample();
    Sample rest = new Sample();
    for (int i = 0; i < t.size(); i++) {
      if (t.ok(i)) {
        (t.startNs(i) <= lastOfWave ? wave : rest).add(t.firstToken(i));
      }
    }
    if (wave.mean() > FIRST_WAVE * rest.mean()) {
      add(
          NOTE,
          "first_wave",
          "the burst at the start is in TTFT's mean and tail; --duration steady leaves it out",
          "the first %d requests had a mean TTFT of %.4g ms, the others %.4g ms",
          wave.count(),
          wave.mean(),
          rest.mean());
    }
  }

  private void repeatedPrompts() {
    RequestTable t = run.requests;
    if (!t.hasPrompts()) {
      return;
    }
    long[] hashes = new long[t.size()];
    int n = 0;
    for (int i = 0; i < t.size(); i++) {
      if (t.promptHash(i) != 0) {
        hashes[n++] = t.promptHash(i);
      }
    }
    java.util.Arrays.sort(hashes, 0, n);
    long repeated = 0;
    for (int i = 1; i < n; i++) {
      repeated += hashes[i] == hashes[i - 1] ? 1 : 0;
    }
    if (repeated > 0.01 * n) {
      add(
          NOTE,
          "repeated_prompts",
          "with a prefix cache these are not what a first user sees",
          "%d of %d prompts had been sent before in this run",
          repeated,
          n);
    }
  }
}
