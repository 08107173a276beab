package io.musabench.results.serving;

/**
 * The stretch of time that rates are divided by, and the requests that belong to it.
 *
 * <p>The span runs from the first start to the last end. The steady window runs from the first end
 * to the last start: before it the load builds up, after it it drains. Its latencies are those of
 * the requests that start in it; its rates and its goodput are of the requests that end in it,
 * failed ones included, so that all of them count the same requests. A failed request whose end the
 * file does not know ends when it starts.
 */
final class Window {
  /** The end of a request may be the end of the window, and come out a little later. */
  private static final long ROUNDING_NS = 1000;

  private final RequestTable table;
  private final boolean steady;
  private final long fromNs;
  private final long toNs;

  /** Seconds, NaN if unknown. */
  final double seconds;

  /** {@code span}, {@code tool}, {@code steady} or {@code unknown}. */
  final String how;

  private long ended;
  private long endedTokens;
  private long tokensOfAll;

  /** What output tokens are divided by: {@link #seconds} for every tool but one. */
  private double tokenSeconds;

  private Window(
      RequestTable table, boolean steady, long fromNs, long toNs, double seconds, String how) {
    this.table = table;
    this.steady = steady;
    this.fromNs = fromNs;
    this.toNs = toNs;
    this.seconds = seconds;
    this.how = how;
    this.tokenSeconds = seconds;
  }

  static Window of(Run run, Definitions d) {
    RequestTable t = run.requests;
    boolean failedToo = d.compat() != null && d.compat().failedInSpan();
    long firstStart = Long.MAX_VALUE;
    long lastStart = Long.MIN_VALUE;
    long firstEnd = Long.MAX_VALUE;
    long lastEnd = Long.MIN_VALUE;
    for (int i = 0; i < t.size(); i++) {
      long start = t.startNs(i);
      if (!t.ok(i) && !failedToo || start == Request.NO_START) {
        continue;
      }
      double sign = lastSign(t, i, d);
      firstStart = Math.min(firstStart, start);
      lastStart = Math.max(lastStart, start);
      if (!Double.isNaN(sign)) {
        long end = start + Math.round(sign * 1e6);
        firstEnd = Math.min(firstEnd, end);
        lastEnd = Math.max(lastEnd, end);
      }
    }
    boolean span = lastEnd > firstStart && firstStart != Long.MAX_VALUE;
    boolean tool = run.durationS > 0;
    Window w;
    if (d.compat() == Compat.GUIDELLM && run.measuredToNs > run.measuredFromNs) {
      long from = run.measuredFromNs;
      w = new Window(t, false, from, run.measuredToNs, (run.measuredToNs - from) / 1e9, "tool");
    } else if (d.duration() == Definitions.Duration.STEADY && span && lastStart > firstEnd) {
      w = new Window(t, true, firstEnd, lastStart, (lastStart - firstEnd) / 1e9, "steady");
    } else if (tool && (d.duration() == Definitions.Duration.TOOL || !span)) {
      w = new Window(t, false, 0, 0, run.durationS, "tool");
    } else if (span) {
      w = new Window(t, false, 0, 0, (lastEnd - firstStart) / 1e9, "span");
    } else {
      w = new Window(t, false, 0, 0, Double.NaN, "unknown");
    }
    w.count(run, d);
    if (d.compat() == Compat.GUIDELLM) {
      w.guideLlmTokens(run);
    }
    return w;
  }

  /**
   * GuideLLM's token rate is a mean over the time between tokens. In its old layout that begins
   * with the first request, and the last token only closes it; later it runs from the first token
   * to the last, the window notwithstanding.
   */
  private void guideLlmTokens(Run run) {
    if (run.toolTpot == Formula.TPOT_OVER_N) {
      endedTokens = Math.max(0, endedTokens - 1);
      return;
    }
    long first = Long.MAX_VALUE;
    long last = Long.MIN_VALUE;
    long tokens = 0;
    for (int i = 0; i < table.size(); i++) {
      long start = table.startNs(i);
      if (table.ok(i) && start != Request.NO_START && table.lastToken(i) >= table.firstToken(i)) {
        first = Math.min(first, start + Math.round(table.firstToken(i) * 1e6));
        last = Math.max(last, start + Math.round(table.lastToken(i) * 1e6));
        tokens += Math.max(0, table.output(i));
      }
    }
    if (last > first) {
      endedTokens = tokens;
      tokenSeconds = (last - first) / 1e9;
    }
  }

  /** GenAI-Perf drops what comes after the last token before it looks at the clock. */
  private static double lastSign(RequestTable t, int i, Definitions d) {
    return d.compat() == Compat.GENAI_PERF ? t.lastToken(i) : t.lastSign(i);
  }

  private void count(Run run, Definitions d) {
    boolean every = d.compat() == Compat.GENAI_PERF;
    boolean own = Values.own(run, d);
    for (int i = 0; i < table.size(); i++) {
      int tokens = Math.max(0, own ? table.toolOutput(i) : table.output(i));
      tokensOfAll += judges(i) ? tokens : 0;
      if (!table.ok(i)) {
        ended += every ? 1 : 0;
        continue;
      }
      if (toNs > fromNs && !endsInside(i)) {
        continue;
      }
      ended++;
      endedTokens += tokens;
    }
  }

  /** How long request {@code i} of this latency was under way inside the window, in ms. */
  double busyMs(int i, double latencyMs) {
    if (!steady) {
      return latencyMs;
    }
    double from = (table.startNs(i) - fromNs) / 1e6;
    double to = Math.min(from + latencyMs, (toNs - fromNs) / 1e6);
    return table.startNs(i) == Request.NO_START ? Double.NaN : Math.max(0, to - Math.max(0, from));
  }

  private boolean endsInside(int i) {
    long start = table.startNs(i);
    if (start == Request.NO_START) {
      return false;
    }
    double sign = table.lastSign(i);
    long end = start + (Double.isNaN(sign) ? 0 : Math.round(sign * 1e6));
    return end > fromNs && end <= toNs + ROUNDING_NS;
  }

  /** Whether request {@code i} belongs to the goodput. */
  boolean judges(int i) {
    return !steady || endsInside(i);
  }

  /** Whether the latencies of request {@code i} belong to the statistics. */
  boolean measures(int i) {
    long start = table.startNs(i);
    return !steady || start != Request.NO_START && start >= fromNs && start <= toNs;
  }

  boolean steady() {
    return steady;
  }

  double requestsPerS() {
    return ended / seconds;
  }

  double outputTokensPerS() {
    return endedTokens / tokenSeconds;
  }

  /** Tokens of cut-off and cancelled requests included. */
  double allOutputTokensPerS() {
    return tokensOfAll / seconds;
  }

  double goodRate(long good) {
    return good == 0 ? 0 : good / seconds;
  }
}
