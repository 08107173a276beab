package io.musabench.results.serving;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** From runs to summaries. */
public final class Analysis {
  /** Prompt lengths that vary by more than this, relative to their mean, are mixed. */
  static final double MIXED = 0.10;

  /**
   * More requests than this are not sorted: that would take memory again as much as their table.
   */
  private static final int MAX_SWEEP = 4_000_000;

  private final Definitions definitions;
  private final Slo slo;
  private final Map<String, String> labels;

  /**
   * Chooses how to look at runs.
   *
   * @param slo limits for goodput; if it has none, those that the file states are taken
   * @param labels versions and the like that files do not say; they go before what files say
   */
  public Analysis(Definitions definitions, Slo slo, Map<String, String> labels) {
    this.definitions = definitions;
    this.slo = slo;
    this.labels = new TreeMap<>(labels);
  }

  /** One summary a run; the checklist looks at all of them together. */
  public List<Summary> of(List<Run> runs) {
    List<Summary> summaries = new ArrayList<>();
    for (Run run : runs) {
      summaries.add(of(run));
    }
    for (Summary s : summaries) {
      s.checklist.addAll(Checklist.of(s, summaries));
      s.audit.addAll(Audit.of(s, summaries));
    }
    return summaries;
  }

  private Summary of(Run run) {
    Summary s = new Summary(run, definitions);
    s.notes.addAll(run.notes);
    s.labels.putAll(run.labels);
    s.labels.putAll(labels);
    if (run.durationS <= 0 || Double.isInfinite(run.durationS)) {
      s.notes.add("a duration of " + run.durationS + " s is none: taken as missing");
      run.durationS = Double.NaN;
    }
    Slo limits = slo.stated() || run.slo == null ? slo : run.slo;
    if (run.requests != null) {
      fromRequests(s, limits);
    } else {
      fromStatistics(s, limits);
    }
    return s;
  }

  private void fromRequests(Summary s, Slo limits) {
    Run run = s.run;
    RequestTable t = run.requests;
    s.total = t.size();
    s.ok = t.count(Status.OK);
    s.errors = t.count(Status.ERROR);
    s.cancelled = t.count(Status.CANCELLED);
    s.cut = t.count(Status.CUT);
    Values values = new Values(run, definitions);
    s.notStreaming = values.notStreaming();
    Window window = Window.of(run, definitions);
    s.durationS = window.seconds;
    s.durationHow = window.how;
    s.requestsPerS = window.requestsPerS();
    s.outputTokensPerS = window.outputTokensPerS();
    s.allOutputTokensPerS = window.allOutputTokensPerS();
    metrics(s, values, window);
    tokens(s);
    concurrency(s, values, window);
    s.goodput = Goodput.of(run, values, definitions, limits, window);
    if (s.meanInput > 0 && s.stdInput / s.meanInput > MIXED) {
      byLength(s, values, window);
    }
  }

  private void metrics(Summary s, Values values, Window window) {
    RequestTable t = s.run.requests;
    Sample ttft = new Sample();
    Sample ttfo = new Sample();
    Sample tpot = new Sample();
    Sample itl = new Sample();
    Sample e2e = new Sample();
    boolean reasoning = false;
    boolean pooledItl = !perRequest(definitions.itl());
    boolean weighted = definitions.compat() != null && definitions.compat().weightedByTokens();
    for (int i = 0; i < t.size(); i++) {
      if (!t.ok(i) || !window.measures(i)) {
        continue;
      }
      ttft.add(values.ttft(i));
      ttfo.add(values.notStreaming() ? Double.NaN : t.firstContent(i));
      reasoning |= t.firstContent(i) > t.firstToken(i);
      e2e.add(values.latency(i));
      int n = Math.max(1, values.output(i));
      tpot.add(values.tpot(i), weighted ? n : 1);
      if (!pooledItl) {
        itl.add(values.itl(i), weighted ? n - 1 : 1);
      }
      s.singleToken += values.single(i) ? 1 : 0;
    }
    long failures = s.errors;
    if (window.steady()) {
      failures = 0;
      for (int i = 0; i < t.size(); i++) {
        failures += t.status(i) == Status.ERROR && window.measures(i) ? 1 : 0;
      }
    }
    Formula clock = s.run.ttftClock == null ? definitions.ttft() : s.run.ttftClock;
    if (clock != definitions.ttft() && definitions.ttft() != Definitions.COURSE.ttft()) {
      notThere(s, definitions.ttft(), clock);
    }
    if (definitions.e2e() == Formula.E2E_LAST_BYTE && e2e.count() > 0) {
      notThere(s, definitions.e2e(), values.latencyFormula());
    }
    put(s, Metric.TTFT, clock, ttft, failures);
    if (reasoning) {
      put(s, Metric.TTFO, Formula.TTFO_FIRST_CONTENT, ttfo, failures);
    }
    boolean own = definitions.compat() == Compat.GUIDELLM && s.run.toolTpot != null;
    put(s, Metric.TPOT, own ? s.run.toolTpot : definitions.tpot(), tpot, failures);
    if (weighted) {
      s.stat(Metric.TPOT).notIndependent();
    }
    put(s, Metric.E2E, values.latencyFormula(), e2e, failures);
    if (pooledItl) {
      s.metrics.put(Metric.ITL, pooled(s, window));
    } else {
      put(s, Metric.ITL, definitions.itl(), itl, 0);
      if (weighted) {
        s.stat(Metric.ITL).notIndependent();
      }
    }
    Sample chunks = t.gaps(Formula.ITL_CHUNK);
    if (definitions.compat() == Compat.AIPERF && chunks != null) {
      Stat icl = Stat.of(Metric.ITL, Formula.ITL_CHUNK, chunks, definitions, 0);
      icl.notIndependent();
      s.others.put("icl", icl);
    }
    if (values.notStreaming()) {
      String why = "not streaming: every answer came in one piece";
      s.metrics.put(Metric.TTFT, Stat.missing(Metric.TTFT, clock, why));
      s.metrics.put(Metric.TPOT, Stat.missing(Metric.TPOT, definitions.tpot(), why));
    }
  }

