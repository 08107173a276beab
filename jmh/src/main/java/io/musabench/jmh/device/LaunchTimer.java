package io.musabench.jmh.device;

import io.musabench.results.stopping.SampleCount;
import io.musabench.results.stopping.StoppingRule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/**
 * Samples the device time and the host time of one launch.
 *
 * <p>Cold: every launch finds its operands in no cache. Where a copy of the operands is large,
 * samples take turns over so many copies that a copy is evicted before its next turn; where it is
 * small, the caches are emptied before each sample and the launches of the sample use a copy each.
 * Hot: every launch uses the same copy. Batch: as hot, but a sample is one long row of launches
 * without an event in between, and the only sample of its session.
 *
 * <p>Step: as a step runs its kernels. A sample is a row of launches, back to back, that take turns
 * over copies of what a step streams (weights, KV cache), of which there are so many that a copy is
 * evicted before its next turn; what kernels hand to each other is the same in all copies and stays
 * where the launch before has left it. Nothing is emptied in between: a matrix product directly
 * after an emptied cache took a third to four fifths longer here, and came back to normal over the
 * next millisecond or two. Why is not known; reads and multiply-adds by themselves do not show it.
 * No step has that state before each kernel. Where so many copies cannot be had, because they are
 * small, they stay cached.
 *
 * <p>What is shorter than 20 us is launched so often in a sample that the span is 100 us: events
 * resolve about half a microsecond.
 */
final class LaunchTimer implements AutoCloseable {
  private static final double SHORT_NANOS = 20e3;
  private static final double SPAN_NANOS = 100e3;
  private static final int MOST_LAUNCHES = 100;

  // Bounds the program of a batch; 20,000 launches of a microsecond are 20 ms.
  private static final int MOST_BATCH_LAUNCHES = 20_000;

  // Enough to push a copy out of any cache before its next turn; a host with a last-level cache of
  // several hundred megabytes tells its size.
  private static final long LEAST_ROTATION_BYTES = 256L << 20;
  private static final int ROTATION_CACHES = 4;
  private static final int MOST_COPIES = 64;

  // As long as a few kernels of a step, so that neither the events nor one launch count for much.
  private static final double ROW_NANOS = 1e6;
  // Rows are evicted by other copies alone, so there may be more of them.
  private static final int MOST_ROW_COPIES = 128;
  // Before the first row of a batch: longer than an emptied cache is felt.
  private static final double SETTLE_NANOS = 5e6;

  private final DeviceContext context;
  private final Mode mode;
  private final IntFunction<Optional<Launch>> source;
  private final long copyBytes;
  private final List<Launch> copies = new ArrayList<>();

  private int launches;
  private boolean evict;
  private double launchNanos;
  private double sampleNanos;
  private Session session;
  private int samples;
  private int samplesRun;

  private enum Mode {
    COLD,
    HOT,
    BATCH,
    STEP
  }

  private LaunchTimer(
      DeviceContext context, Mode mode, IntFunction<Optional<Launch>> source, long copyBytes) {
    this.context = context;
    this.mode = mode;
    this.source = source;
    this.copyBytes = copyBytes;
    copies.add(source.apply(0).orElseThrow());
  }

  /** Everything in the caches that fits into them. */
  static LaunchTimer hot(DeviceContext context, Launch launch) {
    return new LaunchTimer(context, Mode.HOT, copy -> Optional.of(launch), 0);
  }

  /** As hot, launched back to back for a whole session: what the device does at its busiest. */
  static LaunchTimer batch(DeviceContext context, Launch launch) {
    return new LaunchTimer(context, Mode.BATCH, copy -> Optional.of(launch), 0);
  }

  /**
   * Nothing in the caches.
   *
   * @param source makes the launch with its n-th copy of the operands; empty when there is no
   *     memory for one more
   * @param copyBytes bytes of a copy that a launch touches
   */
  static LaunchTimer cold(
      DeviceContext context, IntFunction<Optional<Launch>> source, long copyBytes) {
    return new LaunchTimer(context, Mode.COLD, source, Math.max(1, copyBytes));
  }

  /**
   * As kernels of a step.
   *
   * @param source makes the launch with its n-th copy of the operands; empty when there is no
   *     memory for one more
   * @param copyBytes bytes of what a copy has for itself that a launch touches
   */
  static LaunchTimer step(
      DeviceContext context, IntFunction<Optional<Launch>> source, long copyBytes) {
    return new LaunchTimer(context, Mode.STEP, source, Math.max(1, copyBytes));
  }

  /**
   * Works out how to sample and makes the copies that takes. The first {@link #run} does it too.
   */
  void prepare(SessionLimits limits) {
    if (session == null) {
      sampleNanos = plan(limits);
      build(limits);
      session.prepare();
      samplesRun = samples;
    }
  }

  /**
   * One sampling session.
   *
   * @param afterSpans called when the device time has been taken and nothing runs, before the
   *     host's
   */
  Sampled run(SessionLimits limits, Runnable afterSpans) {
    prepare(limits);
    StoppingRule rule =
        mode == Mode.BATCH ? new StoppingRule(new SampleCount(1), 1, 0, 0) : limits.rule();
    SampleLoop.Taken taken =
        new SampleLoop(context, session::run, samples).run(rule, sampleNanos, batchNanos());
    samplesRun = taken.batch();
    afterSpans.run();
    double[] nanos = Arrays.stream(taken.nanos()).map(span -> span / launches).toArray();
    HostTimer host = new HostTimer(context);
    Launch launch = copies.get(0);
    boolean warm = mode == Mode.HOT || mode == Mode.BATCH;
    Launch before = warm ? launch : context.eviction();
    double[] complete = host.idle(before, launch, sampleNanos, limits).complete();
    double[] submit = host.busy(launch, launchNanos, limits);
    List<Metric> metrics = new ArrayList<>(taken.metrics());
    metrics.add(new Metric(Measured.HOST_TIME, "ns/op", complete));
    metrics.add(new Metric(Measured.HOST_SUBMIT, "ns/op", submit));
    return new Sampled(nanos, launches, metrics, taken.facts());
  }

