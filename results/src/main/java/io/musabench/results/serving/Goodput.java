package io.musabench.results.serving;

/**
 * The rate of requests that keep their limits.
 *
 * @param slo the limits
 * @param requestsPerS good requests a second, NaN if unknown
 * @param good how many were good, -1 if unknown
 * @param considered how many were judged, -1 if unknown
 * @param notEvaluable answered requests left out for want of a value
 * @param single answered requests of one token
 * @param share good / considered
 * @param low lower bound of the share: Wilson's 95 % interval, or what percentiles allow
 * @param high upper bound of the share
 * @param basis {@code requests}, {@code tool}, {@code percentiles} or {@code none}
 * @param note why something is missing, or null
 */
public record Goodput(
    Slo slo,
    double requestsPerS,
    long good,
    long considered,
    long notEvaluable,
    long single,
    double share,
    double low,
    double high,
    String basis,
    String note) {

  /** (n-1)p of a decimal p is an integer up to this. */
  private static final double ROUNDING = 1e-9;

  static Goodput none(Slo slo, String why) {
    return new Goodput(
        slo, Double.NaN, -1, -1, 0, 0, Double.NaN, Double.NaN, Double.NaN, "none", why);
  }

  private enum Verdict {
    GOOD,
    BAD,
    LEFT_OUT,
    NOT_EVALUABLE
  }

  /** From requests. {@code scope} says which of them belong to the window. */
  static Goodput of(Run run, Values values, Definitions d, Slo slo, Window window) {
    if (!slo.stated()) {
      return none(slo, "no SLO stated: give --ttft, --tpot or --slo");
    }
    if (values.notStreaming() && !Double.isNaN(slo.ttftMs() + slo.tpotMs())) {
      return none(slo, "not streaming: TTFT is not what a user sees");
    }
    if (d.compat() == Compat.GENAI_PERF) {
      return zipped(run, values, slo, window);
    }
    RequestTable t = run.requests;
    long good = 0;
    long bad = 0;
    long notEvaluable = 0;
    long single = 0;
    for (int i = 0; i < t.size(); i++) {
      if (!window.judges(i)) {
        continue;
      }
      single += t.ok(i) && values.single(i) ? 1 : 0;
      switch (t.ok(i) ? judge(values, d, slo, i) : failed(t.status(i), d)) {
        case GOOD -> good++;
        case BAD -> bad++;
        case NOT_EVALUABLE -> notEvaluable++;
        case LEFT_OUT -> {
          // On neither side.
        }
      }
    }
    return counted(slo, good, good + bad, notEvaluable, single, window);
  }

  private static Goodput counted(
      Slo slo, long good, long considered, long notEvaluable, long single, Window window) {
    Intervals.Bounds b = Intervals.wilson(good, considered);
    double share = considered == 0 ? Double.NaN : (double) good / considered;
    String note = considered == 0 ? "no request can be judged" : null;
    double rate = considered == 0 ? Double.NaN : window.goodRate(good);
    return new Goodput(
        slo,
        rate,
        good,
        considered,
        notEvaluable,
        single,
        share,
        b.low(),
        b.high(),
        "requests",
        note);
  }

  private static Verdict failed(Status status, Definitions d) {
    boolean bad =
        d.failed() == Definitions.Failed.ALL_BAD
            || d.failed() == Definitions.Failed.BAD && status == Status.ERROR;
    return bad ? Verdict.BAD : Verdict.LEFT_OUT;
  }

  private static Verdict judge(Values values, Definitions d, Slo slo, int i) {
    boolean excluded = false;
    boolean breached = false;
    boolean missing = false;
    if (!Double.isNaN(slo.tpotMs())) {
      double tpot = values.judgedTpot(i);
      boolean always = d.tpot() == Formula.TPOT_INCL_FIRST && d.compat() != Compat.GUIDELLM;
      if (values.single(i) && !always) {
        excluded = d.singleToken() == Definitions.SingleToken.EXCLUDE;
        breached = d.singleToken() == Definitions.SingleToken.FAIL;
      } else {
        missing = Double.isNaN(tpot);
        breached = !missing && !keeps(tpot, slo.tpotMs(), d);
      }
    }
    double[][] others = {{slo.ttftMs(), values.ttft(i)}, {slo.e2eMs(), values.latency(i)}};
    for (double[] o : others) {
      if (!Double.isNaN(o[0])) {
        missing |= Double.isNaN(o[1]);
        breached |= !Double.isNaN(o[1]) && !keeps(o[1], o[0], d);
      }
    }
    if (excluded) {
      return Verdict.LEFT_OUT;
    }
    // One broken limit is enough to be bad; GuideLLM judges only what it can judge by all of them.
    if (missing && (!breached || d.compat() == Compat.GUIDELLM)) {
      boolean bad = d.compat() != null && d.compat().missingIsBad();
      return bad ? Verdict.BAD : Verdict.NOT_EVALUABLE;
    }
    return breached ? Verdict.BAD : Verdict.GOOD;
  }

  private static boolean keeps(double value, double limit, Definitions d) {
    return d.inclusive() ? value <= limit : value < limit;
  }

  /** GenAI-Perf's pairing of two lists of different length, by position. */
  private static Goodput zipped(Run run, Values values, Slo slo, Window window) {
    RequestTable t = run.requests;
    Column ttfts = Column.ofDoubles(Double.NaN);
    Column tpots = Column.ofDoubles(Double.NaN);
    Column latencies = Column.ofDoubles(Double.NaN);
    for (int i = 0; i < t.size(); i++) {
      if (t.ok(i) && window.judges(i)) {
        ttfts.addDouble(values.ttft(i));
        latencies.addDouble(values.latency(i));
        if (!Double.isNaN(values.tpot(i))) {
          tpots.addDouble(values.tpot(i));
        }
      }
    }
    boolean byTpot = !Double.isNaN(slo.tpotMs());
    int n = byTpot ? Math.min(ttfts.size(), tpots.size()) : ttfts.size();
    long good = 0;
    for (int i = 0; i < n; i++) {
      boolean late = ttfts.getDouble(i) > slo.ttftMs() || latencies.getDouble(i) > slo.e2eMs();
      good += late || byTpot && tpots.getDouble(i) > slo.tpotMs() ? 0 : 1;
    }
    return counted(slo, good, n, 0, ttfts.size() - tpots.size(), window);
  }

  /**
   * What a file of statistics alone allows: with the shares a and b of requests inside each limit,
   * max(0, a + b - 1) ≤ share ≤ min(a, b), where a and b lie between the percentiles around the
   * limit.
   */
  static Goodput bounds(Run run, Definitions d, Slo slo) {
    if (!slo.stated()) {
      return none(slo, "no SLO stated: give --ttft, --tpot or --slo");
    }
    long failures = Math.max(0, run.errors);
    if (run.ok == 0 && failures > 0) {
      double high = Intervals.wilson(0, failures).high();
      return new Goodput(slo, 0, 0, failures, 0, 0, 0, 0, high, "requests", "every request failed");
    }
    if (slo.equals(run.slo) && run.goodCount >= 0 && run.ok > 0) {
      return counted(run, d, slo);
    }
    double low = 1;
    double atMost = 1;
    boolean sizeKnown = true;
    double[][] limits = {
      {slo.ttftMs(), Metric.TTFT.ordinal()},
      {slo.tpotMs(), Metric.TPOT.ordinal()},
      {slo.e2eMs(), Metric.E2E.ordinal()}
    };
    for (double[] limit : limits) {
      if (Double.isNaN(limit[0])) {
        continue;
      }
      Reported r = run.reported(Metric.values()[(int) limit[1]]);
      if (r == null || r.formula == Formula.TPOT_INCL_FIRST) {
        return none(slo, "the file holds no requests, and no statistics of every limited metric");
      }
      long n = r.count > 0 ? r.count : run.ok;
      sizeKnown &= n > 0;
      low = Math.max(0, low + shareAtLeast(r, limit[0], d, n) - 1);
      atMost = Math.min(atMost, shareAtMost(r, limit[0], d, n));
    }
    if (low > atMost + 1e-9) {
      return none(slo, "the file's statistics contradict each other: no share fits all of them");
    }
    double answered =
        d.failed() != Definitions.Failed.EXCLUDE && run.ok > 0
            ? (double) run.ok / (run.ok + failures)
            : 1;
    return new Goodput(
        slo,
        Double.NaN,
        -1,
        run.ok < 0 ? -1 : run.ok + (answered < 1 ? failures : 0),
        0,
        0,
        Double.NaN,
        Math.min(low, atMost) * answered,
        atMost * answered,
        "percentiles",
        "the file holds no requests: the share lies between what its percentiles allow"
            + (sizeKnown
                ? ""
                : "; it does not say how many there were: many are assumed, few could be off by one"
                    + " request"));
  }

  /**
   * The share of {@code n} values that percentiles prove to be inside the limit. A linearly
   * interpolated percentile p lies between the values of ranks ⌊(n-1)p⌋+1 and ⌈(n-1)p⌉+1: inside
   * the limit, it proves so for the lower one and those below it. Other methods take a value of no
   * lower rank, and prove at least as much. Unknown n (not positive): the limit of large n.
   */
  private static double shareAtLeast(Reported r, double limit, Definitions d, long n) {
    if (keeps(r.max, limit, d)) {
      return 1;
    }
    double share = 0;
    for (var e : r.percentiles.entrySet()) {
      if (keeps(e.getValue(), limit, d)) {
        double p = e.getKey() / 100;
        share = Math.max(share, n > 0 ? (Math.floor((n - 1) * p + ROUNDING) + 1) / n : p);
      }
    }
    return share;
  }

  /** The tool's own count, where the limits asked for are those that it counted by. */
  private static Goodput counted(Run run, Definitions d, Slo slo) {
    long judged = run.judgedCount > 0 ? Math.round(run.judgedCount) : run.ok;
    long good = Math.min(judged, Math.round(run.goodCount));
    Intervals.Bounds b = Intervals.wilson(good, judged);
    String note = "counted by the tool" + (d.inclusive() ? "" : ", which includes the limit");
    double share = (double) good / judged;
    return new Goodput(
        slo, run.goodputPerS, good, judged, 0, 0, share, b.low(), b.high(), "tool", note);
  }

  /** The share at most: outside the limit, it proves so for the upper rank and those above it. */
  private static double shareAtMost(Reported r, double limit, Definitions d, long n) {
    if (!Double.isNaN(r.min) && !keeps(r.min, limit, d)) {
      return 0;
    }
    double share = 1;
    for (var e : r.percentiles.entrySet()) {
      if (!keeps(e.getValue(), limit, d)) {
        double p = e.getKey() / 100;
        share = Math.min(share, n > 0 ? Math.ceil((n - 1) * p - ROUNDING) / n : p);
      }
    }
    return share;
  }
}
