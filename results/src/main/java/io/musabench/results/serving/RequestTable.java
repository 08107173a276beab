package io.musabench.results.serving;

/**
 * All requests of a run, reduced to what any formula needs, in columns: some forty bytes a request
 * instead of the thousands that its record takes in a file.
 *
 * <p>Gaps between tokens are pooled as they arrive and not kept by request. Times are milliseconds
 * since the request's start; {@code NaN} is missing.
 */
final class RequestTable {
  /** "As in the column beside": cheaper than storing the same number twice. */
  private static final double SAME = Double.NEGATIVE_INFINITY;

  private final Column start = Column.ofLongs(Request.NO_START);
  private final Column firstToken = Column.ofDoubles(Double.NaN);
  private final Column firstAny = Column.ofDoubles(SAME);
  private final Column firstContent = Column.ofDoubles(SAME);
  private final Column lastToken = Column.ofDoubles(Double.NaN);
  private final Column end = Column.ofDoubles(SAME);
  private final Column scheduleDelay = Column.ofDoubles(Double.NaN);
  private final Column toolTpot = Column.ofDoubles(Double.NaN);
  private final Column toolItl = Column.ofDoubles(Double.NaN);
  private final Column toolOutput = Column.ofInts(Request.MISSING);
  private final Column input = Column.ofInts(Request.MISSING);
  private final Column output = Column.ofInts(Request.MISSING);
  private final Column asked = Column.ofInts(Request.MISSING);
  private final Column chunks = Column.ofInts(Request.MISSING);
  private final Column firstChunkTokens = Column.ofInts(1);
  private final Column statusAndSource = Column.ofInts(0);
  private final Column prompt = Column.ofLongs(0);

  private final Sample chunkGaps = new Sample();
  private Sample spreadGaps;
  private Sample zeroGaps;
  private final long[] statusCounts = new long[Status.values().length];
  private final Anomalies anomalies = new Anomalies();
  private boolean eventTokensKnown = true;

  /** What was found odd while requests came in; counts of requests unless said otherwise. */
  static final class Anomalies {
    /** Said to be answered, with a TTFT of exactly zero: nobody measured it. */
    long zeroTtft;

    /** Last token before the first, or end of the response before either. */
    long backwards;

    /** The list of gaps began with the TTFT. */
    long ttftAmongGaps;

    /** First two chunks arrived within {@link #TOGETHER_MS} of each other. */
    long firstTwoTogether;

    /** Gaps, not requests, shorter than {@link #TOGETHER_MS}. */
    long gapsTogether;

    /** Said to be answered, but not one token arrived. */
    long empty;

    /** Said to be answered, without any time at all. */
    long noTimes;

    /** Chunks that carried more than one token. */
    long severalTokens;

    /** Gap lists whose sum contradicts the time from the first token to the last. */
    long gapSumOff;

    /** Times and gaps, not requests, below zero. */
    long negative;

    /** Times and gaps, not requests, that are infinite or longer than {@link Request#MAX_MS}. */
    long infinite;
  }

  /** No model makes a token in this time; what comes so close together came in one packet. */
  static final double TOGETHER_MS = 0.05;

  void add(Request r) {
    Reduced v = reduce(r);
    clean(v);
    Status status = r.status;
    boolean nothing = !(v.firstToken > 0) && !(v.output > 0);
    if (status == Status.OK && nothing && (r.everyEvent || v.output == 0)) {
      status = Status.ERROR;
      anomalies.empty++;
    }
    if (status == Status.OK && noTimes(r)) {
      status = Status.ERROR;
      anomalies.noTimes++;
    }
    boolean ok = status == Status.OK;
    if (ok && v.firstToken == 0) {
      anomalies.zeroTtft++;
      v.firstToken = Double.NaN;
      v.firstAny = Double.NaN;
      v.firstContent = Double.NaN;
    }
    if (ok && (v.lastToken < v.firstToken || r.endMs < v.firstToken)) {
      anomalies.backwards++;
      v.lastToken = Double.NaN;
      v.end = Double.NaN;
    }
    statusCounts[status.ordinal()]++;
    start.add(r.startNs);
    firstToken.addDouble(v.firstToken);
    firstAny.addDouble(same(v.firstAny, v.firstToken));
    firstContent.addDouble(same(v.firstContent, v.firstToken));
    lastToken.addDouble(v.lastToken);
    end.addDouble(same(v.end, v.lastToken));
    scheduleDelay.addDouble(r.scheduleDelayMs);
    toolTpot.addDouble(time(r.toolTpotMs));
    toolItl.addDouble(time(r.toolItlMs));
    toolOutput.add(r.toolOutputTokens == r.outputTokens ? Request.MISSING : r.toolOutputTokens);
    input.add(r.inputTokens);
    output.add(v.output);
    asked.add(r.askedTokens);
    chunks.add(v.chunks);
    firstChunkTokens.add(v.firstChunkTokens);
    statusAndSource.add(status.ordinal() | v.source.ordinal() << 8);
    prompt.add(r.promptHash);
    if (ok && r.everyEvent) {
      poolGaps(r, v);
    }
  }

