package io.musabench.results.serving;

import java.util.Arrays;

/**
 * One request in the form that every tool's records are brought into.
 *
 * <p>Times of events are milliseconds since the request was sent; the sending itself is a 64-bit
 * count of nanoseconds on whatever clock the file uses. Immutable.
 */
public final class Request {
  /** A count that the file does not hold. */
  public static final int MISSING = -1;

  /** A start time that the file does not hold. */
  public static final long NO_START = Long.MIN_VALUE;

  /**
   * No duration is longer, in milliseconds: three years. A time since 1970 in a field for a
   * duration is above it.
   */
  static final double MAX_MS = 1e11;

  final long startNs;
  final double scheduleDelayMs;
  final Status status;
  final double[] eventMs;
  final double[] eventGapMs;
  final int[] eventTokens;
  final EventKind[] eventKinds;
  final boolean everyEvent;
  final double endMs;
  final int inputTokens;
  final int outputTokens;
  final int askedTokens;
  final TokenSource tokenSource;
  final double toolTpotMs;
  final double toolItlMs;
  final int toolOutputTokens;
  final long promptHash;

  private Request(Builder b) {
    startNs = b.startNs;
    scheduleDelayMs = b.scheduleDelayMs;
    status = b.status;
    eventMs = Arrays.copyOf(b.eventMs, b.events);
    eventGapMs = Arrays.copyOf(b.eventGapMs, b.events);
    eventTokens = Arrays.copyOf(b.eventTokens, b.events);
    eventKinds = Arrays.copyOf(b.eventKinds, b.events);
    everyEvent = b.everyEvent;
    endMs = b.endMs;
    inputTokens = b.inputTokens;
    outputTokens = b.outputTokens;
    askedTokens = b.askedTokens;
    tokenSource = b.tokenSource;
    toolTpotMs = b.toolTpotMs;
    toolItlMs = b.toolItlMs;
    toolOutputTokens = b.toolOutputTokens;
    promptHash = b.promptHash;
  }

  /** A builder that knows nothing yet. */
  public static Builder builder() {
    return new Builder();
  }

  /** When it was sent, in nanoseconds on the file's clock, or {@link #NO_START}. */
  public long startNs() {
    return startNs;
  }

  /** How it ended. */
  public Status status() {
    return status;
  }

  /** Number of events known. */
  public int events() {
    return eventMs.length;
  }

  /** When event {@code i} arrived, in milliseconds since the start. */
  public double eventMs(int i) {
    return eventMs[i];
  }

  /** How many tokens event {@code i} carried, or {@link #MISSING}. */
  public int eventTokens(int i) {
    return eventTokens[i];
  }

  /** What event {@code i} carried. */
  public EventKind eventKind(int i) {
    return eventKinds[i];
  }

  /** When the response ended, in milliseconds since the start; {@code NaN} if unknown. */
  public double endMs() {
    return endMs;
  }

  /** Prompt tokens, or {@link #MISSING}. */
  public int inputTokens() {
    return inputTokens;
  }

  /** Output tokens, or {@link #MISSING}. */
  public int outputTokens() {
    return outputTokens;
  }

  /** Where {@link #outputTokens} came from. */
  public TokenSource tokenSource() {
    return tokenSource;
  }

  /** Collects a request; reusable after {@link #clear}. */
  public static final class Builder {
    private long startNs;
    private double scheduleDelayMs;
    private Status status;
    private double[] eventMs = new double[16];
    private double[] eventGapMs = new double[16];
    private int[] eventTokens = new int[16];
    private EventKind[] eventKinds = new EventKind[16];
    private int events;
    private boolean everyEvent;
    private double endMs;
    private int inputTokens;
    private int outputTokens;
    private int askedTokens;
    private TokenSource tokenSource;
    private double toolTpotMs;
    private double toolItlMs;
    private int toolOutputTokens;
    private long promptHash;

    private Builder() {
      clear();
    }

    /** Forgets everything. */
    public Builder clear() {
      startNs = NO_START;
      scheduleDelayMs = Double.NaN;
      status = Status.OK;
      events = 0;
      everyEvent = true;
      endMs = Double.NaN;
      inputTokens = MISSING;
      outputTokens = MISSING;
      askedTokens = MISSING;
      tokenSource = TokenSource.UNKNOWN;
      toolTpotMs = Double.NaN;
      toolItlMs = Double.NaN;
      toolOutputTokens = MISSING;
      promptHash = 0;
      return this;
    }

    /** When it was sent, in nanoseconds on the file's clock. */
    public Builder startNs(long ns) {
      startNs = ns;
      return this;
    }

    /** How much later than planned it was sent, in milliseconds. */
    public Builder scheduleDelayMs(double ms) {
      scheduleDelayMs = ms;
      return this;
    }

    /** How it ended; {@link Status#OK} unless said otherwise. */
    public Builder status(Status s) {
      status = s;
      return this;
    }

    /**
     * The next event, in milliseconds since the start; {@code tokens} may be {@link #MISSING}. An
     * event of no token is {@link EventKind#EMPTY}, whatever its kind is said to be.
     */
    public Builder event(double ms, int tokens, EventKind kind) {
      return event(ms, Double.NaN, tokens, kind);
    }

    /**
     * The next event where the file gives gaps: {@code gapMs} since the event before is kept as it
     * stands there, untouched by the rounding of a difference of times.
     */
    public Builder event(double ms, double gapMs, int tokens, EventKind kind) {
      if (events == eventMs.length) {
        int larger = 2 * events;
        eventMs = Arrays.copyOf(eventMs, larger);
        eventGapMs = Arrays.copyOf(eventGapMs, larger);
        eventTokens = Arrays.copyOf(eventTokens, larger);
        eventKinds = Arrays.copyOf(eventKinds, larger);
      }
      eventMs[events] = ms;
      eventGapMs[events] = gapMs;
      eventTokens[events] = tokens;
      eventKinds[events] = tokens == 0 ? EventKind.EMPTY : kind;
      events++;
      return this;
    }

    /** Says that events between those given are unknown, so that there are no gaps to speak of. */
    public Builder someEventsOnly() {
      everyEvent = false;
      return this;
    }

    /** When the response ended, in milliseconds since the start. */
    public Builder endMs(double ms) {
      endMs = ms;
      return this;
    }

    /** Prompt tokens. */
    public Builder inputTokens(int n) {
      inputTokens = n;
      return this;
    }

    /** Output tokens and how they were counted. */
    public Builder outputTokens(int n, TokenSource source) {
      outputTokens = n;
      tokenSource = n == MISSING ? TokenSource.UNKNOWN : source;
      return this;
    }

    /** Output tokens that the client asked for. */
    public Builder askedTokens(int n) {
      askedTokens = n;
      return this;
    }

    /** The tool's own values for this request, in milliseconds, under the tool's own words. */
    public Builder toolValues(double tpotMs, double itlMs) {
      toolTpotMs = tpotMs;
      toolItlMs = itlMs;
      return this;
    }

    /** The tool's own count of output tokens, where it is another than the one above. */
    public Builder toolOutputTokens(int n) {
      toolOutputTokens = n;
      return this;
    }

    /** Hash of the prompt, 0 if unknown. */
    public Builder promptHash(long hash) {
      promptHash = hash;
      return this;
    }

    int events() {
      return events;
    }

    int outputTokens() {
      return outputTokens;
    }

    /** The request as collected so far. */
    public Request build() {
      return new Request(this);
    }
  }
}