  /** How many of the copies the last session launched; before the first, how many it may. */
  int copiesUsed() {
    return Math.min(copies.size(), samplesRun * launches);
  }

  /** The copies that a session has launched, the one that it launched last first. */
  List<Integer> lastLaunched() {
    int used = copiesUsed();
    int lastBatch = session.samplesRun() * launches;
    // An eviction begins with the first copy again; otherwise copies follow each other all the way.
    int last = evict ? launches - 1 : lastBatch - 1;
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < used; i++) {
      order.add(Math.floorMod(last - i, used));
    }
    return order;
  }

  /** Returns the device time of a sample with what goes before it. */
  private double plan(SessionLimits limits) {
    launchNanos = estimate();
    if (mode == Mode.BATCH) {
      double fill = limits.seconds() * 1e9 / Math.max(launchNanos, 1);
      launches = (int) Math.max(1, Math.min(MOST_BATCH_LAUNCHES, fill));
      return launchNanos * launches;
    }
    double span = mode == Mode.STEP ? ROW_NANOS : launchNanos >= SHORT_NANOS ? 0 : SPAN_NANOS;
    launches =
        (int) Math.max(1, Math.min(MOST_LAUNCHES, Math.ceil(span / Math.max(launchNanos, 1))));
    if (mode == Mode.HOT) {
      return launchNanos * launches;
    }
    long rotation = Math.max(LEAST_ROTATION_BYTES, ROTATION_CACHES * context.cacheBytes());
    long turns = copyBytes >= rotation ? 1 : 1 + (rotation + copyBytes - 1) / copyBytes;
    evict = mode == Mode.COLD && (launches > 1 || turns > MOST_COPIES);
    int wanted = evict ? launches : (int) Math.min(turns, MOST_ROW_COPIES);
    while (copies.size() < wanted) {
      Optional<Launch> next = source.apply(copies.size());
      if (next.isEmpty()) {
        if (mode == Mode.COLD) {
          // Better shorter spans than a copy that an earlier launch of the span has warmed.
          launches = Math.min(launches, copies.size());
          evict = true;
        }
        break;
      }
      copies.add(next.get());
    }
    double sample = launchNanos * launches;
    return evict ? sample + context.evictionNanos() : sample;
  }

  // Device time of what a batch begins with.
  private double batchNanos() {
    return context.evictionNanos() + launchNanos + (mode == Mode.STEP ? SETTLE_NANOS : 0);
  }

  // Device time on warm caches, over enough launches to be worth an event pair.
  private double estimate() {
    int count = 1;
    double nanos = span(copies.get(0), count);
    while (nanos < SPAN_NANOS && count < MOST_LAUNCHES) {
      count = Math.min(MOST_LAUNCHES, count * 4);
      nanos = span(copies.get(0), count);
    }
    return nanos / count;
  }

  private double span(Launch launch, int count) {
    try (Session trial = new Session(context)) {
      return trial
          .hold()
          .untimed(launch)
          .span(Collections.nCopies(count, launch))
          .release()
          .run()[0];
    }
  }

  private void build(SessionLimits limits) {
    session = new Session(context);
    // The first keeps the device busy while the first spans are queued, the second warms it up. It
    // is the last copy, because the first sample must not find its own in a cache.
    session.untimed(context.eviction()).untimed(copies.get(copies.size() - 1));
    if (mode == Mode.BATCH) {
      samples = 1;
      session.untimed(copies.get(0)).longSpan(copies.get(0), launches).endSample();
      return;
    }
    if (mode == Mode.STEP) {
      settle();
    }
    samples = limits.samples(sampleNanos);
    int held = 0;
    for (int sample = 0; sample < samples; sample++) {
      if (held == 0) {
        if (evict) {
          session.untimed(context.eviction());
        }
        session.hold();
        // While it was held, the device had nothing to do.
        if (mode == Mode.HOT) {
          session.untimed(copies.get(0));
        } else if (mode == Mode.STEP) {
          session.untimed(copies.get(Math.floorMod(sample * launches - 1, copies.size())));
        }
      }
      List<Launch> span = new ArrayList<>();
      for (int i = 0; i < launches; i++) {
        span.add(copies.get((evict ? i : sample * launches + i) % copies.size()));
      }
      session.span(span);
      held += launches;
      if (evict || held + launches > Session.MOST_HELD || sample == samples - 1) {
        session.release();
        held = 0;
      }
      session.endSample();
    }
  }

  // The copies that come before the first, in turn.
  private void settle() {
    int count = (int) Math.min(MOST_BATCH_LAUNCHES, SETTLE_NANOS / Math.max(launchNanos, 1));
    for (int i = count; i > 0; i--) {
      session.untimed(copies.get(Math.floorMod(-i, copies.size())));
    }
  }

  @Override
  public void close() {
    if (session != null) {
      session.close();
    }
  }

  /**
   * What a session found.
   *
   * @param nanos device time of one launch, one value a sample
   * @param launches launches of a sample
   * @param metrics host times, and what was read of the device
   */
  record Sampled(double[] nanos, int launches, List<Metric> metrics, SessionFacts facts) {}
}