  /** Says that the formula asked for cannot be had, and which one stands in its place. */
  private static void notThere(Summary s, Formula wanted, Formula used) {
    if (wanted != used) {
      s.notes.add(
          "the file does not hold what " + wanted.id() + " needs: " + used.id() + " is shown");
    }
  }

  private static boolean perRequest(Formula itl) {
    return itl == Formula.ITL_REQUEST_MEAN || itl == Formula.ITL_INCL_FIRST;
  }

  private void put(Summary s, Metric metric, Formula formula, Sample sample, long failures) {
    s.metrics.put(metric, Stat.of(metric, formula, sample, definitions, failures));
  }

  private Stat pooled(Summary s, Window window) {
    Formula wanted = definitions.itl();
    if (window.steady()) {
      return Stat.missing(
          Metric.ITL, wanted, "single gaps are not kept by time: use --duration span");
    }
    Sample gaps = s.run.requests.gaps(wanted);
    if (gaps == null) {
      boolean some = s.run.requests.gaps(Formula.ITL_CHUNK) != null;
      String why =
          some
              ? "the file does not tell how many tokens each chunk had"
              : "the file holds no gaps between tokens";
      return Stat.missing(Metric.ITL, wanted, why);
    }
    Formula really = wanted == Formula.ITL_CHUNK ? s.run.gapFormula : wanted;
    Stat stat = Stat.of(Metric.ITL, really, gaps, definitions, 0);
    stat.notIndependent();
    return stat;
  }

  private static void tokens(Summary s) {
    RequestTable t = s.run.requests;
    Sample in = new Sample();
    Sample out = new Sample();
    Sample asked = new Sample();
    long[] sources = new long[TokenSource.values().length];
    for (int i = 0; i < t.size(); i++) {
      if (t.ok(i)) {
        in.add(t.input(i) == Request.MISSING ? Double.NaN : t.input(i));
        out.add(t.output(i) == Request.MISSING ? Double.NaN : t.output(i));
        asked.add(t.asked(i) == Request.MISSING ? Double.NaN : t.asked(i));
        sources[t.tokenSource(i).ordinal()]++;
      }
    }
    s.meanInput = in.mean();
    s.stdInput = in.std(0);
    s.meanOutput = out.mean();
    boolean all = asked.count() > 0 && asked.count() == s.ok;
    s.askedOutput = Double.isNaN(s.run.askedOutput) && all ? asked.mean() : s.run.askedOutput;
    for (TokenSource source : TokenSource.values()) {
      if (sources[source.ordinal()] > 0) {
        s.tokenSources.put(source.id(), sources[source.ordinal()]);
      }
    }
  }

