package io.musabench.jmh.device;

import io.musabench.results.stopping.Stopping;
import io.musabench.results.stopping.StoppingRule;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.DoubleStream;

/**
 * How long a session goes on taking samples: until {@code stopping} is met, but for at least {@code
 * least} samples and {@code seconds}, and at most {@code ceiling} seconds.
 *
 * @param seconds least time of a session, in seconds
 * @param ceiling most time of a session, in seconds; two samples are taken however long they last
 * @param least fewest samples of a session
 * @param most most samples that are queued at a time, which bounds the events it needs
 * @param stopping criterion between floors and ceiling
 */
public record SessionLimits(
    double seconds, double ceiling, int least, int most, Stopping stopping) {
  /** System property with the least time of a session, in seconds. */
  public static final String SECONDS = "musabench.session.seconds";

  /** System property with the most time of a session, in seconds. */
  public static final String CEILING = "musabench.session.ceiling";

  /** System property with the criterion, as {@code --stop} takes it. */
  public static final String STOP = "musabench.session.stop";

  /** The ceiling where none is given, as a multiple of the least time. */
  public static final double CEILING_PER_SECOND = 8;

  /**
   * The criterion where none is given. The median of a fork comes from two or three sessions, so 1
   * % in each is 0.6 % in the fork, below what a comparison calls a change.
   */
  public static final String DEFAULT_STOP = "stdrel:1%";

  private static final int LEAST = 5;
  private static final int MOST = 1000;

  /** The limits that the runner hands to a fork. */
  public static SessionLimits fromProperties() {
    double seconds = Double.parseDouble(System.getProperty(SECONDS, "0.2"));
    String ceiling = System.getProperty(CEILING);
    return new SessionLimits(
        seconds,
        ceiling == null ? CEILING_PER_SECOND * seconds : Double.parseDouble(ceiling),
        LEAST,
        MOST,
        new Stopping(System.getProperty(STOP, DEFAULT_STOP)));
  }

  /** What decides about the end of one session. */
  public StoppingRule rule() {
    return new StoppingRule(stopping.create(), least, seconds, ceiling);
  }

  /**
   * Samples of a session.
   *
   * @param nanos times of one operation
   * @param metrics in which turn each was taken, where there is a partner
   * @param unmet which condition for stopping the ceiling left unmet; empty if none
   */
  record Samples(double[] nanos, List<Metric> metrics, String unmet) {
    SessionFacts facts() {
      return new SessionFacts(unmet, 0, List.of(), List.of(), List.of());
    }
  }

  /**
   * Takes batches of times of the host, which no state of the device makes wrong, until the session
   * has enough.
   *
   * @param nanos about how long a sample takes
   * @param batch takes so many samples; returns times of one operation in nanoseconds
   */
  Samples take(double nanos, IntFunction<double[]> batch) {
    StoppingRule rule = rule();
    Turns turns = Turns.get();
    double sampleSeconds = Math.max(nanos, 1) / 1e9;
    DoubleStream.Builder taken = DoubleStream.builder();
    DoubleStream.Builder turnOfSample = DoubleStream.builder();
    do {
      int turn = turns.next();
      double bound = turns.shared() ? Math.min(most, Turns.SECONDS / sampleSeconds) : most;
      long began = System.nanoTime();
      double[] values = batch.apply(rule.next(sampleSeconds, (int) Math.max(1, bound)));
      double elapsed = Math.max(System.nanoTime() - began, 1) / 1e9;
      rule.add(values, elapsed);
      sampleSeconds = elapsed / values.length; // What was known before may be of a first call.
      DoubleStream.of(values).forEach(taken);
      DoubleStream.generate(() -> turn).limit(values.length).forEach(turnOfSample);
    } while (!rule.done());
    turns.next(); // What follows takes another turn: the partner's turn is next to this one.
    return new Samples(
        taken.build().toArray(), turns.metrics(turnOfSample.build().toArray()), rule.unmet());
  }

  /** Samples to begin with when one of them takes {@code nanos}. */
  public int samples(double nanos) {
    return rule().next(Math.max(nanos, 1) / 1e9, most);
  }
}
