package io.musabench.results.serving;

/**
 * The stretch of time that rates are divided by, and the requests that belong to it.
 *
 * <p>The span runs from the first start to the last end. The steady window runs from the first end
 * to the last start: before it the load builds up, after it it drains. Its latencies are those of
 * the requests that start in it; its rates count what ends in it.
 */
final class Window {
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

  private Window(
      RequestTable table, boolean steady, long fromNs, long toNs, double seconds, String how) {
    this.table = table;
    this.steady = steady;
    this.fromNs = fromNs;
    this.toNs = toNs;
    this.seconds = seconds;
    this.how = how;
  }

  static Window of(Run run, Definitions d) {
    RequestTable t = run.requests;
    boolean failedToo = d.compat() == Compat.EVALSCOPE;
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
    if (d.duration() == Definitions.Duration.STEADY && span && lastStart > firstEnd) {
      w = new Window(t, true, firstEnd, lastStart, (lastStart - firstEnd) / 1e9, "steady");
    } else if (tool && (d.duration() == Definitions.Duration.TOOL || !span)) {
      w = new Window(t, false, 0, 0, run.durationS, "tool");
    } else if (span) {
      w = new Window(t, false, 0, 0, (lastEnd - firstStart) / 1e9, "span");
    } else {
      w = new Window(t, false, 0, 0, Double.NaN, "unknown");
    }
    w.count(d);
    return w;
  }

  /** GenAI-Perf drops what comes after the last token before it looks at the clock. */
  private static double lastSign(RequestTable t, int i, Definitions d) {
    return d.compat() == Compat.GENAI_PERF ? t.lastToken(i) : t.lastSign(i);
  }

  private void count(Definitions d) {
    boolean every = d.compat() == Compat.GENAI_PERF;
    for (int i = 0; i < table.size(); i++) {
      int tokens = Math.max(0, table.output(i));
      tokensOfAll += tokens;
      if (!table.ok(i)) {
        ended += every ? 1 : 0;
        continue;
      }
      if (steady) {
        long end = table.startNs(i) + Math.round(table.lastSign(i) * 1e6);
        if (table.startNs(i) == Request.NO_START || end <= fromNs || end > toNs) {
          continue;
        }
      }
      ended++;
      endedTokens += tokens;
    }
  }

  /** Whether request {@code i} belongs to the latencies and to the goodput. */
  boolean judges(int i) {
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
    return endedTokens / seconds;
  }

  /** Tokens of cut-off and cancelled requests included. */
  double allOutputTokensPerS() {
    return tokensOfAll / seconds;
  }

  double goodRate(long good, double share) {
    if (good == 0) {
      return 0;
    }
    return steady ? share * requestsPerS() : good / seconds;
  }
}