  /** Requests under way at once: half-open intervals, so that back to back is one, not two. */
  private static void concurrency(Summary s, Values values, Window window) {
    RequestTable t = s.run.requests;
    double busyMs = 0;
    for (int i = 0; i < t.size(); i++) {
      // An answer of unknown latency makes the sum unknown: it is not one of no latency.
      busyMs += t.ok(i) ? window.busyMs(i, values.latency(i)) : 0;
    }
    s.meanConcurrency = busyMs / 1000 / s.durationS;
    if (t.size() > MAX_SWEEP) {
      s.notes.add("too many requests to look for the peak of their concurrency");
      return;
    }
    long[] starts = new long[t.size()];
    long[] ends = new long[t.size()];
    int n = 0;
    for (int i = 0; i < t.size(); i++) {
      double sign = t.lastSign(i);
      if (t.startNs(i) != Request.NO_START && sign >= 0) {
        starts[n] = t.startNs(i);
        ends[n++] = t.startNs(i) + Math.round(sign * 1e6);
      }
    }
    if (n == 0) {
      return;
    }
    Arrays.sort(starts, 0, n);
    Arrays.sort(ends, 0, n);
    int open = 0;
    int peak = 0;
    for (int i = 0, j = 0; i < n; i++) {
      while (j < n && ends[j] <= starts[i]) {
        open--;
        j++;
      }
      open++;
      peak = Math.max(peak, open);
    }
    s.peakConcurrency = peak;
  }

  private void byLength(Summary s, Values values, Window window) {
    RequestTable t = s.run.requests;
    Map<Integer, Sample[]> buckets = new TreeMap<>();
    for (int i = 0; i < t.size(); i++) {
      if (!t.ok(i) || !window.measures(i) || t.input(i) == Request.MISSING) {
        continue;
      }
      int bucket = Integer.highestOneBit(Math.max(1, t.input(i)));
      Sample[] b =
          buckets.computeIfAbsent(
              bucket, k -> new Sample[] {new Sample(), new Sample(), new Sample()});
      b[0].add(values.ttft(i));
      b[1].add(values.tpot(i));
      b[2].add(values.latency(i));
    }
    Formula clock = s.run.ttftClock == null ? definitions.ttft() : s.run.ttftClock;
    buckets.forEach(
        (from, b) ->
            s.byLength.add(
                new Summary.LengthBucket(
                    from,
                    (int) Math.min(Integer.MAX_VALUE, 2L * from - 1),
                    b[2].count(),
                    Stat.of(Metric.TTFT, clock, b[0], definitions, 0),
                    Stat.of(Metric.TPOT, definitions.tpot(), b[1], definitions, 0),
                    Stat.of(Metric.E2E, values.latencyFormula(), b[2], definitions, 0))));
  }

  private void fromStatistics(Summary s, Slo limits) {
    Run run = s.run;
    s.total = run.total;
    s.ok = run.ok;
    s.errors = run.errors;
    s.cancelled = run.cancelled;
    s.cut = run.cut;
    s.durationS = run.durationS;
    s.durationHow = Double.isNaN(run.durationS) ? "unknown" : "tool";
    s.requestsPerS = run.requestsPerS;
    s.outputTokensPerS = run.outputTokensPerS;
    if (Double.isNaN(s.durationS) && run.ok > 0 && run.requestsPerS > 0) {
      s.durationS = run.ok / run.requestsPerS;
      s.durationHow = "count over rate";
    }
    s.meanInput = run.meanInput;
    s.stdInput = run.stdInput;
    s.meanOutput = run.meanOutput;
    s.askedOutput = run.askedOutput;
    s.peakConcurrency = run.peakConcurrency;
    s.meanConcurrency = run.meanConcurrency;
    for (Metric metric : Metric.values()) {
      Reported r = run.reported(metric);
      if (r != null) {
        Stat stat = Stat.of(r);
        if (metric != Metric.ITL && run.errors > 0 && run.ok > 0) {
          stat.failuresAmong(run.ok, run.errors);
        }
        s.metrics.put(metric, stat);
        Formula wanted = definitions.formula(metric);
        if (definitions.compat() == null && wanted != Definitions.COURSE.formula(metric)) {
          notThere(s, wanted, stat.formula);
        }
      } else if (metric != Metric.TTFO) {
        s.metrics.put(metric, Stat.missing(metric, definitions.formula(metric), "not in the file"));
      }
    }
    Compat compat = definitions.compat();
    if (compat != null && !compat.id().equals(run.tool)) {
      s.notes.add(
          "the file holds statistics only: they are by "
              + run.tool
              + "'s definitions, and --compat "
              + compat.id()
              + " cannot be computed from them");
    }
    s.goodput = Goodput.bounds(run, definitions, limits);
  }
}