  private static boolean noTimes(Request r) {
    return r.eventMs.length == 0
        && Double.isNaN(r.endMs)
        && Double.isNaN(r.toolTpotMs)
        && Double.isNaN(r.toolItlMs);
  }

  /** What cannot be a duration is missing, and counted. */
  private double time(double ms) {
    if (ms < 0) {
      anomalies.negative++;
      return Double.NaN;
    }
    if (ms > Request.MAX_MS) {
      anomalies.infinite++;
      return Double.NaN;
    }
    return ms;
  }

  private void clean(Reduced v) {
    // The same moment is not counted twice.
    boolean any = v.firstAny != v.firstToken;
    boolean content = v.firstContent != v.firstToken;
    boolean last = v.lastToken != v.firstToken;
    boolean end = v.end != v.lastToken && v.end != v.firstToken;
    double wasLast = v.lastToken;
    double wasFirst = v.firstToken;
    v.firstToken = time(v.firstToken);
    v.firstAny = any ? time(v.firstAny) : v.firstToken;
    v.firstContent = content ? time(v.firstContent) : v.firstToken;
    v.lastToken = last ? time(v.lastToken) : v.firstToken;
    if (end) {
      v.end = time(v.end);
    } else {
      v.end = v.end == wasLast ? v.lastToken : v.end == wasFirst ? v.firstToken : v.end;
    }
  }

  private static double same(double value, double beside) {
    return Double.compare(value, beside) == 0 ? SAME : value;
  }

  /** One request boiled down. */
  private static final class Reduced {
    double firstAny = Double.NaN;
    double firstToken = Double.NaN;
    double firstContent = Double.NaN;
    double lastToken = Double.NaN;
    double end;
    int output;
    int chunks = Request.MISSING;
    int firstChunkTokens = 1;
    TokenSource source;
  }

  private static Reduced reduce(Request r) {
    Reduced v = new Reduced();
    v.end = r.endMs;
    v.output = r.outputTokens;
    v.source = r.tokenSource;
    int chunks = 0;
    long tokens = 0;
    boolean tokensKnown = true;
    if (r.eventMs.length > 0) {
      v.firstAny = r.eventMs[0];
    }
    for (int i = 0; i < r.eventMs.length; i++) {
      EventKind kind = r.eventKinds[i];
      if (kind == EventKind.EMPTY) {
        continue;
      }
      if (chunks == 0) {
        v.firstToken = r.eventMs[i];
        v.firstChunkTokens = Math.max(1, r.eventTokens[i]);
      }
      if (kind == EventKind.CONTENT && Double.isNaN(v.firstContent)) {
        v.firstContent = r.eventMs[i];
      }
      v.lastToken = r.eventMs[i];
      tokensKnown &= r.eventTokens[i] != Request.MISSING;
      tokens += Math.max(0, r.eventTokens[i]);
      chunks++;
    }
    if (r.everyEvent) {
      if (chunks > 0 || r.eventMs.length > 0) {
        v.chunks = chunks;
      }
      if (v.output == Request.MISSING && chunks > 0) {
        v.output = tokensKnown ? (int) Math.min(Integer.MAX_VALUE, tokens) : chunks;
        v.source = tokensKnown ? TokenSource.EVENTS : TokenSource.CHUNKS;
      }
    } else if (chunks == 1) {
      // Only the first token's time is known.
      v.lastToken = Double.NaN;
    }
    if (v.firstChunkTokens >= v.output) {
      v.firstChunkTokens = 1;
    }
    return v;
  }

  private void poolGaps(Request r, Reduced v) {
    int previous = -1;
    double total = 0;
    boolean stated = false;
    int gaps = 0;
    for (int i = 0; i < r.eventMs.length; i++) {
      if (r.eventKinds[i] == EventKind.EMPTY) {
        continue;
      }
      int tokens = r.eventTokens[i];
      if (tokens == Request.MISSING) {
        eventTokensKnown = false;
      } else if (tokens > 1) {
        anomalies.severalTokens++;
      }
      if (previous >= 0) {
        stated |= !Double.isNaN(r.eventGapMs[i]);
        double said = r.eventGapMs[i];
        double gap = time(Double.isNaN(said) ? r.eventMs[i] - r.eventMs[previous] : said);
        total += gap;
        if (!Double.isNaN(gap)) {
          pool(gap, Math.max(1, tokens));
        }
        if (gap < TOGETHER_MS) {
          anomalies.gapsTogether++;
          if (gaps == 0) {
            anomalies.firstTwoTogether++;
          }
        }
        gaps++;
      }
      previous = i;
    }
    if (gaps > 0 && gapSumOff(total, total / gaps, stated, v)) {
      anomalies.gapSumOff++;
    }
  }

  /**
   * Whether gaps do not add up to the time from the first token to the last. Where the file states
   * gaps and no times of tokens, that time is only known from the end of the response: the sum may
   * not be longer, and what is left over at the end, such as an event with the usage, is no gap
   * unless it is as long as one.
   */
  private static boolean gapSumOff(double total, double mean, boolean stated, Reduced v) {
    double last = stated ? v.end : v.lastToken;
    double rest = last - v.firstToken;
    double slack = Math.max(1, 0.01 * Math.abs(rest));
    return stated
        ? total - rest > slack || rest - total > Math.max(slack, 1.5 * mean)
        : Math.abs(total - rest) > slack;
  }

  private void pool(double gap, int tokens) {
    if (tokens > 1 && spreadGaps == null) {
      spreadGaps = chunkGaps.copy();
      zeroGaps = chunkGaps.copy();
    }
    chunkGaps.add(gap);
    if (spreadGaps != null) {
      spreadGaps.add(gap / tokens, tokens);
      zeroGaps.add(gap);
      zeroGaps.add(0, tokens - 1);
    }
  }

  int size() {
    return start.size();
  }

  long count(Status status) {
    return statusCounts[status.ordinal()];
  }

  Anomalies anomalies() {
    return anomalies;
  }

  /** The pooled gaps under an ITL formula, or null if the file cannot tell them. */
  Sample gaps(Formula formula) {
    if (chunkGaps.count() == 0) {
      return null;
    }
    boolean onePerChunk = spreadGaps == null;
    return switch (formula) {
      case ITL_CHUNK -> chunkGaps;
      case ITL_SPREAD -> !eventTokensKnown ? null : onePerChunk ? chunkGaps : spreadGaps;
      case ITL_ZERO -> !eventTokensKnown ? null : onePerChunk ? chunkGaps : zeroGaps;
      default -> null;
    };
  }

  Status status(int i) {
    return Status.values()[statusAndSource.getInt(i) & 0xff];
  }

  boolean ok(int i) {
    return (statusAndSource.getInt(i) & 0xff) == Status.OK.ordinal();
  }

  TokenSource tokenSource(int i) {
    return TokenSource.values()[statusAndSource.getInt(i) >> 8];
  }

  long startNs(int i) {
    return start.getLong(i);
  }

  double firstToken(int i) {
    return firstToken.getDouble(i);
  }

  double firstAny(int i) {
    double v = firstAny.getDouble(i);
    return v == SAME ? firstToken.getDouble(i) : v;
  }

  double firstContent(int i) {
    double v = firstContent.getDouble(i);
    return v == SAME ? firstToken.getDouble(i) : v;
  }

  double lastToken(int i) {
    return lastToken.getDouble(i);
  }

  double end(int i) {
    double v = end.getDouble(i);
    return v == SAME ? lastToken.getDouble(i) : v;
  }

  /** End of the response if known, else the last token. */
  double lastSign(int i) {
    double v = end(i);
    return Double.isNaN(v) ? lastToken(i) : v;
  }

  double scheduleDelay(int i) {
    return scheduleDelay.getDouble(i);
  }

  double toolTpot(int i) {
    return toolTpot.getDouble(i);
  }

  double toolItl(int i) {
    return toolItl.getDouble(i);
  }

  int input(int i) {
    return input.getInt(i);
  }

  int output(int i) {
    return output.getInt(i);
  }

  /** Output tokens as the tool itself counts them. */
  int toolOutput(int i) {
    int n = toolOutput.getInt(i);
    return n == Request.MISSING ? output(i) : n;
  }

  int asked(int i) {
    return asked.getInt(i);
  }

  int chunks(int i) {
    return chunks.getInt(i);
  }

  int firstChunkTokens(int i) {
    return firstChunkTokens.getInt(i);
  }

  boolean hasPrompts() {
    return prompt.any();
  }

  long promptHash(int i) {
    return prompt.getLong(i);
  }
}
